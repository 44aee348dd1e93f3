import type { ClosedGateContent, OpenGateContent } from '../../domain/effect/effect.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { type GateProtection, gateCheckName, type MergedBy } from '../../domain/policy/gate-check.ts';
import { type GateProof, gateOf } from '../../domain/policy/merge-gate.ts';
import { checkNameOf } from '../../domain/run/child.ts';
import { explain, plainLine } from '../../domain/run/explain.ts';
import type { RunState } from '../../domain/run/run.ts';
import { evidenceUrl, type Pages } from '../run/evidence.ts';
import { explanationList } from '../run/explanation-list.ts';
import { MAX_TITLE, nextStep, sentence } from '../run/run-sentence.ts';
import { type RunSummary, runSummary } from '../run/run-summary.ts';
import { clipBytes, code, inline } from '../text/markdown.ts';
import { asSentence, capital, clip, listed } from '../text/pretty.ts';

/** In bytes, below GitHub's limit for a summary. */
const MAX_SUMMARY_BYTES = 60_000;

export interface GateView {
  headSha: string;
  baseRef: string;
  /** Equal for the same head and base, so that the check is found again after a crash. */
  externalId: string;
  /** `undefined` if unknown. */
  protection: GateProtection | undefined;
}

/** A chain that may merge the pull request, and its state for this head and base. */
export interface GateRun {
  state: RunState;
  approval: Approval | null;
}

/**
 * The gate check of a run that has not merged. GitHub treats none of these as passing; the difference is for
 * people. `failing`: a person has to act. `over`: no chain will ask about this head and base again.
 */
export type ClosedAs = 'pending' | 'failing' | 'over';
const CLOSED_AS: Readonly<Record<RunSummary['kind'], ClosedAs>> = {
  queued: 'pending',
  paused: 'pending',
  working: 'pending',
  waiting_ci: 'pending',
  waiting_countersign: 'pending',
  countersigned: 'pending',
  ready_to_merge: 'pending',
  waiting_github: 'pending',
  held_back: 'pending',
  conflict: 'failing',
  waiting_retry: 'pending',
  merged: 'pending',
  done: 'pending',
  changes_requested: 'failing',
  review_incomplete: 'failing',
  ci_failed: 'failing',
  no_checks: 'failing',
  not_passed: 'failing',
  rejected: 'failing',
  not_mergeable: 'failing',
  step_failed: 'failing',
  timed_out: 'failing',
  not_merged: 'failing',
  withheld: 'failing',
  ended_early: 'failing',
  superseded: 'over',
  closed: 'over',
  merged_elsewhere: 'over',
  merged_by_chain: 'over',
  newer_run: 'pending',
  draft: 'pending',
  retargeted: 'over',
  not_triggered: 'pending',
  rollout_changed: 'pending',
  settings_changed: 'pending',
  chain_changed: 'pending',
  parent_ended: 'pending',
  stopped: 'failing',
  installation_gone: 'failing',
  shut_out: 'failing',
};

/**
 * The gate check while merging is not allowed, described by the chains that ask about this head and base. A
 * chain in progress takes precedence over an ended one, because it can still open the gate.
 * @param runs at least one
 */
export function closedGate(
  view: GateView,
  runs: readonly [GateRun, ...GateRun[]],
  pages: Pages,
): ClosedGateContent {
  const summaries = runs.map((run) => ({ ...run, where: runSummary(run.state, run.approval) }));
  const leading = summaries.find(({ where }) => CLOSED_AS[where.kind] === 'pending') ?? summaries[0];
  const { state, approval, where } = leading ?? {
    ...runs[0],
    where: runSummary(runs[0].state, runs[0].approval),
  };
  const { run } = state;
  const next = nextStep(where, state, approval);
  const parts = summaries.map((one) => {
    const tree = explain(one.state, one.approval);
    const list = explanationList(tree, (ref) => evidenceUrl(ref, one.state.run, pages));
    const chain = checkNameOf(one.state.run);
    return `### Why\n\n${inline(asSentence(tree.summary), 400)} The check ${code(chain)} has the details.\n\n${list}`;
  });
  return {
    ...frame(view),
    state: closedState(where, run),
    title: titleOf(where, state, approval),
    summary: summary([...(next === undefined ? [] : [`**Next:** ${next}`]), ...parts], view),
  };
}

/** While a chain works, its status changes too often to repeat it here. The run's own check has it. */
function titleOf(where: RunSummary, state: RunState, approval: Approval | null): string {
  const isAtWork = where.kind === 'queued' || where.kind === 'working';
  return isAtWork
    ? `Not countersigned yet: the chain ${state.run.chain} is running`
    : plainLine(sentence(where, state, approval));
}

function closedState(where: RunSummary, run: RunState['run']): ClosedGateContent['state'] {
  return stateOf(CLOSED_AS[where.kind], run.createdAt, run.finishedAt ?? run.updatedAt);
}

function stateOf(as: ClosedAs, since: Date, ended: Date): ClosedGateContent['state'] {
  if (as === 'pending') return { status: 'in_progress', started_at: since.toISOString() };
  return {
    status: 'completed',
    conclusion: as === 'failing' ? 'failure' : 'cancelled',
    completed_at: ended.toISOString(),
  };
}

/**
 * The gate check while no chain has asked about this head and base. Without a countersign, it stays closed.
 */
export function unaskedGate(view: GateView, because: Explanation, since: Date): ClosedGateContent {
  return {
    ...frame(view),
    state: { status: 'in_progress', started_at: since.toISOString() },
    title: plainLine(clip(capital(because.summary), MAX_TITLE)),
    summary: summary(
      [
        `### Why\n\n${inline(asSentence(capital(because.summary)), 400)}\n\n${explanationList(because, () => null)}`,
        'Nobody can be asked to countersign until a chain that merges applies to this pull request.',
      ],
      view,
    ),
  };
}

const MERGES: Readonly<Record<MergedBy, string>> = {
  app: 'Countersign is merging it now',
  people: 'somebody with write access may press the merge button',
  queue: 'it is in the merge queue',
};

/** The green gate check of a pull request or a merge group. */
export function openGate(view: GateView, proof: GateProof): OpenGateContent {
  const { name, head_sha, external_id } = frame(view);
  const at = { name, head_sha, external_id };
  if ('question' in proof) {
    const by = listed([...proof.countersignedBy], 'and');
    const what = `commit ${code(gateOf(proof).headSha.slice(0, 7))} into ${code(view.baseRef)}`;
    return {
      ...at,
      title: plainLine(clip(`Countersigned by ${by}`, MAX_TITLE)),
      summary: summary(
        [`Countersigned by ${code(by)} for ${what}: ${MERGES[proof.question.by]}.`, WHAT_CLOSES_IT],
        view,
      ),
    };
  }
  const members = proof.members.map(
    ({ question, countersignedBy }) =>
      `- #${question.pullRequest}: countersigned by ${code(listed([...countersignedBy], 'and'))}`,
  );
  const count = members.length === 1 ? 'The pull request' : `All ${members.length} pull requests`;
  return {
    ...at,
    title: `${count} of this merge group ${members.length === 1 ? 'is' : 'are'} countersigned`,
    summary: summary([members.join('\n'), WHAT_CLOSES_IT], view),
  };
}

/** The gate check of a merge group that is not proved, not read yet, or gone. */
export function closedGroupGate(
  view: GateView,
  because: Explanation,
  as: ClosedAs,
  at: Date,
): ClosedGateContent {
  return {
    ...frame(view),
    state: stateOf(as, at, at),
    title: plainLine(clip(capital(because.summary), MAX_TITLE)),
    summary: summary([`### Why\n\n${explanationList(because, () => null)}`], view),
  };
}

const WHAT_CLOSES_IT =
  'The check falls back as soon as that changes: a push, another base branch, a draft, a withdrawn or rejecting reaction, red CI, other settings.';

function frame({
  headSha,
  baseRef,
  externalId,
}: GateView): Omit<ClosedGateContent, 'state' | 'title' | 'summary'> {
  return {
    name: gateCheckName(baseRef),
    head_sha: headSha,
    external_id: externalId,
    text: '',
    annotations: [],
    actions: [],
    details_url: null,
  };
}

function summary(parts: readonly string[], view: GateView): string {
  return clipBytes([...parts, ...protectionNote(view), about(view)].join('\n\n'), MAX_SUMMARY_BYTES);
}

function about({ baseRef }: GateView): string {
  return `<sub>This is the check to require on ${code(baseRef)}. It is green only while everything that the merge gate asks holds, and never neutral or skipped.</sub>`;
}

/** Why the merge button works without a countersign, so that a reader can fix it. */
function protectionNote({ baseRef, protection }: GateView): string[] {
  const [branch, check] = [code(baseRef), code(gateCheckName(baseRef))];
  switch (protection) {
    case 'open':
      return [
        `> ⚠️ ${branch} does not require this check, so GitHub's merge button works without a countersign. An administrator can require ${check} in the branch protection or a ruleset, with this App as its source.`,
      ];
    case 'any_app':
      return [
        `> ⚠️ ${branch} requires this check from any source, so whoever may write checks or statuses can set it. An administrator can choose this App as the source of ${check}.`,
      ];
    case 'enforced':
    case undefined:
      return [];
  }
}
