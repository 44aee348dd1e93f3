// @module-tag security

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { writtenRuleSchema } from '../../../src/domain/rule/rule.ts';
import { RuleSet } from '../../../src/domain/rule/rule-set.ts';
import { errorsOf } from '../../support/chains.ts';

const page = readFileSync(new URL('../../../docs/rules.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(?:yaml|text) (\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, kind = '', text = '']) => ({ kind, text }),
);

/** The blocks of one kind, each with the blocks right after it. */
function examples(kind: string, after: number): string[][] {
  return blocks.flatMap((block, index) =>
    block.kind === kind ? [blocks.slice(index, index + after + 1).map(({ text }) => text)] : [],
  );
}

describe('docs/rules.md', () => {
  test('has examples of each kind that the test runs, and of no other kind', () => {
    const kinds = blocks.map(({ kind }) => kind);
    expect([...new Set(kinds)].sort()).toEqual([
      'chain',
      'diagnostics',
      'errors',
      'faulty',
      'rules',
      'values',
    ]);
    expect(kinds.filter((kind) => kind === 'rules').length).toBeGreaterThanOrEqual(3);
  });

  test.each(examples('chain', 0))('has a chain that parses: %s', (text) => {
    expect(errorsOf(text)).toEqual([]);
  });

  test.each(examples('rules', 2))(
    'has rules whose results on values are as shown: %s',
    (rules, values, errors) => {
      const set = new RuleSet(z.array(writtenRuleSchema).parse(parse(rules)));
      const said = set.check(parse(values ?? '')).map(({ rule_id, message }) => `${rule_id}: ${message}\n`);
      expect(said.join('')).toBe(errors);
    },
  );

  test.each(examples('faulty', 1))('quotes the errors of %s', (text, diagnostics = '') => {
    expect(errorsOf(text)).toEqual(diagnostics.trimEnd().split('\n'));
  });

  test.each(writtenRuleSchema.options.flatMap(({ shape }) => [...Object.keys(shape), shape.check.value]))(
    'mentions `%s`',
    (word) => {
      expect(page).toContain(`\`${word}\``);
    },
  );
});
