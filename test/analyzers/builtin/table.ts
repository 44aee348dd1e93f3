import { describe, expect, test } from 'vitest';
import type { FileSet, Found, OwnFile } from '../../../src/analyzers/builtin/each-file.ts';
import { type AnalyzerName, RULES } from '../../../src/domain/skill/analyzer-rules.ts';

/** A rule, a text that it finds, and a similar one that it does not. */
export type Row<Input> = [rule: string, found: Input, leftAlone: Input];

/** Tests every row both ways, and that every rule of the analyzer has a row. */
export function describeRules<Input>(
  analyzer: AnalyzerName,
  rows: readonly Row<Input>[],
  rulesIn: (input: Input) => readonly string[],
): void {
  describe(`${analyzer}: a rule`, () => {
    test.each(rows)('%s finds %j and not %j', (rule, found, leftAlone) => {
      expect(rulesIn(found)).toContain(rule);
      expect(rulesIn(leftAlone)).not.toContain(rule);
    });

    test('has a row in the table', () => {
      expect([...new Set(rows.map(([rule]) => rule))].sort()).toEqual([...RULES[analyzer]].sort());
    });
  });
}

type Look = (file: OwnFile, fileSet: FileSet) => readonly Found<string>[];

/** The findings in one of the files, as `rule:line`. `others` are paths beside it. */
export function lookAt(
  look: Look,
  path: string,
  files: Readonly<Record<string, { text: string; before?: string } | string>>,
  others: readonly string[] = [],
): string[] {
  const own = Object.entries(files).map(
    ([path, file]): OwnFile => ({ path, ...(typeof file === 'string' ? { text: file } : file) }),
  );
  const file = own.find((one) => one.path === path);
  if (!file) throw new Error(`the test has no file ${path}`);
  const tree = new Set([...own.map(({ path }) => path), ...others]);
  return look(file, { files: own, tree }).map(({ rule, line }) => `${rule}:${line}`);
}

export const rulesOf = (found: readonly string[]) => found.map((one) => one.replace(/:\d+$/, ''));
