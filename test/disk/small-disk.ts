import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of a few megabytes that a test can fill. */
export interface SmallDisk {
  folder: string;
  /** Writes until not one more byte fits. */
  fill(): void;
  makeRoom(): void;
  remove(): void;
}

/** Mounts one. @returns why not if that is not allowed, as it is to root only. */
export function mountSmallDisk(megabytes: number): SmallDisk | string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmSync(folder, { recursive: true });
    return `no disk can be mounted here: ${error instanceof Error ? error.message : error}`;
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => fillWith(filler),
    makeRoom: () => rmSync(filler, { force: true }),
    remove() {
      execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

function fillWith(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (const size of [65_536, 4_096, 1]) writeUntilFull(file, Buffer.alloc(size));
  } finally {
    closeSync(file);
  }
}

function writeUntilFull(file: number, bytes: Buffer): void {
  for (;;) {
    try {
      writeSync(file, bytes);
    } catch {
      return;
    }
  }
}
