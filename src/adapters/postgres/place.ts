import { CountersignError } from '../../core/errors.ts';

/** Where a database is. Nothing here is secret but the password and the address that contains it. */
export interface Place {
  /** The whole address. */
  url: string;
  password: string | undefined;
  /** For messages: `the database countersign on db.example.com`. */
  name: string;
}

/**
 * Reads `postgres://user:password@host:port/database`, with parameters such as `sslmode` after it:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * @throws CountersignError `storage.bad_url`, without the address
 */
export function placeOf(url: string): Place {
  try {
    const { hostname, port, pathname, password, searchParams } = new URL(url);
    const database = decodeURIComponent(pathname.slice(1));
    if (database === '') throw new TypeError('no database');
    const host = searchParams.get('host') ?? decodeURIComponent(hostname);
    const on = host === '' ? '' : ` on ${host}${port === '' ? '' : `:${port}`}`;
    const secret = decodeURIComponent(password) || searchParams.get('password') || undefined;
    return { url, password: secret, name: `the database ${database}${on}` };
  } catch {
    throw new CountersignError(
      'storage.bad_url',
      'DATABASE_URL must be postgres://USER:PASSWORD@HOST:PORT/DATABASE; signs such as @ or / in the password are written as ' +
        '%40 and %2F.',
    );
  }
}

/** A name of a database as the beginning of a sentence. */
export function capitalized(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
