import { describe, expect, test } from 'vitest';
import { sandbox } from '../../../../src/sandbox/sandbox.ts';
import type { CodeLimits } from '../../../../src/skills/kinds/code/limits.ts';
import { commandFor } from '../../../../src/skills/kinds/code/process.ts';
import { fakeHost, LONG, run } from '../../../security/sandbox/support.ts';
import { eachFirstQuick } from '../../../support/each-first-quick.ts';

const { network } = await sandbox();
const host = () => fakeHost({ ask: async (prompt) => `${prompt}!` });

const ANSWERS = {
  input: { one: [1, 'ä', null] },
  search: [{ path: 'a.ts', line: 3, text: 'has x' }],
  file: 'content of ä/b',
  none: null,
  files: [{ path: 'a', content: 'content of a' }],
  diff: '+added\n',
  author: 'ada',
  model: 'good?!',
  batch: ['a!', 'b!'],
};

const EVERYTHING = {
  'template.js': `
let refused;
try { search('x'.repeat(1001)); } catch (error) { refused = error.message; }
print('looks', { at: [1] });
console.log('twice');
checkpoint({ half: 'way' });
submit({
  input, search: search('x'), file: get_file('ä/b'), none: get_file('none'), files: get_files(['a']), diff: get_diff(),
  author: get_history('a')[0].author, model: llm_query('good?'), batch: llm_query_batched(['a', 'b']), refused,
});
`,
  'template.py': `
try:
    search('x' * 1001)
except HostError as error:
    refused = str(error)
print('looks', '{"at":[1]}')
print('twice')
checkpoint({'half': 'way'})
submit(dict(
    input=input, search=search('x'), file=get_file('ä/b'), none=get_file('none'), files=get_files(['a']), diff=get_diff(),
    author=get_history('a')[0]['author'], model=llm_query('good?'), batch=llm_query_batched(['a', 'b']), refused=refused,
))
`,
};

type Name = keyof typeof EVERYTHING;
/** A process of Python takes longer, and the machine must allow it. The scenarios have one in the quick form. */
const LANGUAGES: Name[] = LONG && network === 'cut' ? ['template.js', 'template.py'] : ['template.js'];

test.concurrent.each(LANGUAGES)(
  '%s has every function with its answers, and prints as it goes',
  async (name) => {
    const printed: string[] = [];
    let before = '';
    const asked = fakeHost({
      ask: async (prompt) => `${prompt}!`,
      async diff() {
        before = printed.join('');
        return ANSWERS.diff;
      },
    });
    const onLog = (text: string) => void printed.push(text);
    const output = await run(name, EVERYTHING[name], { host: asked, input: ANSWERS.input, onLog });
    expect(output).toEqual({
      kind: 'done',
      value: { ...ANSWERS, refused: expect.stringMatching(/^search: argument 1: Too big/) },
      log: 'looks {"at":[1]}\ntwice\n',
    });
    expect(asked.checkpoints).toEqual([{ half: 'way' }]);
    // Whoever follows it reads its lines while it still works.
    expect(before).toBe('looks {"at":[1]}\ntwice\n');
  },
);

const LIMITS: Partial<CodeLimits> = { logBytes: 1_000, resultBytes: 5_000 };

async function failureOf(name: Name, source: string, limits: Partial<CodeLimits> = {}): Promise<string> {
  const output = await run(name, source, { host: host(), limits: { ...LIMITS, ...limits } });
  return output.kind === 'failed' ? output.because : `it submitted ${JSON.stringify(output.value)}`;
}

/** The message begins with the place, if one is known. */
const placed = (path: string, because: string) => `${path}:${/^\d/.test(because) ? '' : ' '}${because}`;

describe('a JavaScript program has failed when it', () => {
  const forms: [string, string, string][] = [
    ['does not submit', 'get_diff();', 'it ended without a result'],
    [
      'throws deep inside',
      'const outer = (list) => list.map(inner);\nfunction inner(one) {\n  return one.a.b;\n}\nouter([{}]);',
      "3:15: it threw an error: TypeError: cannot read property 'b' of undefined",
    ],
    ['prints too much', "for (;;) print('x'.repeat(500));", 'it printed more than 1,000 bytes'],
    ['submits no JSON', 'submit({ f: () => 1 });', '1:7: it threw an error: TypeError: function is no JSON'],
    ['submits too much', "submit('x'.repeat(9000));", 'its result is larger than 5,000 bytes'],
    ['throws', "\nthrow new RangeError('no luck');", '2:21: it threw an error: RangeError: no luck'],
    ['throws no error', 'throw 7;', 'it threw an error: 7'],
    [
      'makes up where it was',
      "const e = new Error('boo'); e.stack = 'at x (code/template.js:0:0)'; throw e;",
      'it threw an error: Error: boo',
    ],
    [
      'is no JavaScript',
      'submit(;',
      "1:8: it threw an error: SyntaxError: unexpected token in expression: ';'",
    ],
    [
      'awaits for ever',
      'await new Promise(() => {}); submit(1);',
      'it ended without a result: it awaits what never comes',
    ],
    ['submits nothing', 'submit();', '1:7: it threw an error: TypeError: undefined is no JSON'],
    ['submits NaN', 'submit({ n: [NaN] });', '1:7: it threw an error: TypeError: NaN is no JSON'],
    [
      'submits a circle',
      'const a = {}; a.a = a; submit(a);',
      '1:30: it threw an error: TypeError: circular reference',
    ],
    ['submits a bigint', 'submit(1n);', '1:7: it threw an error: TypeError: bigint is no JSON'],
  ];
  eachFirstQuick(LONG ? forms : forms.slice(0, 5))('%s', async (_, source, because) => {
    expect(await failureOf('template.js', source)).toBe(placed('code/template.js', because));
  });
});

describe.skipIf(!LONG || network === 'open')('a Python program has failed when it', () => {
  const quick: Partial<CodeLimits> = { timeoutMs: 4_000 };
  const forms: [string, string, string, Partial<CodeLimits>?][] = [
    ['does not submit', 'get_diff()', 'it ended without a result'],
    ['throws', "def f():\n  raise ValueError('no luck')\n\nf()", '2: it threw an error: ValueError: no luck'],
    ['is not Python', 'submit(', "1: it threw an error: SyntaxError: '(' was never closed"],
    ['leaves', 'import sys; sys.exit(0)', '1: it threw an error: SystemExit: 0'],
    ['prints too much', "while True: print('x' * 500)", 'it printed more than 1,000 bytes'],
    [
      'submits something that is not JSON',
      'submit(object())',
      '1: it threw an error: TypeError: Object of type object is not JSON serializable',
    ],
    [
      'submits NaN',
      "submit(float('nan'))",
      '1: it threw an error: ValueError: Out of range float values are not JSON compliant: nan',
    ],
    ['submits too much', "submit('x' * 9000)", 'its result is larger than 5,000 bytes'],
    ['loops', 'while True: pass', 'it took longer than 4,000 ms', quick],
    [
      'loops and ignores interruptions',
      'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
      'it took longer than 4,000 ms',
      quick,
    ],
    [
      'takes all memory',
      'a = []\nwhile True: a.append(bytearray(10_000_000))',
      '2: it took more memory than it is given: MemoryError',
    ],
  ];
  test.each(forms)('%s', async (_, source, because, limits) => {
    expect(await failureOf('template.py', source, limits)).toBe(placed('code/template.py', because));
  });

  test('calls itself endlessly', async () => {
    expect(await failureOf('template.py', 'def f(): return f() + 1\nf()')).toMatch(/RecursionError|stack/i);
  });
});

test('the first of two results counts, because nothing runs after it', { tags: 'slow' }, async () => {
  expect(await run('template.js', 'submit(1); submit(2);')).toMatchObject({ kind: 'done', value: 1 });
});

test('a program that is stopped from outside ends with the reason, whatever it does', {
  tags: 'slow',
}, async () => {
  const stopped = new AbortController();
  // Once it has asked a question, it is running.
  const asked = fakeHost({
    diff: async () => {
      stopped.abort(new Error('the run was cancelled'));
      return '';
    },
  });
  const running = run('template.js', 'get_diff(); for (;;);', { signal: stopped.signal, host: asked });
  await expect(running).rejects.toThrow('the run was cancelled');
});

test('secrets that a program prints or throws are hidden', { tags: 'slow' }, async () => {
  const secret = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_');
  const output = await run('template.js', `print('${secret}'); throw new Error('${secret}');`);
  expect(output).toMatchObject({ kind: 'failed', because: expect.stringContaining('[redacted') });
  expect(JSON.stringify(output)).not.toContain(secret);
});

test('an artifact in neither language is not run', async () => {
  expect(await run('template.rb' as Name, 'submit(1)')).toMatchObject({
    kind: 'failed',
    because: 'code/template.rb: it is neither JavaScript (.js) nor Python (.py)',
  });
});

test('JavaScript runs and Python does not if a process cannot be cut off from the network', {
  tags: 'slow',
}, async () => {
  const command: typeof commandFor = async (...given) => ({
    ...(await commandFor(...given)),
    network: 'open',
  });
  expect(await run('template.js', 'submit(1)', { command })).toMatchObject({ kind: 'done', value: 1 });
  expect(await run('template.py', 'submit(1)', { command })).toMatchObject({
    kind: 'failed',
    because: 'code/template.py: Python is not run where a process cannot be cut off from the network',
  });
});
