import { memberOf } from '../../core/mapping.ts';
import { VERDICTS } from '../../domain/outcome/review-verdict.ts';
import { parseJson } from './columns.ts';

/** Rows of versions before there were results. */
export const UNKNOWN = '?';

/**
 * The result of an outcome for searches: `passed`, `failed` or `none`, and the verdict of a review after it. Empty for a
 * blob. It has its own column because a database cannot look into a content that is packed.
 */
export function resultOf(content: string | null): string {
  if (content === null) return '';
  const outcome = parseJson<unknown>(content);
  const passed = memberOf(outcome, 'passed');
  const word = passed === true ? 'passed' : passed === false ? 'failed' : 'none';
  const verdict = VERDICTS.find((one) => one === memberOf(outcome, 'verdict'));
  return verdict === undefined ? word : `${word} ${verdict}`;
}

/** The kinds and results of a run's artifacts, each once, in lines. A search opens only archives in which it can find something. */
export function resultsOf(artifacts: readonly (StoredResult & { kind: string })[]): string {
  const lines = artifacts.map((row) => `${row.kind} ${knownResult(row)}\n`);
  return `\n${[...new Set(lines)].join('')}`;
}

/** `result` is missing in archives of versions before there were results. */
export interface StoredResult {
  result?: string | undefined;
  content: string | null;
}

export function knownResult({ result, content }: StoredResult): string {
  return result === undefined || result === UNKNOWN ? resultOf(content) : result;
}
