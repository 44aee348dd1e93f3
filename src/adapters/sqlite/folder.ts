import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { CountersignError, messageOf } from '../../core/errors.ts';

/**
 * Makes the folder that a database is to lie in. Only this app's user has business with what a repository keeps
 * private.
 * @throws CountersignError `storage.unavailable` when it cannot be made.
 */
export function makeFolderFor(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CountersignError(
      'storage.unavailable',
      `The folder ${folder} for the database cannot be made: ${messageOf(error)}.`,
      { cause: error },
    );
  }
}
