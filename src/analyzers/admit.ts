import { type ChangedLines, changedLines } from '../core/hunks.ts';
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

/** The most text per review, in bytes. 3,000 files of usual size fit. */
const MAX_TOTAL_BYTES = 24_000_000;
/** GitHub lists at most this many files of a pull request, so at the limit there may be more. */
export const MAX_FILES = 3_000;
export const UNKNOWN_LANGUAGE = 'no analyzer knows its language: searched for secrets only';

/** Something that was not reviewed, or not completely. `needed`: without it there is no verdict. */
export interface Omission extends LeftOut {
  needed: boolean;
}

/** A file for the analyzers. */
export interface AdmittedFile {
  path: string;
  /** Its name in the child process. */
  name: string;
  /** `other` includes files that are only scanned for secrets. */
  language: Language;
  text: string;
  lines: readonly string[];
  changed: ChangedLines;
  /** GitHub's patch, if the changed lines come from it. */
  patch?: string;
  test: boolean;
}

export interface Admission {
  files: AdmittedFile[];
  leftOut: Omission[];
}

/** The rules of one kind of review for accepting files. */
export interface Admittance {
  /** Whether there is no verdict without this file. */
  isNeeded(path: string): boolean;
  /**
   * Why a file is only scanned for secrets; `undefined` if every analyzer may read it. Lines are measured in
   * characters.
   */
  secretsOnly(path: string, longestLine: number): string | undefined;
  /** Per file. */
  maxBytes: number;
}

/** The review of all changes. */
const ALL_CHANGES: Admittance = {
  isNeeded: isCode,
  secretsOnly: secretsOnlyReason,
  maxBytes: MAX_FILE_BYTES,
};

/**
 * Divides the changed files into those that can be reviewed and those that cannot, with a reason for each.
 * Pure.
 */
export function admit(changedFiles: readonly ChangedFile[], admittance = ALL_CHANGES): Admission {
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
  // Code first: if the total is reached, skipping data is better.
  const inOrder = [
    ...changedFiles.filter((file) => isCode(file.path)),
    ...changedFiles.filter((file) => !isCode(file.path)),
  ];
  for (const file of inOrder) {
    if (file.status === 'removed' || file.status === 'unchanged' || isPureRename(file, attributesChanged))
      continue;
    const omit = (reason: string, seenBy: SeenBy = 'nobody', needed = admittance.isNeeded(file.path)) => {
      const isReported = !needed && isRunnable(file.path);
      leftOut.push({ path: file.path, reason, needed, ...(isReported && { seen_by: seenBy }) });
    };

    const unsafe = unsafePathReason(file.path);
    if (unsafe !== undefined) {
      omit(`its path cannot be used: ${unsafe}`, 'nobody', true);
      continue;
    }
    const size = file.content?.byteLength ?? 0;
    const reason = unreadableReason({ path: file.path, size, maxBytes: admittance.maxBytes }) ?? file.leftOut;
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
    const text = decode(file.content, admittance.maxBytes);
    if (text === undefined) {
      omit('not UTF-8 text');
      continue;
    }
    total += size;
    const lines = text.split('\n');
    const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
    const secretsOnly = admittance.secretsOnly(file.path, longest);
    const language = secretsOnly === undefined ? languageOf(file.path) : 'other';
    if (secretsOnly !== undefined) omit(secretsOnly, 'secret_search');
    else if (admittance === ALL_CHANGES && language === 'other' && isRunnable(file.path)) {
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
 * A rename without changes. GitHub also sends no patch, and counts no changes, for files that Git treats as
 * binary: those with a NUL, or so declared in a `.gitattributes`, which this pull request may have changed.
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
 * Analyzers disagree on whether a lone carriage return or a Unicode line separator ends a line; Git counts
 * only line feeds. Such a character could move a finding off its changed line and hide it. So then every line
 * counts as changed.
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
