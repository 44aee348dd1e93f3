import { type Clock, systemClock } from '../core/clock.ts';
import { CountersignError } from '../core/errors.ts';
import type { Blobs } from './blobs.ts';
import { createFileBlobs } from './files/file-blobs.ts';
import { openSqlite, openThrowAwaySqlite } from './sqlite/open.ts';
import type { Storage } from './storage.ts';

/**
 * Opens the database that `DATABASE_URL` names, and brings it up to date: `sqlite:path`, or `sqlite::memory:` for one
 * that is thrown away at `close`.
 * @throws CountersignError `storage.bad_url` for any other URL, and for what keeps the database from being opened.
 */
export async function openStorage(
  databaseUrl: string,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<Storage> {
  if (/^postgres(ql)?:/.test(databaseUrl)) {
    throw new CountersignError(
      'storage.unsupported',
      'DATABASE_URL: PostgreSQL is not supported by this version of Countersign; use sqlite:path.',
    );
  }
  if (databaseUrl === 'sqlite::memory:') return openThrowAwaySqlite({ clock });
  const path = localPath(databaseUrl, 'sqlite:');
  if (path === undefined) {
    throw new CountersignError(
      'storage.bad_url',
      'DATABASE_URL must be sqlite:path, such as sqlite:data/countersign.db or sqlite:/var/lib/countersign.db, ' +
        'or sqlite::memory: for a database that is thrown away.',
    );
  }
  return openSqlite(path, { clock });
}

/**
 * Opens the store of large artifacts that `ARTIFACTS_URL` names.
 * @throws CountersignError `blobs.bad_url`, or `blobs.unsupported` for a store of a later version.
 */
export function openBlobs(artifactsUrl: string): Blobs {
  if (artifactsUrl.startsWith('s3:')) {
    throw new CountersignError(
      'blobs.unsupported',
      'ARTIFACTS_URL: S3 is not supported by this version of Countersign; use file:folder.',
    );
  }
  const folder = localPath(artifactsUrl, 'file:');
  if (folder === undefined) {
    throw new CountersignError(
      'blobs.bad_url',
      'ARTIFACTS_URL must be file:folder, such as file:data/artifacts or file:/var/lib/countersign/artifacts.',
    );
  }
  return createFileBlobs(folder);
}

/** The path after the scheme. `scheme:///path` is one too, `scheme://x` names a host and is not. */
function localPath(url: string, scheme: string): string | undefined {
  if (!url.startsWith(scheme)) return undefined;
  const path = url.slice(scheme.length).replace(/^\/\/(?=\/)/, '');
  return path === '' || path.startsWith('//') || path.startsWith(':') || path.includes('\0')
    ? undefined
    : path;
}
