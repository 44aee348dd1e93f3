import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/core/canonical.ts';
import { answer } from '../../../../src/skills/kinds/code/answer.ts';
import { Ledger } from '../../../../src/skills/kinds/code/budget.ts';
import { type CodeHost, HostRefusal } from '../../../../src/skills/kinds/code/host.ts';
import { type Budget, DEFAULT_LIMITS } from '../../../../src/skills/kinds/code/limits.ts';
import type { HostFunction } from '../../../../src/skills/kinds/code/protocol.ts';
import { fakeHost } from '../../../security/sandbox/support.ts';

interface Setting {
  host?: Partial<CodeHost>;
  budget?: Partial<Record<HostFunction, Partial<Budget>>>;
}

/** Asks one question after another in one execution. */
function asking({ host = {}, budget = {} }: Setting = {}) {
  const budgets = { ...DEFAULT_LIMITS.budgets };
  for (const name of Object.keys(budget) as HostFunction[])
    budgets[name] = { ...budgets[name], ...budget[name] };
  const ledger = new Ledger(budgets);
  const { signal } = new AbortController();
  let id = 0;
  return async (name: string, ...values: Json[]): Promise<Json> => {
    id += 1;
    const call = { kind: 'call', id, function: name, arguments: values } as const;
    const reply = await answer(call, fakeHost(host), ledger, signal);
    expect(reply.id).toBe(id);
    return 'answer' in reply ? reply.answer : `refused: ${reply.refused}`;
  };
}

describe('a question of a program', () => {
  test.each([
    ['search', ['x'], [{ path: 'a.ts', line: 3, text: 'has x' }]],
    ['get_file', ['a.ts'], 'content of a.ts'],
    ['get_file', ['none'], null],
    [
      'get_files',
      [['a', 'none']],
      [
        { path: 'a', content: 'content of a' },
        { path: 'none', content: null },
      ],
    ],
    ['get_diff', [], '+added\n'],
    ['get_history', ['a'], [{ sha: 'a'.repeat(40), message: 'Change a', author: 'ada' }]],
    ['checkpoint', [{ so: 'far' }], null],
  ] as const)('%s(%j) is answered with JSON', async (name, values, expected) => {
    expect(await asking()(name, ...(values as readonly Json[]))).toEqual(expected);
  });

  test('to the model is answered by it, several in their order', async () => {
    const ask = asking({ host: { ask: async (prompt) => `${prompt}!` } });
    expect(await ask('llm_query', 'a')).toBe('a!');
    expect(await ask('llm_query_batched', ['a', 'b'])).toEqual(['a!', 'b!']);
  });

  test.each([
    ['no function', 'approve', [], 'refused: approve: there is no function of this name'],
    [
      'a name that every object has',
      'constructor',
      [],
      'refused: constructor: there is no function of this name',
    ],
    ['an argument of another type', 'get_file', [7], /^refused: get_file: argument 1: Invalid input/],
    ['too many arguments', 'get_diff', [1], /^refused: get_diff: /],
    [
      'an argument inside of another',
      'get_files',
      [['a', '']],
      /^refused: get_files: argument 1: 1: Too small/,
    ],
    ['a list too long', 'get_files', [Array(101).fill('a')], /^refused: get_files: argument 1: Too big/],
    ['a path too long', 'get_file', ['a'.repeat(5_000)], /^refused: get_file: argument 1: Too big/],
    ['no model', 'llm_query', ['x'], /^refused: llm_query: .*set COUNTERSIGN_MODEL\.$/],
  ] as const)('is refused with a reason for %s', async (_, name, values, expected) => {
    expect(await asking()(name, ...(values as readonly Json[]))).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
  });

  test('is refused with the host’s reason, without our own error', async () => {
    const refusing = asking({
      host: {
        file: () => Promise.reject(new HostRefusal({ kind: 'file_too_large', path: 'a\nb', limit: 10 })),
        diff: () => Promise.reject(new Error('token ghs_123 at /var/lib')),
      },
    });
    expect(await refusing('get_file', 'a')).toBe('refused: get_file: a b is larger than 10 bytes');
    expect(await refusing('get_diff')).toBe('refused: get_diff: there is no answer at the moment');
  });
});

describe('the budget of a function', () => {
  test('ends with its calls, separately for each function', async () => {
    const ask = asking({ budget: { get_diff: { calls: 2 } } });
    expect([await ask('get_diff'), await ask('get_diff')]).toEqual(['+added\n', '+added\n']);
    expect(await ask('get_diff')).toBe('refused: get_diff: the budget of 2 calls is spent');
    expect(await ask('get_file', 'a')).toBe('content of a');
  });

  test('counts invalid calls too', async () => {
    const ask = asking({ budget: { get_diff: { calls: 1 } } });
    await ask('get_diff', 'wrong');
    expect(await ask('get_diff')).toBe('refused: get_diff: the budget of 1 calls is spent');
  });

  test('ends with the bytes of its questions', async () => {
    const asked: string[] = [];
    const host = {
      file: async (path: string) => {
        asked.push(path);
        return null;
      },
    };
    const ask = asking({ host, budget: { get_file: { bytes: 100 } } });
    expect(await ask('get_file', 'a'.repeat(100))).toMatch(/budget of 100 bytes is spent$/);
    expect(asked).toEqual([]);
  });

  test('ends with the bytes of its answers, and the answer over the limit is withheld', async () => {
    const ask = asking({ host: { file: async () => 'x'.repeat(60) }, budget: { get_file: { bytes: 150 } } });
    expect(await ask('get_file', 'a')).toBe('x'.repeat(60));
    expect(await ask('get_file', 'b')).toMatch(/budget of 150 bytes is spent$/);
  });

  test('ends with the time of its answers, also while it waits for one', async () => {
    const host = { diff: () => new Promise<string>(() => {}) };
    const ask = asking({ host, budget: { get_diff: { ms: 30 } } });
    expect(await ask('get_diff')).toBe('refused: get_diff: the budget of 30 ms of waiting is spent');
    expect(await ask('get_diff')).toBe('refused: get_diff: the budget of 30 ms of waiting is spent');
  });
});
