import { randomUUID } from 'node:crypto';
import BetterSqlite3 from 'better-sqlite3';
import type { Commit, Inbox, NewDelivery } from '../../ports/storage.ts';
import { type Pack, type Place, packBodies, unpack, unpackBody } from '../sql/body-packs.ts';
import { expectRoom, makeDurable, PAGE_CACHE_KB, PAGES_OF_LOG } from './durable.ts';
import { isDamage, sqliteFailure } from './failure.ts';
import { makeFolderFor } from './folder.ts';

/**
 * Each row is what one commit recorded: the bodies, packed together, and what else is known of each delivery.
 * AUTOINCREMENT, because a number that was given out again would count as taken. The identity distinguishes
 * this file from one that somebody puts in its place, whose numbers begin again.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS identity (id TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS recorded (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    deliveries TEXT NOT NULL,
    encoding   TEXT NOT NULL,
    bytes      BLOB NOT NULL
  ) STRICT;
`;

/** Bodies that are read at once, so that no transaction grows with them. One commit may have more. */
const MAX_BYTES_AT_ONCE = 8 * 1_048_576;

/** How long opening waits for another process's lock, in ms. Later, no other process writes. */
const OPENING_MS = 5_000;

/** More than the log holds before it is moved, because the cache keeps the last pages of a transaction. */
const LOG_BYTES = PAGES_OF_LOG.inbox * 4_096 + PAGE_CACHE_KB.inbox * 1_024;

type Packed = { pack: Pack; contents: { item: NewDelivery; place: Place }[] };
type Stored = Omit<NewDelivery, 'body' | 'receivedAt'> & {
  receivedAt: string;
  start: number;
  length: number;
};

/** The side of the inbox that records. It blocks its thread, which has nothing else to do meanwhile. */
export interface InboxWriter {
  readonly id: string;
  /**
   * Gives out only higher numbers from now on. An older copy of the file would otherwise give out numbers again
   * that count as taken: after a backup was put back, say.
   */
  startAfter(last: number): void;
  /**
   * Gives the log the space that it will take. A commit to space that the file has already takes half as long: its
   * sync writes the content only.
   */
  allocateLog(): void;
  /**
   * Records all or none of them, durably.
   * @throws CountersignError `storage.unavailable` if the disk is full or fails
   */
  record(deliveries: readonly NewDelivery[]): void;
  /** Removes what was taken up to this number, with the next commit. */
  forget(last: number): void;
  /** Rejects with a sentence if nothing can be recorded. */
  check(): Promise<void>;
  close(): void;
}

/**
 * Opens the inbox, a file of its own beside the database: recording never waits for the lock that the engine's
 * transactions hold, nor the other way round.
 */
export function openInbox(path: string): InboxWriter {
  makeFolderFor(path);
  const failing = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw sqliteFailure(error, path);
    }
  };
  const db = failing(() => {
    const opened = new BetterSqlite3(path, { timeout: OPENING_MS });
    makeDurable(opened, PAGES_OF_LOG.inbox);
    opened.pragma(`cache_size = -${PAGE_CACHE_KB.inbox}`);
    opened.exec(SCHEMA);
    opened
      .prepare('INSERT INTO identity SELECT ? WHERE NOT EXISTS (SELECT 1 FROM identity)')
      .run(randomUUID());
    return opened;
  });
  const id = String(db.prepare('SELECT id FROM identity').pluck().get());
  const insert = db.prepare('INSERT INTO recorded (deliveries, encoding, bytes) VALUES (?, ?, ?)');
  const remove = db.prepare('DELETE FROM recorded WHERE id <= ?');
  const rewrite = db.prepare('UPDATE identity SET id = id');
  let taken: number | undefined;
  /** Set when a commit failed. A successful read then does not prove that the disk works. */
  let unwritable = false;
  /** Set permanently once SQLite finds the file damaged. */
  let damage: unknown;

  const recordAll = db.transaction((deliveries: readonly NewDelivery[]) => {
    for (const { pack, contents } of packsOf(deliveries)) {
      const stored = contents.map(({ item: { body: _, receivedAt, ...rest }, place }): Stored => {
        return { ...rest, receivedAt: receivedAt.toISOString(), ...place };
      });
      insert.run(JSON.stringify(stored), pack.encoding, pack.bytes);
    }
    if (taken !== undefined) remove.run(taken);
  });

  return {
    id,
    startAfter(last) {
      failing(() => {
        // https://sqlite.org/autoinc.html: "The SQLITE_SEQUENCE table can be modified"
        const known = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'recorded'").pluck().get();
        if (known === undefined) db.prepare("INSERT INTO sqlite_sequence VALUES ('recorded', ?)").run(last);
        else if (Number(known) < last)
          db.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'recorded'").run(last);
      });
    },
    allocateLog() {
      // What does not fit into the cache is written to the log before the commit. SQLite never reads it, since no
      // commit follows it, and writes over it.
      try {
        db.exec('BEGIN IMMEDIATE');
        db.prepare("INSERT INTO recorded (deliveries, encoding, bytes) VALUES ('', '', zeroblob(?))").run(
          LOG_BYTES,
        );
      } catch {
        // A full disk: the log takes what space it gets.
      } finally {
        if (db.inTransaction) db.exec('ROLLBACK');
        db.pragma('shrink_memory');
      }
    },
    record(deliveries) {
      if (damage !== undefined) throw damage;
      try {
        failing(() => recordAll.immediate(deliveries));
        taken = undefined;
      } catch (error) {
        unwritable = true;
        if (isDamage(error)) damage ??= error;
        throw error;
      }
    },
    forget(last) {
      taken = last;
    },
    async check() {
      if (damage !== undefined) throw damage;
      if (!unwritable) return;
      await expectRoom(path);
      failing(() => rewrite.run());
      unwritable = false;
    },
    close() {
      if (taken !== undefined && !unwritable) failing(() => remove.run(taken));
      db.close();
    },
  };
}

/** A delivery that comes alone stays as it is: its sender waits for nothing else, and compressing takes 0.1 ms. */
function packsOf(deliveries: readonly NewDelivery[]): Iterable<Packed> {
  const [only, ...others] = deliveries;
  if (!only || others.length > 0) return packBodies(deliveries);
  const place = { start: 0, length: only.body.byteLength };
  return [{ pack: { encoding: 'none', bytes: only.body }, contents: [{ item: only, place }] }];
}

/** Opens an inbox that `openInbox` has made, for reading. */
export function readInbox(path: string): Inbox {
  const db = new BetterSqlite3(path, { readonly: true, timeout: OPENING_MS });
  db.pragma(`cache_size = -${PAGE_CACHE_KB.inbox}`);
  const id = String(db.prepare('SELECT id FROM identity').pluck().get());
  const after = db.prepare<[number, number], Pack & { id: number; deliveries: string }>(
    'SELECT * FROM recorded WHERE id > ? ORDER BY id LIMIT ?',
  );
  return {
    id,
    after(last, most) {
      try {
        const commits: Commit[] = [];
        let bytes = 0;
        for (const row of after.iterate(last, most)) {
          const commit = commitOf(row);
          commits.push(commit);
          bytes += commit.deliveries.reduce((sum, { body }) => sum + body.byteLength, 0);
          if (bytes >= MAX_BYTES_AT_ONCE) break;
        }
        return commits;
      } catch (error) {
        throw sqliteFailure(error, path);
      }
    },
    close: () => void db.close(),
  };
}

/** Other commits must not wait for one that cannot be read. */
function commitOf({ id, deliveries, encoding, bytes }: Pack & { id: number; deliveries: string }): Commit {
  let guids: string[] = [];
  try {
    const stored = JSON.parse(deliveries) as Stored[];
    guids = stored.map(({ guid }) => guid);
    const pack = unpack({ encoding, bytes });
    return {
      id,
      deliveries: stored.map(({ start, length, receivedAt, ...rest }) => ({
        ...rest,
        receivedAt: new Date(receivedAt),
        body: unpackBody(pack, { start, length }),
      })),
    };
  } catch (err) {
    return { id, deliveries: [], damaged: { guids, err } };
  }
}
