import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { textOfFile } from '../../core/text.ts';
import { unreadableFile, unwritableFile } from '../../messages/cli.ts';

/*
 * Files that a person names, under the path they wrote. Node's own messages are not shown: they speak of system calls and of other
 * paths, and do not say what to do.
 */

/** @throws CountersignError when there is no such file, or it cannot be read. */
export function readText(cwd: string, file: string): string {
  try {
    return textOfFile(readFileSync(resolve(cwd, file)));
  } catch (error) {
    throw new CountersignError('cli.unreadable_file', unreadableFile(file, codeOf(error)), { cause: error });
  }
}

/** Writes over nothing. @throws CountersignError when there is such a file, or it cannot be written. */
export function writeNew(cwd: string, file: string, text: string): void {
  try {
    writeFileSync(resolve(cwd, file), text, { flag: 'wx' });
  } catch (error) {
    throw new CountersignError('cli.cannot_write', unwritableFile(file, codeOf(error)), { cause: error });
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
