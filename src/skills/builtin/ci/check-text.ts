import { redact } from '../../../core/redact/redact.ts';
import { clip } from '../../../messages/text/pretty.ts';
import type { CheckRunFacts } from '../../../ports/github.ts';

/** Per check, in characters. The check itself has the full text. */
const MAX_LENGTH = 300;

/** No suite is larger; a longer number means something else. */
const NUMBER = String.raw`(?<![\w.,/:-])(\d{1,7})`;
const TOTAL = new RegExp(
  `${NUMBER} (?:tests?\\b(?! (?:files?|suites?|passed|failed|skipped))|total\\b(?=\\s*(?:$|[.,;:)(])))`,
  'i',
);
const PASSED = new RegExp(`${NUMBER} (?:tests? )?passed\\b`, 'i');
const FAILED = new RegExp(`${NUMBER} (?:tests? )?failed\\b`, 'i');

/**
 * How many tests a check reports in the title or else the summary of its output, because GitHub has no field
 * for it. Recognises only plain sentences, such as `312 tests run` or `39 passed, 3 failed`, and otherwise
 * returns `null`. Anybody who can change the CI configuration can make it report any number. So the number
 * serves readers, and rules that find mistakes; it proves nothing.
 */
export function testCount({ title, summary }: Pick<CheckRunFacts, 'title' | 'summary'>): number | null {
  return countIn(title ?? '') ?? countIn(summary ?? '');
}

function countIn(text: string): number | null {
  const total = TOTAL.exec(text)?.[1];
  if (total !== undefined) return Number(total);
  const passed = PASSED.exec(text)?.[1];
  return passed === undefined ? null : Number(passed) + Number(FAILED.exec(text)?.[1] ?? 0);
}

/** The sum over the checks that report a number; `null` if none does. */
export function testsOf(runs: readonly CheckRunFacts[]): number | null {
  const counts = runs.map(testCount).filter((count) => count !== null);
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

/**
 * A check's own summary, on one line; `undefined` if it has none. The text is untrusted, so encode it where
 * you show it.
 */
export function summaryOf({ title, summary }: Pick<CheckRunFacts, 'title' | 'summary'>): string | undefined {
  const line = [title, summary]
    .map((text) => (text ?? '').replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim())
    .filter((text) => text !== '')
    .join(': ');
  // Redact before clipping: half a secret is not recognised as one.
  return line === '' ? undefined : clip(redact(line), MAX_LENGTH);
}
