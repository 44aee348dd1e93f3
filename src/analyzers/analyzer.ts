import type { Language } from './changed-file.ts';
import type { Edit } from './fix.ts';

/** A file as an analyzer sees it: text without its path. Findings refer to it by `index`. */
export interface SourceFile {
  index: number;
  /** A neutral name with a known extension, safe as a file name and argument. */
  name: string;
  language: Language;
  text: string;
}

/** A finding before it is known whether the pull request changed its lines. Lines count from 1. */
export interface RawFinding {
  file: number;
  rule: string;
  line: number;
  endLine?: number;
  /** Other lines that belong to the cause. If only one of them was changed, the finding moves there. */
  alsoAt?: readonly number[];
  /**
   * The problem kept the analyzer from reading the rest of the file, so it is reported whatever lines were
   * changed.
   */
  wholeFile?: true;
  /** The analyzer's message, for the `{message}` in a rule's description. */
  message?: string;
  /** How the analyzer would correct it. */
  edits?: readonly Edit[];
}

export interface Analysis {
  findings: RawFinding[];
  /** Raw output, for the log. */
  log: string;
  /** The literal secrets that were found, so that they can be redacted everywhere. */
  secrets?: string[];
}

/**
 * The single export of an analyzer's module. It runs in its own thread of the worker process, with an empty
 * environment and an empty working directory. An exception makes the review incomplete.
 */
export type Analyze<Config> = (files: readonly SourceFile[], config: Config) => Promise<Analysis>;

/**
 * For problems that kept an analyzer from reading a file. The message names the line, because the finding may
 * appear at another.
 */
export function ofWholeFile(line: number, message: string): Pick<RawFinding, 'wholeFile' | 'message'> {
  return { wholeFile: true, message: `line ${line}: ${message}` };
}

/**
 * Returns a function that maps a character offset to its line, from 1. It indexes the line ends once, because
 * a file can have 30,000 findings.
 */
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
 * The text with comments that would disable an analyzer made ineffective, at equal length so that positions
 * stay. The author under review must not decide what is checked.
 */
export function withoutSuppressions(text: string): string {
  return text
    .replace(/\b(oxlint|eslint)-(disable|enable)/gi, '$1_$2')
    .replace(/\bnoqa\b/gi, 'n0qa')
    .replace(/#(\s*)(ruff|flake8)(\s*):/gi, '#$1$2$3_');
}
