import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { LimitMemory } from '../../ports/github.ts';
import type { ReadTx, Storage } from '../../ports/storage.ts';

/**
 * GitHub's limits are of an hour at most, so no pause counts for longer after it was noted, whatever GitHub or a clock said. Without
 * this, a pause of years would outlive each restart. In milliseconds.
 */
const LONGEST_MS = 3_600_000;

const positionSchema = z.object({
  pause_until: z.coerce.date(),
  noted_at: z.coerce.date(),
  write_refused_at: z.coerce.date().optional(),
});

/** What GitHub refused an installation because of a limit. */
export interface LimitRefusal {
  pauseUntil: Date;
  /** When GitHub last refused a write. */
  writeRefusedAt: Date | undefined;
}

/** In the database, by installation. */
export function createLimitMemory(storage: Pick<Storage, 'read' | 'transaction'>, clock: Clock): LimitMemory {
  return {
    recall: (installationId) => lastRefusal(storage.read, installationId),

    note(installationId, { pauseUntil, ofWrite }) {
      return storage.transaction(async (tx) => {
        const before = await lastRefusal(tx, installationId);
        const now = clock.now();
        const until = before && before.pauseUntil > pauseUntil ? before.pauseUntil : pauseUntil;
        const writeRefusedAt = ofWrite ? now : before?.writeRefusedAt;
        const position = {
          pause_until: until.toISOString(),
          noted_at: now.toISOString(),
          ...(writeRefusedAt && { write_refused_at: writeRefusedAt.toISOString() }),
        };
        await tx.cursors.set(nameOf(installationId), position, now);
      });
    },
  };
}

/** What was noted last; `undefined` if GitHub never refused anything because of a limit. */
export async function lastRefusal(
  { cursors }: Pick<ReadTx, 'cursors'>,
  installationId: number,
): Promise<LimitRefusal | undefined> {
  const found = positionSchema.safeParse(await cursors.get(nameOf(installationId))).data;
  return (
    found && {
      pauseUntil: new Date(Math.min(found.pause_until.getTime(), found.noted_at.getTime() + LONGEST_MS)),
      writeRefusedAt: found.write_refused_at,
    }
  );
}

const nameOf = (installationId: number) => `github-limit:${installationId}`;
