import type { TriggerDecision } from '../../domain/chain/trigger.ts';
import type { Event } from '../../domain/event/event.ts';
import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { explainText, plainLine } from '../../domain/run/explain.ts';
import type { Decision } from '../../domain/run/plan.ts';
import type { Run } from '../../domain/run/run.ts';
import type { Firing } from '../../ports/firings.ts';
import type { DeliverySummary } from '../../ports/storage.ts';
import { declinedBecause } from '../run/declined.ts';
import { utc } from '../text/pretty.ts';

/** What a chain makes of one event. Without a decision, `because` says why there is none. */
export interface Explained {
  event: Event;
  triggers?: readonly TriggerDecision[];
  decision?: Decision;
  because?: string;
}

interface About {
  chain: string;
  delivery: DeliverySummary;
  /** What the delivery began. */
  runs: readonly Pick<Run, 'id' | 'status'>[];
  decided: readonly Explained[];
  /** Firings of the chain in the repository that did not happen, newest first. */
  skipped: readonly Firing[];
  /** Why the delivery brought no event. */
  ignored: string | undefined;
}

/** `chain explain`: what was recorded, then the decision about each event, then firings that did not happen. */
export function explainedText({ chain, delivery, runs, decided, skipped, ignored }: About): string {
  const { id, guid, event, action, receivedAt } = delivery;
  const what = action === null ? event : `${event} ${action}`;
  const head = `Delivery ${id} (${plainLine(guid)}), ${plainLine(what)}, received ${utc(receivedAt)}`;
  const begun = runs.map(
    (run) => `${chain} fired: the delivery began the run ${run.id}, which is ${run.status}.`,
  );
  const trees =
    ignored === undefined
      ? decided.map((one) => explainText(treeOf(chain, one, runs)))
      : [explainText(criterion('unmet', `${chain} did not fire: ${ignored}`))];
  const past = skipped.map(
    ({ trigger, dueAt, summary }) => `  ${utc(dueAt)}, ${plainLine(trigger)}: ${plainLine(summary ?? '')}`,
  );
  return [
    head,
    '',
    ...(begun.length > 0 ? [...begun, ''] : []),
    ...(decided.length > 0 ? [`As ${chain} and GitHub are now:`] : []),
    ...trees,
    ...(past.length > 0 ? ['', `Firings of ${chain} in this repository that did not happen:`, ...past] : []),
  ].join('\n');
}

function treeOf(
  chain: string,
  { event, triggers = [], decision, because }: Explained,
  runs: About['runs'],
): Explanation {
  const about = `for ${event.kind}${placeOf(event)}`;
  const reasons = triggers.map(({ trigger, matches, checks }) =>
    criterion(
      matches ? 'met' : 'unmet',
      trigger,
      checks
        .filter(({ asks, matches }) => asks !== 'event' || !matches)
        .map((check) => criterion(check.matches ? 'met' : 'unmet', check.because)),
    ),
  );
  if (decision?.begins) return criterion('met', `${chain} fires ${about}`, reasons);
  if (decision?.why === 'has_run' && runs.some(({ id }) => id === decision.runId))
    return criterion('met', `${chain} fired ${about}, and its run is there`, reasons);
  const why = decision ? declinedBecause(decision) : (because ?? '');
  return criterion('unmet', `${chain} does not fire ${about}: ${why}`, reasons);
}

function placeOf(event: Event): string {
  if (!('repository' in event)) return '';
  const { owner, name } = event.repository;
  const number = 'pull_request' in event ? event.pull_request : 'issue' in event ? event.issue : null;
  return ` of ${owner}/${name}${number === null ? '' : `#${number}`}`;
}

/** The same for scripts. */
export function firingExplainedJson({ runs, decided, skipped, ignored }: About): Record<string, unknown> {
  return {
    fired: runs.length > 0,
    runs: runs.map(({ id, status }) => ({ id, status })),
    ignored: ignored ?? null,
    events: decided.map(({ event, triggers = [], decision, because }) => ({
      event: event.kind,
      fires: decision?.begins ?? false,
      reason: decision && !decision.begins ? decision.why : null,
      because: decision ? (decision.begins ? null : declinedBecause(decision)) : (because ?? null),
      triggers: triggers.map(({ trigger, matches, checks }) => ({ trigger, matches, checks })),
    })),
    skipped: skipped.map(({ trigger, dueAt, reason, summary, count }) => ({
      trigger,
      due_at: dueAt.toISOString(),
      reason,
      because: summary,
      count,
    })),
  };
}
