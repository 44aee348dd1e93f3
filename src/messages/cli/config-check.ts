import type { Diagnostic } from '../../core/diagnostic.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { placeOfDiagnostic } from '../run/report.ts';
import { listed, plural, utc } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { table } from './table.ts';

/** What `config check` found in all repositories. */
export interface ConfigCheck {
  /** Repositories whose configuration was read. */
  read: number;
  /** Archived, or disabled by GitHub. */
  skipped: number;
  /** With no commit on their default branch. */
  empty: number;
  errors: readonly PlacedError[];
  unreadable: readonly { repository: string; because: string }[];
}

/** An error in a file of a repository. */
export interface PlacedError {
  repository: string;
  /** Empty: the repository as a whole. */
  file: string;
  line: number;
  column: number;
  message: string;
}

/** Each error once, in the repository that has the file: those of an organisation are found in each of its repositories. */
export function placedErrors(
  checked: readonly { repository: string; errors: readonly Diagnostic[] }[],
): PlacedError[] {
  const placed = checked.flatMap(({ repository, errors }) =>
    errors.map((error): PlacedError => {
      const { column, message } = error;
      return { ...placeOfDiagnostic(repository, error), column, message };
    }),
  );
  // The repository `.github` is also one of its own, with the same files.
  const once = new Map(
    placed.map((error) => [
      JSON.stringify([error.repository.toLowerCase(), error.file, error.line, error.column, error.message]),
      error,
    ]),
  );
  return [...once.values()].toSorted(
    (a, b) =>
      compare(a.repository.toLowerCase(), b.repository.toLowerCase()) ||
      compare(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column,
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The longest message that is shown whole, in columns. */
const MAX_MESSAGE = 500;

export function configCheckText(check: ConfigCheck, screen: Screen = PLAIN): string {
  const rows = [
    ...check.errors.map(({ repository, file, line, message }) => [repository, file, String(line), message]),
    ...check.unreadable.map(({ repository, because }) => [repository, '', '', `cannot be read: ${because}`]),
  ];
  // The lines wrap on a narrow screen: half of a message or of a path would help nobody.
  const whole = { ...screen, columns: undefined };
  return [
    ...(rows.length === 0
      ? []
      : [table(['REPOSITORY', 'FILE', 'LINE', 'ERROR'], rows, { last: MAX_MESSAGE, screen: whole })]),
    countsInWords(check),
  ].join('\n\n');
}

function countsInWords({ read, skipped, empty, errors, unreadable }: ConfigCheck): string {
  const many = (count: number) => plural(count, 'repository', 'repositories');
  const broken = new Set(errors.map(({ repository }) => repository)).size;
  const also = [
    ...(unreadable.length === 0 ? [] : [`${many(unreadable.length)} could not be read`]),
    ...(empty === 0 ? [] : [`${many(empty)} ${empty === 1 ? 'has' : 'have'} no commit yet`]),
    ...(skipped === 0 ? [] : [`${many(skipped)} ${skipped === 1 ? 'is' : 'are'} archived and skipped`]),
  ];
  const found = errors.length === 0 ? 'no errors' : `${plural(errors.length, 'error')} in ${many(broken)}`;
  const first = `${many(read)} checked: ${found}.`;
  return also.length === 0 ? first : `${first} ${listed(also, 'and')}.`;
}

export function configCheckJson({ read, skipped, empty, errors, unreadable }: ConfigCheck) {
  return { checked: read, archived: skipped, empty, errors, unreadable };
}

/** @param owners those where the App is installed */
export function notInstalledFor(organisation: string, owners: readonly string[]): string {
  return owners.length === 0
    ? 'The App is not installed anywhere yet. Install it on its page on GitHub.'
    : `The App is not installed for ${plainLine(organisation)}; it is for ${listed(owners.map(plainLine), 'and')}.`;
}

export function isSuspended(owner: string): string {
  return `${plainLine(owner)} has suspended the App's installation, so GitHub shows nothing of it.`;
}

/** On the last line of the terminal. */
export function repositoriesRead(done: number, of: number): string {
  return `${done} of ${of} repositories are read …`;
}

export function waitingForLimit(until: Date): string {
  return `Waiting until ${utc(until)} for GitHub's rate limit, of which the app keeps a part …`;
}
