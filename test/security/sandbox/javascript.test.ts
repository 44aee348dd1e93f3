// @module-tag security

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { type Canaries, canaries, fakeHost, fixture, LONG, run, targets } from './support.ts';

describe('a JavaScript program that tries everything to escape', () => {
  let shelf: Canaries & AsyncDisposable;
  const asked: string[] = [];
  let got: Record<string, string> = {};

  beforeAll(async () => {
    shelf = await canaries();
    const host = fakeHost({
      file: async (path) => {
        asked.push(path);
        return `content of ${path}`;
      },
    });
    const output = await run('template.js', fixture('escape.js'), { input: targets(shelf), host });
    if (output.kind === 'failed') throw new Error(output.because);
    got = output.value as Record<string, string>;
  });
  afterAll(() => shelf[Symbol.asyncDispose]());

  test.each([
    ['the Function constructor of a host function', 'undefined'],
    ['the Function constructor of an answer', 'undefined'],
    ['the Function constructor of a refusal', 'undefined'],
    ['an async function constructor', 'undefined'],
    ['indirect eval', 'undefined'],
    ['require', 'undefined'],
    ['process.binding', "refused: 'process' is not defined"],
    ['globals of Node', ''],
    ['modules of the engine', ''],
    ['WebAssembly', 'undefined'],
    ['the stack of an error', 'text'],
  ])('finds nothing of Node by %s', (name, expected) => {
    expect(got[name]).toBe(expected);
  });

  test.each(['node:fs', 'fs', 'os', 'std', './line.ts', 'data:text/javascript,export default 1', 'a file'])(
    'loads no module by import of %s',
    (name) => {
      expect(got[`import of ${name}`]).toMatch(/^refused: /);
    },
  );

  test('does not block its process by waiting for shared memory', () => {
    expect(got['shared memory between agents']).toMatch(/^refused|^false$/);
  });

  test('sees nothing of the caller of a host function', () => {
    expect(got['the caller of a host function']).toMatch(/^refused|^nothing$/);
  });

  test('passes only JSON to the host, and reads its real answer, whatever it changed in prototypes and JSON', () => {
    expect(got['pollution of prototypes and JSON']).toBe('content of a');
    expect(got['a proxy as an argument']).toBe('content of /etc/passwd');
    expect(asked).toContain('/etc/passwd');
  });
});

describe('a JavaScript program that exhausts', () => {
  const some = <T>(attacks: T[], most: number) => (LONG ? attacks : attacks.slice(0, most));
  const failed = async (source: string, limits = {}) => {
    const output = await run('template.js', source, { limits });
    if (output.kind === 'done') throw new Error(`it submitted ${JSON.stringify(output.value)}`);
    return output;
  };

  test.concurrent.each(
    some(
      [
        [
          'memory',
          "const all = []; for (let i = 0; i < 100; i++) all.push(new ArrayBuffer(1e6)); submit('100 MB');",
        ],
        ['memory by objects', 'const all = []; for (;;) all.push({ all });'],
        ['memory by arrays', 'const all = []; for (;;) all.push(new Array(100000).fill(all.length));'],
        ['memory by one text', "let text = 'x'; for (;;) text += text;"],
        ['memory by one buffer', 'new ArrayBuffer(2 ** 31);'],
      ],
      1,
    ),
  )('%s is ended with that reason', async (_, source) => {
    const { because } = await failed(source);
    expect(because).toMatch(/took more memory than it is given|out of memory|too long|invalid array buffer/i);
  });

  test('its stack gets an error and cannot use it to submit', { tags: 'slow' }, async () => {
    expect((await failed('const f = () => f() + 1; f();')).because).toMatch(/stack/i);
  });

  eachFirstQuick(
    some(
      [
        ['a loop that catches its interruption', 'for (;;) { try { for (;;); } catch {} }'],
        ['words of its error that loop', 'throw { get message() { for (;;); } };'],
        ['a loop', 'for (;;);'],
        ['jobs without end', 'const again = () => Promise.resolve().then(again); await again();'],
        ['an expression that backtracks', "/^(a+)+$/.test('a'.repeat(60) + 'b'); submit(1);"],
      ],
      2,
    ),
  )('its time by %s is ended with that reason', async (_, source) => {
    const { because, retryable } = await failed(source, { timeoutMs: 700 });
    expect(because).toBe('code/template.js: it took longer than 700 ms');
    expect(retryable).toBe(true);
  });
});
