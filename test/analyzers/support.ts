import type { ChangedFile } from '../../src/analyzers/changed-file.ts';
import { type ReviewOptions, reviewFiles } from '../../src/analyzers/review.ts';
import type { Finding } from '../../src/domain/outcome/finding.ts';

/** A file that the pull request adds, so that every line counts. */
export function added(path: string, text: string): ChangedFile {
  return { path, status: 'added', content: Buffer.from(text) };
}

/** A file in which the pull request changed only the given lines (counted from 1). */
export function modified(path: string, text: string, changed: readonly number[]): ChangedFile {
  const lines = text.split('\n');
  const patch = changed.map((line) => `@@ -${line} +${line} @@\n-old\n+${lines[line - 1]}`).join('\n');
  return { path, status: 'modified', content: Buffer.from(text), patch };
}

/** Only ends what hangs: no analyzer may reach it because the machine is slow. */
const GENEROUS_MS = 100_000;

export async function review(files: readonly ChangedFile[], options: Partial<ReviewOptions> = {}) {
  const signal = new AbortController().signal;
  const { report } = await reviewFiles(files, { timeoutMs: GENEROUS_MS, signal, ...options });
  return report;
}

/** `rule:line` of each finding, as the tables of the tests expect it. */
export function placesOf(findings: readonly Finding[]): string[] {
  return findings.map((finding) => `${finding.severity} ${finding.rule}:${finding.line}`);
}

/** A made-up secret, in parts, so that scanners of this repository do not report it. */
export function fake(...parts: string[]): string {
  return parts.join('');
}
