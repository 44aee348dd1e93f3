import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { CountersignError, messageOf } from '../../core/errors.ts';

/**
 * Makes the folder for a database, accessible only to this app's user because the database has data of
 * private repositories.
 * @throws CountersignError `storage.unavailable` if it cannot be made
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
