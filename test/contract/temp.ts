import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { TestDatabase, Transition } from './database.ts';

/** Makes folders that are gone after each test. */
export function temporaryFolders(): () => string {
  const made: string[] = [];
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
    made.push(folder);
    return folder;
  };
}

/** An SQLite file of its own. */
export async function sqliteTestDatabase(clock: Clock): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  const path = join(folder, 'test.db');
  const storage = await openStorage(`sqlite:${path}`, { clock });
  return {
    storage,
    history(subjectId) {
      const db = new BetterSqlite3(path, { readonly: true });
      const rows = db
        .prepare(
          'SELECT from_status AS "from", to_status AS "to", reason_code AS reason, at FROM transitions ' +
            'WHERE subject_id = ? ORDER BY id',
        )
        .all(subjectId);
      db.close();
      return rows as Transition[];
    },
    async remove() {
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
