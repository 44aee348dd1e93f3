import { plainLine } from '../../domain/run/explain.ts';
import { plural } from '../text/pretty.ts';
import { type Server, serverName } from './process.ts';

/*
 * What `countersign db copy` says. Addresses are shown without user and password.
 */

export const COPY_DIRECTION =
  'A copy goes from an SQLite file to a database of PostgreSQL: countersign db copy sqlite:PATH postgres://USER:PASSWORD@HOST/DATABASE.';

export function servedDuringCopy(database: string, server: Server | undefined): string {
  return `The database ${plainLine(database)} is served by ${serverName(server)}; stop that process before the copy. Nothing was copied.`;
}

/** A result of the command. `before`: rows that an interrupted copy had written. `finishedAt` is ISO 8601. */
export type DatabaseCopy = { from: string; to: string } & (
  | { kind: 'copied'; tables: number; rows: number; before: number }
  | { kind: 'already'; finishedAt: string }
);

export function copiedDatabase(copy: DatabaseCopy): string {
  const [from, to] = [plainLine(copy.from), plainLine(copy.to)];
  if (copy.kind === 'already') {
    return `${to} is a finished copy of ${from} already, since ${copy.finishedAt}. Nothing was copied.`;
  }
  const rest = copy.before > 0 ? `, ${copy.before} of them in an earlier attempt,` : '';
  return (
    `Copied ${plural(copy.tables, 'table')} and ${plural(copy.rows, 'row')}${rest} from ${from} to ${to}, and compared every row. ` +
    'Artifacts were not copied: give the app the same ARTIFACTS_URL as before, or copy that folder to where it then points.'
  );
}

export function copyProgress(stage: 'copying' | 'comparing', done: number, of: number): string {
  const share = of === 0 ? 100 : Math.floor((100 * done) / of);
  return `${stage === 'copying' ? 'Copied' : 'Compared'} ${share} % …`;
}
