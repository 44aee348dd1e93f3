import { redact } from '../../../core/redact/redact.ts';
import { clip } from '../../../messages/text/pretty.ts';
import type { CheckRunFacts } from '../../../ports/github.ts';

/** Of one check, in characters: whoever wants to read more has the check itself. */
const MOST_WORDS = 300;

/** No suite is larger; a longer number is something else. */
const NUMBER = String.raw`(?<![\w.,/:-])(\d{1,7})`;
const TOTAL = new RegExp(
  `${NUMBER} (?:tests?\\b(?! (?:files?|suites?|passed|failed|skipped))|total\\b(?=\\s*(?:$|[.,;:)(])))`,
  'i',
);
const PASSED = new RegExp(`${NUMBER} (?:tests? )?passed\\b`, 'i');
const FAILED = new RegExp(`${NUMBER} (?:tests? )?failed\\b`, 'i');

/**
 * How many tests a check says it ran, in the title or else the summary of its output: GitHub has no field for it. Only plain
 * sentences count, such as `312 tests run` or `39 passed, 3 failed`; `null` is the answer to all others. Whoever can change
 * what CI runs can have it say any number, so this is for reading and for rules that find slips, and no proof.
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

/** Together, over those that say it; `null` when none does. */
export function testsOf(runs: readonly CheckRunFacts[]): number | null {
  const counts = runs.map(testCount).filter((count) => count !== null);
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

/** A check's own words on how it went, on one line; `undefined` without any. They are a stranger's, to be encoded where they are shown. */
export function wordsOf({ title, summary }: Pick<CheckRunFacts, 'title' | 'summary'>): string | undefined {
  const line = [title, summary]
    .map((text) => (text ?? '').replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim())
    .filter((text) => text !== '')
    .join(': ');
  // Before it is cut: half a secret looks like none.
  return line === '' ? undefined : clip(redact(line), MOST_WORDS);
}
