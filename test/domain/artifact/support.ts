import type { Expected } from '../../../src/domain/artifact/contract.ts';
import type { ProducedFile } from '../../../src/domain/artifact/verification.ts';

type File = Extract<Expected, { kind: 'file' }>;

/** A required file of a chain's step, with the id `it` by default. */
export function file(path: string, more: Partial<File> = {}): File {
  return { kind: 'file', id: 'it', required: true, source: 'step', path, ...more };
}

export function files(glob: string, min: number, max = min): Expected {
  return { kind: 'files', id: 'it', required: true, source: 'step', glob, count: { min, max } };
}

/** A file that a session produced, from a text or from bytes. */
export function produced(path: string, data: string | number[] = 'something'): ProducedFile {
  return { path, bytes: typeof data === 'string' ? Buffer.from(data) : Uint8Array.from(data) };
}
