import { formatDuration } from '../../core/duration.ts';
import type { CiCheck, CiResult } from '../../domain/outcome/ci-result.ts';
import { ciInWords } from '../run/run-summary.ts';
import { fitting } from '../text/fitting.ts';
import { link } from '../text/link.ts';
import { inline, tableCell } from '../text/markdown.ts';
import { plural } from '../text/pretty.ts';
import { BELOW, type Section, withRest } from '../text/section.ts';

const SHOWN = { items: 40, bytes: 10_000 };
const MARK: Readonly<Record<CiCheck['state'], string>> = {
  failed: '❌',
  pending: '⏳',
  neutral: '⚪',
  passed: '✅',
};
/** Checks that need attention come first. */
const ORDER: readonly CiCheck['state'][] = ['failed', 'pending', 'neutral', 'passed'];

/** The CI result, check by check. */
export function ciMatrix(ci: CiResult, noChecksAllowed: boolean): Section {
  if (ci.checks.length === 0) {
    const setting = noChecksAllowed
      ? 'The settings allow merging without any.'
      : 'The settings require at least one, so CI has not passed.';
    return { markdown: `### CI: no checks ran\n\n${setting}`, cut: false };
  }
  const { lines, left } = fitting(inOrder(ci.checks), row, SHOWN);
  const tests = ci.test_count === null ? [] : [`${plural(ci.test_count, 'test')} ran.`];
  return {
    markdown: [
      `### CI: ${ciInWords(ci)}`,
      [HEAD, ...lines].join('\n'),
      ...(left === 0 ? [] : [`… and ${plural(left, 'more check', 'more checks')}, ${BELOW}.`]),
      ...tests,
      ...failedCommands(ci),
    ].join('\n\n'),
    cut: left > 0,
  };
}

const HEAD = '| | Check | Result | Took |\n|---|---|---|---:|';

function row(check: CiCheck): string {
  const name = link(tableCell(check.name, 120), check.url);
  const took = check.duration_ms === null ? '' : formatDuration(check.duration_ms);
  return `| ${MARK[check.state]} | ${name}${check.required ? ' (required)' : ''} | ${tableCell(resultText(check), 200)} | ${took} |`;
}

/** With a failed check's own description, which is often all that a reader needs. */
function resultText({ conclusion, said }: CiCheck): string {
  const result = conclusion.replaceAll('_', ' ');
  return said === undefined ? result : `${result}: ${said}`;
}

/** Only failed commands. Passed ones would be many lines without information. */
function failedCommands({ commands }: CiResult): string[] {
  const failed = commands.filter(({ passed }) => !passed);
  if (failed.length === 0) return [];
  const shown = fitting(
    failed,
    ({ command, duration_ms }) => `- ❌ ${inline(command, 200)} failed after ${formatDuration(duration_ms)}`,
    { items: 20, bytes: 2_000 },
  );
  return [withRest(shown, 'which the outcome of this step has')];
}

function inOrder(checks: readonly CiCheck[]): CiCheck[] {
  return [...checks].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}

/** Every check, one line each, for the text below the summary. */
export function everyCheck(ci: CiResult, whereElse: string): string {
  const { lines, left } = fitting(inOrder(ci.checks), row, { items: 1_000, bytes: 20_000 });
  const rest = left === 0 ? [] : [`… and ${plural(left, 'more check', 'more checks')}, ${whereElse}.`];
  return [`### All checks`, [HEAD, ...lines].join('\n'), ...rest].join('\n\n');
}
