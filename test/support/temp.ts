import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { TestDatabase } from './database.ts';
import { writeMigratedDatabase } from './migrated-database.ts';

/** Makes folders that are deleted after each test. */
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
  await writeMigratedDatabase(path);
  const storage = await openStorage(`sqlite:${path}`, { clock });
  return {
    storage,
    async remove() {
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
