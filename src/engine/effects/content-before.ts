import type { OnDamaged, ReadTx } from '../../ports/storage.ts';
import { causeOf, NO_CAUSE } from './cause-of.ts';
import type { SentWrite } from './fair-share.ts';
import { writeClassOf } from './write-class.ts';
import { CONTENT_COUNTS_MS } from './write-limiter.ts';

/** A clock that was ahead when something was created must not keep it counted for longer, in milliseconds. */
const AHEAD_MS = 60_000;

/**
 * The content that the installation created before this process worked for it, oldest first. Without it, each restart and each process
 * that gets the installation would start with all of the hour's content. What a killed process had sent without recording it is not
 * known: at most as many writes as it did at once. Who wrote the command of a reply is not known either, so that reply counts for
 * nobody. Other writes and merges count for a minute only, and are not remembered.
 * @param onDamaged gets the error of each row that cannot be read, which then does not count
 */
export async function contentBefore(
  { effects }: Pick<ReadTx, 'effects'>,
  installationId: number,
  now: Date,
  onDamaged: OnDamaged,
): Promise<SentWrite[]> {
  const time = now.getTime();
  const period = { since: new Date(time - CONTENT_COUNTS_MS), until: new Date(time + AHEAD_MS) };
  const found = await effects.withContent(installationId, period, onDamaged);
  return found.map(({ row, run }) => ({
    key: row.key,
    class: writeClassOf(row),
    ...(causeOf({ row, run }) ?? NO_CAUSE),
    at: Math.min(time, (row.contentAt ?? now).getTime()),
  }));
}
