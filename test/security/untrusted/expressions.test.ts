// @module-tag security

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { compileExpression, ExpressionError } from '../../../src/domain/expression/condition.ts';
import { renderText, renderWith } from '../../../src/domain/expression/template.ts';
import { prose } from '../../../src/messages/text/markdown.ts';
import { EXPRESSION_ATTACKS } from './expression-corpus.ts';

// test/domain/expression/expression-attacks.test.ts has single expressions, each with its refusal or value.

/** A context in which every read is noticed: reading anything but own data hits a trap. */
function trapped(): { context: object; touched: string[] } {
  const touched: string[] = [];
  const trap = (name: string) => () => {
    touched.push(name);
    return 'escaped';
  };
  const pull = Object.create(
    { inherited: trap('inherited') },
    {
      getter: { enumerable: true, get: trap('getter') },
      title: { enumerable: true, value: 'a title' },
      method: { enumerable: true, value: trap('method') },
      toString: { enumerable: true, value: trap('toString') },
      valueOf: { enumerable: true, value: trap('valueOf') },
      toJSON: { enumerable: true, value: trap('toJSON') },
      [Symbol.toPrimitive]: { enumerable: true, value: trap('toPrimitive') },
      [Symbol.iterator]: { enumerable: true, value: trap('iterator') },
    },
  );
  const proxy = new Proxy(
    { own: 1 },
    { get: trap('proxy get'), has: () => trap('proxy has')() === '', apply: trap('proxy apply') },
  );
  return { context: { trigger: { pull, proxy, list: [pull, proxy] }, repo: {}, steps: {} }, touched };
}

describe('the corpus', () => {
  test('has at least 100 attacks, each once', () => {
    expect(new Set(EXPRESSION_ATTACKS).size).toBe(EXPRESSION_ATTACKS.length);
    expect(EXPRESSION_ATTACKS.length).toBeGreaterThanOrEqual(100);
  });

  test.each(EXPRESSION_ATTACKS.map((attack) => [attack.slice(0, 60), attack]))(
    'does nothing by %s',
    (_, attack) => {
      const { context, touched } = trapped();
      let value: unknown;
      try {
        value = compileExpression(attack).evaluate(context);
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionError);
      }
      expect(touched).toEqual([]);
      expect(JSON.stringify(value) ?? '').not.toMatch(/escaped|native code|\[object/);
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );

  test('as conditions and inputs of chains gives errors with a place, or data', { tags: 'slow' }, () => {
    for (const attack of EXPRESSION_ATTACKS) {
      const step = { action: 'gh-label', condition: attack, with: { labels: [`{{ ${attack} }}`] } };
      const text = JSON.stringify({ name: 'a', trigger: { event: 'pr.opened' }, steps: [step] });
      const { chain, diagnostics } = parseChain(text, 'a.yaml', { skills: [], actions: ['gh-label'] });
      const { context, touched } = trapped();
      if (chain) renderWith(chain.steps[0]?.with ?? {}, context);
      else expect(diagnostics.every(({ line, column }) => line === 1 && column > 1)).toBe(true);
      expect(touched).toEqual([]);
    }
  });
});

test('every attack takes little work, and all of them together take less than 4 MB', {
  tags: 'slow',
}, async () => {
  const script = fileURLToPath(new URL('./fixtures/measure-expressions.ts', import.meta.url));
  const flags = [
    '--disable-warning=ExperimentalWarning',
    // The program itself, with what it reads from, fills 12 of them: with 11 and no attacks at all it runs out of memory.
    '--max-old-space-size=16',
    '--max-semi-space-size=1',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script], { env: {} });
  expect(JSON.parse(stdout)).toEqual({ count: EXPRESSION_ATTACKS.length, tooMuch: [] });
});

test('two adjacent values do not form a mention that neither of them is', () => {
  const context = { trigger: { a: '@', b: 'octo/owners', c: 'closes #', d: '12' } };
  const text = renderText('{{ trigger.a }}{{ trigger.b }} {{ trigger.c }}{{ trigger.d }}', context, (value) =>
    prose(value),
  );
  expect(text).toBe('@&#8203;octo/owners closes #&#8203;12');
});
