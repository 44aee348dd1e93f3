import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage } from '../../src/composition/storage.ts';

let bytes: Promise<Uint8Array> | undefined;

/**
 * Writes an SQLite file that holds every table and no row, as the app leaves one behind on its first start. The migrations run
 * once a process, on a file that is thrown away: a sync for each of them was most of what a contract test took.
 */
export async function writeMigratedDatabase(path: string): Promise<void> {
  bytes ??= migratedBytes();
  writeFileSync(path, await bytes);
}

async function migratedBytes(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  const path = join(folder, 'empty.db');
  try {
    await (await openStorage(`sqlite:${path}`)).close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
