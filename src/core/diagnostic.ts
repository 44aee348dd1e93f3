import { distance } from 'fastest-levenshtein';

/** One problem in a file that a person wrote. Lines and columns count from 1. */
export interface Diagnostic {
  file: string;
  line: number;
  column: number;
  /** What is wrong and what is allowed, as one sentence without the position. */
  message: string;
  /** A warning does not keep the file from being used. Left out: an error, which does. */
  severity?: 'warning';
}

/** `file:line:col: message`, with `warning: ` before the message of a warning, which editors and terminals turn into links. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, message, severity } = diagnostic;
  return `${file}:${line}:${column}: ${severity === undefined ? '' : `${severity}: `}${message}`;
}

/** The allowed word that `word` is probably a misspelling of: at most a third of its letters differ. */
export function nearest(word: string, allowed: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: { word: string; edits: number } | undefined;
  for (const candidate of allowed) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits <= limit && (!best || edits < best.edits)) best = { word: candidate, edits };
  }
  return best?.word;
}

/** How many allowed words are listed: a repository can have thousands of chains. */
const MAX_LISTED = 50;

/** `"pr.open" is not …: did you mean "pr.opened"? Allowed: …`, for any closed list of words. */
export function notAllowed(sentence: string, allowed: readonly string[], word = sentence): string {
  const meant = nearest(word, allowed);
  const more = allowed.length - MAX_LISTED;
  const shown = more > 0 ? [...allowed.slice(0, MAX_LISTED), `${more} more`] : allowed;
  const list = shown.length > 0 ? shown.join(', ') : 'none';
  return meant ? `${sentence}: did you mean "${meant}"? Allowed: ${list}` : `${sentence}; allowed: ${list}`;
}
