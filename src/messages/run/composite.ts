import type { Progress } from '../../domain/chain/composite.ts';
import { type Composite, nameOfComposite } from '../../domain/chain/trigger-schema.ts';
import { plainLine } from '../../domain/run/explain.ts';
import type { Firing } from '../../ports/firings.ts';
import { listed, utc } from '../text/pretty.ts';

/** What the parts of a composite have in common, as its row says it: see `keyOf` of `engine/runs/composites.ts`. */
function subjectOfKey(key: string): string {
  const [, pullRequest, sha] = /^(#\d+)? ?([0-9a-f]{7,})?$/.exec(key) ?? [];
  const commit = sha === undefined ? '' : `commit ${sha.slice(0, 7)}`;
  if (pullRequest === undefined) return commit || 'the repository';
  return `pull request ${pullRequest}${commit && ` at ${commit}`}`;
}

/** Which parts have happened and which have not. */
export function progressOfComposite(composite: Composite, { parts, isComplete }: Progress): string {
  const happened = parts.flatMap(({ event, at }) => (at ? [`${event} happened at ${utc(at)}`] : []));
  const missing = parts.flatMap(({ event, at }) => (at ? [] : [event]));
  if (!isComplete) return `${listed(happened, 'and')}, and not ${listed(missing, 'or')}`;
  const because = composite.kind === 'sequence' ? 'not in this order' : 'not close enough in time';
  return `${listed(happened, 'and')}, ${because}`;
}

/** What happened until then does not count again. */
export function compositeHasFired(at: Date): string {
  return `it fired for what happened until ${utc(at)}`;
}

/** What a composite that has begun waits for, and until when. */
export function compositeWaits(composite: Composite, progress: Progress, now: Date): string {
  const { until } = progress;
  const when = until > now ? `it waits until ${utc(until)}` : `its time was over at ${utc(until)}`;
  return plainLine(`${nameOfComposite(composite)}: ${progressOfComposite(composite, progress)}; ${when}`);
}

/** A firing that did not happen, when it would have. */
export function firingSkipped({ trigger, dueAt, summary }: Firing): string {
  return plainLine(`${utc(dueAt)}: ${summary ?? `${trigger} did not fire`}`);
}

/** Why a composite did not fire. */
export function compositeExpired(composite: Composite, key: string, progress: Progress): string {
  return plainLine(
    `${nameOfComposite(composite)} did not fire for ${subjectOfKey(key)}: ${progressOfComposite(composite, progress)}`,
  );
}

export function compositeCrowdedOut(composite: Composite, key: string, kept: number): string {
  return plainLine(
    `${nameOfComposite(composite)} no longer waits for ${subjectOfKey(key)}: the chain waits for more than ${kept} others`,
  );
}

export function compositeTooDeep(composite: Composite, key: string, most: number): string {
  return plainLine(
    `${nameOfComposite(composite)} does not fire for ${subjectOfKey(key)}: at most ${most} runs may start one another`,
  );
}

/** @param because a clause that says what may happen how often */
export function compositeTooMany(composite: Composite, key: string, because: string): string {
  return plainLine(`${nameOfComposite(composite)} does not fire for ${subjectOfKey(key)}: ${because}`);
}
