import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { textOfFile } from '../../core/text.ts';
import { unreadableFile, unwritableFile } from '../../messages/cli/cli.ts';

/*
 * Files that a person names, reported under the path that they wrote. Node's own messages are replaced: they
 * mention system calls and other paths, and do not say what to do.
 */

/** @throws CountersignError if the file does not exist or cannot be read */
export function readText(cwd: string, file: string): string {
  try {
    return textOfFile(readFileSync(resolve(cwd, file)));
  } catch (error) {
    throw new CountersignError('cli.unreadable_file', unreadableFile(file, codeOf(error)), { cause: error });
  }
}

/**
 * Never overwrites.
 * @throws CountersignError if the file exists already or cannot be written
 */
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
