import type { Language } from './changed-file.ts';

/** A file as an analyzer sees it: text without its path. `index` is how findings refer back to it. */
export interface SourceFile {
  index: number;
  /** A neutral name with a known extension, safe to write and to pass on. */
  name: string;
  language: Language;
  text: string;
}

/** What an analyzer says, before it is known whether the pull request changed the place. Lines count from 1. */
export interface RawFinding {
  file: number;
  rule: string;
  line: number;
  endLine?: number;
  /** Other lines that are part of the cause; the finding moves to one of them when only that was changed. */
  alsoAt?: readonly number[];
  /** It kept the analyzer from the rest of the file, so it is told whatever of the file was changed. */
  wholeFile?: true;
  /** The analyzer's own words, for the `{message}` in a rule's description. */
  message?: string;
}

export interface Analysis {
  findings: RawFinding[];
  /** Raw output, for the log. */
  log: string;
  /** Literal secrets that were found, so that nothing shows them. */
  secrets?: string[];
}

/**
 * The one export of an analyzer's module. It runs in a thread of its own inside the worker process, with an empty
 * environment and an empty working directory; throwing makes the review incomplete.
 */
export type Analyze<Config> = (files: readonly SourceFile[], config: Config) => Promise<Analysis>;

/** Of what kept an analyzer from a file; its words name the line, since it may be shown at another. */
export function ofWholeFile(line: number, message: string): Pick<RawFinding, 'wholeFile' | 'message'> {
  return { wholeFile: true, message: `line ${line}: ${message}` };
}

/** Tells the line of a character offset, from 1. The line ends are looked up once: one file may hold 30,000 findings. */
export function linesIn(text: string): (offset: number) => number {
  const ends: number[] = [];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) ends.push(at);
  return (offset) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

/**
 * The text with every comment that would switch an analyzer off made meaningless, at the same length so that places
 * stay. Whoever is reviewed does not decide what is looked at.
 */
export function withoutSuppressions(text: string): string {
  return text
    .replace(/\b(oxlint|eslint)-(disable|enable)/gi, '$1_$2')
    .replace(/\bnoqa\b/gi, 'n0qa')
    .replace(/#(\s*)(ruff|flake8)(\s*):/gi, '#$1$2$3_');
}
