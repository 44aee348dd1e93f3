import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/**
 * Where files need no wait for the disk, if the system has such a place, because scenarios do not test the disk. The contract and
 * crash tests write to a real one.
 */
export function memoryFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}
