import { z } from 'zod';
import { shortHash } from '../../core/canonical.ts';
import type { Log } from '../../core/log.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import type { Event } from '../../domain/event/event.ts';
import { MAX_CAUSED } from '../../domain/run/child.ts';
import type { Firing } from '../../ports/firings.ts';
import type { Tx } from '../../ports/storage.ts';

/** Of so many runs of a repository that cause others, those that did so last are counted, so that the row stays small. */
const MAX_COUNTED = 100;
const countedSchema = z.array(z.tuple([z.string(), z.int()]));

/**
 * What the runs that an event begins are counted by: the run from which the event follows, or what somebody can repeat without end.
 * `undefined` if the event can only happen as often as people open or push something.
 */
export function countedBy(
  event: Event,
  root: string | undefined,
  { name }: Pick<Chain, 'name'>,
  now: Date,
): string | undefined {
  if (root !== undefined) return root;
  const today = now.toISOString().slice(0, 10);
  switch (event.kind) {
    // The author of a fork chooses how many jobs its workflows have.
    case 'ci.changed':
      return `checks of ${event.head_sha} for ${name}`;
    // Anybody who can read a public repository can review.
    case 'pr.review_submitted':
    case 'pr.labeled':
    case 'pr.closed':
      return `${event.kind} of #${event.pull_request} for ${name} on ${today}`;
    case 'issue.labeled':
      return `${event.kind} of #${event.issue} for ${name} on ${today}`;
    default:
      return undefined;
  }
}

/** Why a run does not begin that would be one too many, after what it is that begins it. */
export function tooManyBecause(event: Event, root: string | undefined): string {
  if (root !== undefined) return `one run may cause at most ${MAX_CAUSED} others`;
  switch (event.kind) {
    case 'ci.changed':
      return `one commit may start it at most ${MAX_CAUSED} times. The filters base, check and conclusion leave out checks`;
    case 'issue.labeled':
      return `the labels of one issue may start it at most ${MAX_CAUSED} times a day (UTC)`;
    case 'pr.review_submitted':
      return `the reviews of one pull request may start it at most ${MAX_CAUSED} times a day (UTC)`;
    case 'pr.closed':
      return `one pull request may start it at most ${MAX_CAUSED} times a day (UTC) by being closed`;
    default:
      return `the labels of one pull request may start it at most ${MAX_CAUSED} times a day (UTC)`;
  }
}

/**
 * Counts a run that an event begins, among all that follow from one run. Depth alone bounds little: 50 chains of 50 steps that
 * wait for one another's steps would begin millions of runs within five.
 * @param root the first of the runs that started one another
 * @returns whether it may begin
 */
export async function mayBegin(tx: Tx, repositoryId: number, root: string, now: Date): Promise<boolean> {
  const name = `caused_runs:${repositoryId}`;
  const stored = countedSchema.safeParse(await tx.cursors.get(name));
  const counted = new Map(stored.success ? stored.data : []);
  const begun = counted.get(root) ?? 0;
  if (begun >= MAX_CAUSED) return false;
  counted.delete(root);
  await tx.cursors.set(name, [...counted, [root, begun + 1] as [string, number]].slice(-MAX_COUNTED), now);
  return true;
}

/** Records a run that may not begin: for each chain in one row that counts, because there can be thousands. */
export async function skipTooMany(
  { log }: { log: Log },
  tx: Tx,
  firing: Firing,
  root: string,
): Promise<void> {
  const { repositoryId, chain, trigger, repository, reason, summary, updatedAt } = firing;
  const id = `fir_${shortHash(`too_many ${repositoryId} ${chain} ${trigger} ${root}`, 32)}`;
  const known = await tx.firings.get(id);
  if (known) return tx.firings.save({ ...known, count: known.count + 1, updatedAt });
  if (await tx.firings.insert({ ...firing, id, occasion: `too_many ${root}` }))
    log.warn({ chain, repository, reason }, summary ?? 'did not fire');
}
