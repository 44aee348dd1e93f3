import { unsafePathReason } from '../core/path.ts';
import type { LeftOut, SeenBy } from '../domain/outcome/review-verdict.ts';
import {
  type ChangedFile,
  isCode,
  isRunnable,
  isTestPath,
  type Language,
  languageOf,
  MAX_FILE_BYTES,
  neutralName,
  secretsOnlyReason,
  unreadableReason,
} from './changed-file.ts';
import { type ChangedLines, changedLines } from './hunks.ts';

/** The most text that one review reads, in bytes; 3,000 files of usual size fit. */
export const MAX_TOTAL_BYTES = 24_000_000;
/** GitHub lists no more files of a pull request than this; at the limit there may be more. */
export const MAX_FILES = 3_000;
export const UNKNOWN_LANGUAGE = 'no analyzer knows its language: searched for secrets only';

/** Something that was not reviewed, or not in full. `needed`: without it there can be no verdict. */
export interface Omission extends LeftOut {
  needed: boolean;
}

/** A file that the analyzers see. */
export interface AdmittedFile {
  path: string;
  /** What it is called in the child process. */
  name: string;
  /** `other` also for files of which only secrets are looked for. */
  language: Language;
  text: string;
  lines: readonly string[];
  changed: ChangedLines;
  /** GitHub's patch, when it says which lines those are. */
  patch?: string;
  test: boolean;
}

export interface Admission {
  files: AdmittedFile[];
  leftOut: Omission[];
}

/** What one kind of review asks of files. */
export interface Admittance {
  /** Whether there is no verdict without this file. */
  isNeeded(path: string): boolean;
  /** Why only secrets are looked for in a file, or `undefined` when every analyzer may look at it; lines are counted in characters. */
  secretsOnly(path: string, longestLine: number): string | undefined;
  /** Of one file. */
  maxBytes: number;
}

/** The review of everything that changes. */
const OF_ALL: Admittance = {
  isNeeded: isCode,
  secretsOnly: secretsOnlyReason,
  maxBytes: MAX_FILE_BYTES,
};

/** Sorts the changed files into those that can be reviewed and those that cannot, each with a word why. Pure. */
export function admit(changedFiles: readonly ChangedFile[], asked = OF_ALL): Admission {
  const files: AdmittedFile[] = [];
  const leftOut: Omission[] = [];
  let total = 0;
  if (changedFiles.length >= MAX_FILES) {
    leftOut.push({
      path: `(any file beyond the first ${MAX_FILES.toLocaleString('en-GB')})`,
      reason: 'GitHub lists no more files of one pull request',
      needed: true,
    });
  }
  const attributesChanged = changedFiles.some((file) => /(?:^|\/)\.gitattributes$/.test(file.path));
  // Code first: when the total is reached, it is better to have skipped data.
  const inOrder = [
    ...changedFiles.filter((file) => isCode(file.path)),
    ...changedFiles.filter((file) => !isCode(file.path)),
  ];
  for (const file of inOrder) {
    if (file.status === 'removed' || file.status === 'unchanged' || isPureRename(file, attributesChanged))
      continue;
    const omit = (reason: string, seenBy: SeenBy = 'nobody', needed = asked.isNeeded(file.path)) => {
      const isTold = !needed && isRunnable(file.path);
      leftOut.push({ path: file.path, reason, needed, ...(isTold && { seen_by: seenBy }) });
    };

    const unsafe = unsafePathReason(file.path);
    if (unsafe !== undefined) {
      omit(`its path cannot be used: ${unsafe}`, 'nobody', true);
      continue;
    }
    const size = file.content?.byteLength ?? 0;
    const reason = unreadableReason({ path: file.path, size, maxBytes: asked.maxBytes }) ?? file.leftOut;
    if (reason !== undefined) {
      omit(reason);
      continue;
    }
    if (file.content === undefined) {
      omit('its content could not be fetched', 'nobody', true);
      continue;
    }
    if (total + size > MAX_TOTAL_BYTES) {
      omit(`beyond the ${MAX_TOTAL_BYTES / 1_000_000} MB of text that one review reads`);
      continue;
    }
    const text = decode(file.content, asked.maxBytes);
    if (text === undefined) {
      omit('not UTF-8 text');
      continue;
    }
    total += size;
    const lines = text.split('\n');
    const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
    const secretsOnly = asked.secretsOnly(file.path, longest);
    const language = secretsOnly === undefined ? languageOf(file.path) : 'other';
    if (secretsOnly !== undefined) omit(secretsOnly, 'secret_search');
    else if (asked === OF_ALL && language === 'other' && isRunnable(file.path)) {
      omit(UNKNOWN_LANGUAGE, 'secret_search', false);
    }
    if (file.status !== 'added' && file.patch === undefined) {
      const reason = 'GitHub sent no diff, so findings anywhere in the file count';
      leftOut.push({ path: file.path, reason, needed: false });
    }
    const changed = linesOf(file, text);
    files.push({
      path: file.path,
      name: neutralName(files.length, file.path),
      language,
      text,
      lines,
      changed,
      ...(changed !== 'all' && file.patch !== undefined && { patch: file.patch }),
      test: isTestPath(file.path),
    });
  }
  return { files, leftOut };
}

/**
 * A rename whose patch is absent because nothing changed. GitHub also sends none, and counts no change, for what Git
 * takes for binary: that is a NUL in the content, or a `.gitattributes` that this very pull request may have changed.
 */
function isPureRename(file: ChangedFile, attributesChanged: boolean): boolean {
  return (
    file.status === 'renamed' &&
    file.patch === undefined &&
    (file.changes ?? 0) === 0 &&
    file.leftOut === undefined &&
    !attributesChanged &&
    !file.content?.includes(0)
  );
}

/**
 * Analyzers differ in whether a lone carriage return or a Unicode line separator ends a line, Git counts line feeds
 * only. Such a character could move a finding off its changed line and so hide it, hence every line counts then.
 */
function linesOf(file: ChangedFile, text: string): ChangedLines {
  if (file.patch === undefined || /\r(?!\n)|[\v\f\u0085\u2028\u2029]/.test(text)) return 'all';
  return changedLines(file.patch, text);
}

function decode(content: Uint8Array, maxBytes: number): string | undefined {
  if (content.byteLength > maxBytes || content.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}
