import { z } from 'zod';
import { shortHash } from '../../core/canonical.ts';
import type { Log } from '../../core/log.ts';
import { MAX_CAUSED } from '../../domain/run/child.ts';
import type { Firing } from '../../ports/firings.ts';
import type { Tx } from '../../ports/storage.ts';

/** Of so many runs of a repository that cause others, those that did so last are counted, so that the row stays small. */
const MAX_COUNTED = 100;
const countedSchema = z.array(z.tuple([z.string(), z.int()]));

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
