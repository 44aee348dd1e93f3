// @module-tag security

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../../src/core/canonical.ts';
import { parseSettings } from '../../../src/domain/chain/settings.ts';
import {
  FAILURE_POLICIES,
  writtenCriterionSchema,
  writtenGateSchema,
} from '../../../src/domain/gate/gate.ts';
import { FACT_NAMES, type Facts, known } from '../../../src/domain/policy/facts/fact.ts';
import { question } from '../../../src/domain/policy/gate/judge.ts';
import { errorsOf, KNOWN } from '../../support/chains.ts';

const page = readFileSync(new URL('../../../docs/gates.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(?:yaml|text) (\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, kind = '', text = '']) => ({ kind, text }),
);

/** The blocks of one kind, each with the blocks right after it. */
function examples(kind: string, after: number): string[][] {
  return blocks.flatMap((block, index) =>
    block.kind === kind ? [blocks.slice(index, index + after + 1).map(({ text }) => text)] : [],
  );
}

describe('docs/gates.md', () => {
  test('has examples of each kind that the test runs, and of no other kind', () => {
    expect([...new Set(blocks.map(({ kind }) => kind))].sort()).toEqual(
      ['chain', 'criteria', 'diagnostics', 'facts', 'faulty', 'settings', 'verdict'].sort(),
    );
  });

  test.each(examples('chain', 0))('has a chain that parses: %s', (text) => {
    expect(errorsOf(text)).toEqual([]);
  });

  test.each(examples('settings', 0))('has settings that parse: %s', (text) => {
    expect(parseSettings(text, 'countersign.yml', KNOWN).diagnostics).toEqual([]);
  });

  test.each(examples('criteria', 2))(
    'has a criterion whose result on the facts is as shown: %s',
    (text, facts, said) => {
      const criterion = { kind: 'expression', id: 'it', if: (parse(text) as { if: string }).if } as const;
      const read: Facts = Object.fromEntries(
        Object.entries(parse(facts ?? '') as Record<string, Json>).map(([name, value]) => [
          name,
          known(value),
        ]),
      );
      const { passed, evidence } = question(criterion, {
        facts: read,
        context: {},
        now: new Date(0),
      }).judge();
      expect(`${passed ? 'passed' : 'not passed'}: ${evidence}\n`).toBe(said);
    },
  );

  test.each(examples('faulty', 1))('quotes the errors of %s', (text, diagnostics = '') => {
    expect(errorsOf(text)).toEqual(diagnostics.trimEnd().split('\n'));
  });

  test.each([
    ...FACT_NAMES.map((name) => `pr.${name}`),
    ...FAILURE_POLICIES,
    ...Object.keys(writtenGateSchema.shape),
    ...Object.keys(writtenCriterionSchema.shape).filter((key) => key !== 'codeowners'),
  ])('mentions `%s`', (word) => {
    expect(page).toContain(`\`${word}\``);
  });
});
