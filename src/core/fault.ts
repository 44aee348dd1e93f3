import { distance } from 'fastest-levenshtein';

/** One thing wrong in a file that a person wrote. Lines and columns count from 1. */
export interface Diagnostic {
  file: string;
  line: number;
  column: number;
  /** What is wrong and what is allowed, as one sentence without the position. */
  message: string;
}

/** `file:line:col: message`, the form editors and terminals turn into links. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  return `${diagnostic.file}:${diagnostic.line}:${diagnostic.column}: ${diagnostic.message}`;
}

/** The allowed word that the given one was probably meant to be, if any is near enough to be worth saying. */
export function nearest(word: string, allowed: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: { word: string; far: number } | undefined;
  for (const candidate of allowed) {
    const far = distance(word.toLowerCase(), candidate.toLowerCase());
    if (far <= limit && (!best || far < best.far)) best = { word: candidate, far };
  }
  return best?.word;
}

/** `"pr.open" is not …: did you mean "pr.opened"? Allowed: …`, for any closed list of words. */
export function notAllowed(said: string, allowed: readonly string[], word = said): string {
  const meant = nearest(word, allowed);
  const list = allowed.length > 0 ? allowed.join(', ') : 'none';
  return meant ? `${said}: did you mean "${meant}"? Allowed: ${list}` : `${said}; allowed: ${list}`;
}
