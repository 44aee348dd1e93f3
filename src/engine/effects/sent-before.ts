import type { OnDamaged, ReadTx } from '../../ports/storage.ts';
import { causeOf, NO_CAUSE } from './cause-of.ts';
import { writeClassOf } from './write-class.ts';
import { COUNTED_MS, type Sent } from './write-limiter.ts';

/**
 * What the installation wrote before this process worked for it, as the outbox says. Without it, each restart and each process that gets
 * the installation would start with all of the hour's content. What a killed process had sent without recording it is not known: at most
 * as many writes as it did at once. Who wrote the command of a reply is not known either, so that reply counts for nobody.
 * @param onDamaged gets the error of each row that cannot be read, which then does not count
 */
export async function sentBefore(
  { effects }: Pick<ReadTx, 'effects'>,
  installationId: number,
  now: Date,
  onDamaged: OnDamaged,
): Promise<Sent> {
  const ago = (ms: number) => new Date(now.getTime() - ms);
  const since = { content: ago(COUNTED_MS.content), any: ago(COUNTED_MS.update) };
  const rows = await effects.sentSince(installationId, since, onDamaged);
  const found = rows.map(({ row, run }) => {
    const { content_at: createdAt } = row.progress;
    const at = createdAt === undefined ? row.updatedAt : new Date(createdAt);
    const isContent = createdAt !== undefined && at >= since.content;
    return {
      what: row.effect.kind === 'merge' ? 'merge' : isContent ? 'content' : 'update',
      write: { key: row.key, class: writeClassOf(row), ...(causeOf({ row, run }) ?? NO_CAUSE) },
      at: (isContent ? at : row.updatedAt).getTime(),
    };
  });
  const of = (kind: (typeof found)[number]['what']) =>
    found
      .filter(({ what }) => what === kind)
      .map(({ write, at }) => ({ ...write, at }))
      .toSorted((a, b) => a.at - b.at);
  return { content: of('content'), updates: of('update'), merges: of('merge').map(({ at }) => at) };
}
