import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStorage } from '../../src/composition/storage.ts';
import { memoryFolder } from './memory-folder.ts';

let bytes: Promise<Uint8Array> | undefined;

/**
 * Writes an SQLite file with every table and no rows, as the app does on its first start. The migrations run once per process, on
 * a file that is thrown away: syncing each of them to disk took most of the time of a contract test.
 */
export async function writeMigratedDatabase(path: string): Promise<void> {
  bytes ??= migratedBytes();
  writeFileSync(path, await bytes);
}

async function migratedBytes(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(memoryFolder(), 'countersign-test-'));
  const path = join(folder, 'empty.db');
  try {
    await (await openStorage(`sqlite:${path}`)).close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
