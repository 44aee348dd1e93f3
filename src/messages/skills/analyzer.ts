import type { Diagnostic } from '../../core/diagnostic.ts';
import { formatDiagnostic } from '../../core/diagnostic.ts';
import { formatDuration } from '../../core/duration.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { plural } from '../text/pretty.ts';

/** Why the analyzers of a package gave no verdict, as parts of a sentence. */
export const NEEDS_A_REVIEW = 'analyzers produce a review_verdict, and the SKILL.md names another outcome';

export const NO_LIST_OF_FILES =
  'the repository has more files than GitHub lists, so nobody can tell which there are';

/** Shown instead of a path if what was left out is no single file. */
export const ALL_FILES = '(the files of the repository)';

export function brokenAnalyzer(diagnostics: readonly Diagnostic[]): string {
  const [first] = diagnostics;
  return first ? plainLine(formatDiagnostic(first)) : 'the settings of an analyzer cannot be read';
}

const ENDED = { ok: 'done', timed_out: 'took too long', crashed: 'failed' };

/** A line for those who watch the step. It quotes nothing, because which texts are secrets is not known yet. */
export function analyzerEnded(
  { analyzer, status, durationMs }: { analyzer: string; status: keyof typeof ENDED; durationMs: number },
  files: number,
): string {
  return `${analyzer}: ${ENDED[status]} after ${formatDuration(durationMs)}, ${plural(files, 'file')}\n`;
}

/** The description of a finding on lines that the pull request only moved or indented. */
export function existedBefore(description: string): string {
  return `${description} The same lines were in this file before the change, so this does not block it.`;
}
