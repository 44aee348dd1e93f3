import { type Diagnostic, formatDiagnostic, nearest } from '../../core/diagnostic.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { listed, plural } from '../text/pretty.ts';

/** Per message of a command other than a linter. */
const MAX_DIAGNOSTICS = 20;

/** Each as `file:line:col: message`, on its own line. */
export function diagnosticLines(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map((diagnostic) => plainLine(formatDiagnostic(diagnostic)));
}

/** The first of them in one line, for the end of a sentence. */
export function firstDiagnostics(diagnostics: readonly Diagnostic[], count: number): string {
  return diagnosticLines(diagnostics.slice(0, count)).join('; ');
}

/**
 * Why something with diagnostics is unusable. Several diagnostics get a line each, because the second is
 * often the misspelt key that explains the first.
 * @param so the beginning of the sentence, before the colon
 * @param lint the command that shows all of them
 */
export function becauseOf(so: string, diagnostics: readonly Diagnostic[], lint: string): string {
  const lines = diagnosticLines(diagnostics);
  if (lines.length <= 1) return `${so}: ${lines[0] ?? 'it has errors'}`;
  const left = lines.length - MAX_DIAGNOSTICS;
  const more = left > 0 ? [`and ${plural(left, 'more error', 'more errors')}, which ${lint} shows`] : [];
  return [`${so}:`, ...[...lines.slice(0, MAX_DIAGNOSTICS), ...more].map((line) => `  ${line}`)].join('\n');
}

/**
 * `There is no chain pr-reviw; did you mean pr-review?`, or the existing ones. @param meaning the part of the
 * name to compare
 */
export function noSuch(what: string, name: string, known: readonly string[], meaning = name): string {
  const meant = nearest(meaning, known);
  const hint = meant ? `did you mean ${meant}?` : `there are ${listed([...known], 'and')}.`;
  return `There is no ${what} ${plainLine(name)}; ${hint}`;
}
