import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const RECORD = join(import.meta.dirname, 'slow-seconds.json');
const HAS_SLOW_TESTS = /@module-tag slow|tags: 'slow'|\beachFirstQuick\b/;

/** What a file counts that the record does not name: those that it names take longer. */
const OTHERS_TAKE_S = 1;

/** The test files with slow tests, as paths from the root of the repository. */
export function slowFiles(): string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path}`)
    .filter((path) => HAS_SLOW_TESTS.test(readFileSync(join(ROOT, path), 'utf8')))
    .sort();
}

/** How many seconds of a run of all slow tests on two cores are due to a file, for those whose slow tests take long. */
export function recordedSeconds(): Record<string, number> {
  return JSON.parse(readFileSync(RECORD, 'utf8'));
}

/**
 * Keeps what is recorded of other files, so that one share after another can be recorded.
 * @param seconds by the full path of a file
 */
export function recordSeconds(seconds: Record<string, number>): void {
  const recorded = recordedSeconds();
  for (const [path, taken] of Object.entries(seconds)) recorded[relative(ROOT, path)] = Math.round(taken);
  const files = slowFiles();
  const long = Object.entries(recorded)
    .filter(([file, taken]) => taken > OTHERS_TAKE_S && files.includes(file))
    .sort(([, a], [, b]) => b - a);
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`);
}

export interface Share {
  files: string[];
  seconds: number;
}

/** So many shares of about the same length: the longest file first, each into what is then the shortest share. */
export function sharesOf(files: readonly string[], count: number): Share[] {
  const recorded = recordedSeconds();
  const secondsOf = (file: string) => recorded[file] ?? OTHERS_TAKE_S;
  const shares: Share[] = Array.from({ length: count }, () => ({ files: [], seconds: 0 }));
  for (const file of files.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const shortest = shares.reduce((least, one) => (one.seconds < least.seconds ? one : least));
    shortest.files.push(file);
    shortest.seconds += secondsOf(file);
  }
  return shares;
}
