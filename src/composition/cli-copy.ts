import { existsSync } from 'node:fs';
import { openCopyTarget } from '../adapters/postgres/copy-target.ts';
import { copyTables } from '../adapters/sql/copy.ts';
import { openCopySource } from '../adapters/sqlite/copy-source.ts';
import { readInbox } from '../adapters/sqlite/inbox.ts';
import { shownDatabaseUrl } from '../config/addresses.ts';
import { systemClock } from '../core/clock.ts';
import { CountersignError } from '../core/errors.ts';
import { type Log, silentLog } from '../core/log.ts';
import { createDrain } from '../entrypoints/webhook/delivery/drain.ts';
import { olderDatabase } from '../messages/cli/cli.ts';
import { COPY_DIRECTION, type DatabaseCopy, servedDuringCopy } from '../messages/cli/copy.ts';
import { alone, existing, failingClearly, pendingIn } from './cli-database.ts';
import { fences, inboxOf, isPostgres, openStorage, postgresPlace } from './storage.ts';

interface Reports {
  onProgress(stage: 'copying' | 'comparing', done: number, of: number): void;
  /** Called with what the operator must know, beside the result. */
  onWarning(sentence: string): void;
}

/**
 * Copies an SQLite file to a database of PostgreSQL. Both are claimed meanwhile, as by a process that serves them.
 * @throws CountersignError if either is served, of another version, or has rows that do not belong there
 */
export async function copyDatabase(
  from: string,
  to: string,
  { onProgress, onWarning }: Reports,
): Promise<DatabaseCopy> {
  if (isPostgres(from) || !isPostgres(to)) throw new CountersignError('cli.copy_direction', COPY_DIRECTION);
  const path = existing(from);
  const place = await postgresPlace(to);
  const shown = { from: path, to: shownDatabaseUrl(to) };
  return failingClearly(path, async () => {
    const pending = pendingIn(path);
    if (pending.length > 0) throw new CountersignError('cli.older_database', olderDatabase(path, pending));
    return beside(from, shown.from, () =>
      beside(to, shown.to, async () => {
        await takeInbox(from, onWarning);
        const fence = fences.get(to);
        if (fence === undefined) throw new Error('the database is claimed without a fence');
        const target = await openCopyTarget(place, { clock: systemClock, fence: fence.serving });
        if ('pending' in target)
          throw new CountersignError('cli.older_database', olderDatabase(shown.to, target.pending));
        const source = openCopySource(path);
        try {
          return { ...shown, ...(await copyTables(source, target, onProgress)) };
        } finally {
          source.close();
          await target.close();
        }
      }),
    );
  });
}

function beside<T>(url: string, shown: string, work: () => Promise<T>): Promise<T> {
  return alone(url, (holder) => servedDuringCopy(shown, holder), work);
}

/** Deliveries that the app had recorded beside its database when it was killed. PostgreSQL has no such file. */
async function takeInbox(databaseUrl: string, onWarning: (sentence: string) => void): Promise<void> {
  const path = inboxOf(databaseUrl);
  if (path === undefined || !existsSync(path)) return;
  const log: Log = { ...silentLog, error: (_, message) => onWarning(message) };
  const storage = await openStorage(databaseUrl, { clock: systemClock });
  try {
    const drain = createDrain({
      inbox: readInbox(path),
      storage,
      // Without room, no jobs are made: the app that is started on the copy makes them.
      queue: { enqueue: async () => {}, hasRoomFor: () => false, wake() {} },
      onTaken() {},
      clock: systemClock,
      log,
    });
    try {
      await drain.drain();
    } finally {
      await drain.stop();
    }
  } finally {
    await storage.close();
  }
}
