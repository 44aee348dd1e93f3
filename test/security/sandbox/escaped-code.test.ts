// @module-tag security

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandbox } from '../../../src/sandbox/sandbox.ts';
import { interpreter } from '../../../src/skills/kinds/code/interpreter.ts';
import { commandFor } from '../../../src/skills/kinds/code/process.ts';
import { type Canaries, canaries, LONG, SECRET, targets } from './support.ts';

const BOUNDS = { memoryMb: 256, cpuSeconds: 10 };
const { network, alone } = await sandbox();

describe('code that escaped its interpreter', () => {
  let shelf: Canaries & AsyncDisposable;
  let got: Record<string, string> = {};
  let output = '';

  beforeAll(async () => {
    shelf = await canaries();
    const breakout = fileURLToPath(new URL('./fixtures/breakout.mjs', import.meta.url));
    const { command, args } = await commandFor('main', { ...BOUNDS, readable: [breakout] });
    // Everything as in production, except the file that runs.
    const child = spawn(command, [...args.slice(0, -1), breakout], {
      env: {},
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 100_000,
      killSignal: 'SIGKILL',
    });
    const lockModule = new URL('../../../src/skills/kinds/code/worker/lock.ts', import.meta.url).href;
    child.stdin.end(JSON.stringify({ lockModule, targets: targets(shelf) }));
    output = await text(child.stdout);
    got = JSON.parse(output);
  });
  afterAll(() => shelf[Symbol.asyncDispose]());

  test.each([
    'reads a file',
    'reads /etc/passwd',
    "reads the app's code",
    "reads the app's environment",
    'reads a file by a path that leads around',
    'reads a file by its descriptor in /proc',
    'opens a folder',
    'writes a file',
    'appends by a stream',
    'makes a symbolic link',
    'makes a hard link',
    'starts a process',
    'starts a shell',
    'forks',
    'replaces itself',
    'starts a thread',
    'reaches the inspector',
    'gets folders by WASI',
  ])('never %s', (name) => {
    expect(got[name]).toBe('refused: ERR_ACCESS_DENIED');
  });

  test('loads no native code and no package', () => {
    expect(got).toMatchObject({
      'loads native code': 'refused: ERR_DLOPEN_DISABLED',
      'requires a package': expect.stringMatching(/^refused: /),
    });
  });

  test('makes no code from a text', () => {
    expect(got['makes code from a text']).toMatch(/^refused: Code generation from strings disallowed/);
  });

  test('gets no more memory than an interpreter', () => {
    expect(got['grows WebAssembly']).toMatch(/^refused: /);
  });

  test.skipIf(network === 'open')('reaches nobody over the network, not even on this machine', () => {
    expect(got).toMatchObject({
      connects: expect.stringMatching(/^refused: (?:ENETUNREACH|ECONNREFUSED)$/),
      'connects by IPv6': expect.stringMatching(/^refused: /),
      'asks a name server': expect.stringMatching(/^refused: /),
    });
    expect(shelf.contacts()).toBe(0);
  });

  test.skipIf(alone.length === 0)('sees no process but itself, so it can signal none', () => {
    expect(got).toMatchObject({ 'signals the app': 'refused: ESRCH', 'sees another parent': '0' });
  });

  test('has an empty environment', () => {
    expect(got['has an environment']).toBe('');
  });

  test.each([
    'fetch',
    'WebSocket',
    'process.binding',
    'process.getBuiltinModule',
    'process.kill',
    'import',
    'import of what was loaded before',
    'require',
  ])('finds %s locked, even where the system offers no sandbox', (name) => {
    expect(got[`locked: ${name}`]).toMatch(
      /^refused: (?:a template loads no modules|.* is not (?:defined|a function|a constructor))$/,
    );
  });

  test('finds no way to prototypes by __proto__', () => {
    expect(got['locked: __proto__']).toBe('undefined');
  });

  test('leaves no trace, and takes nothing out', () => {
    expect(output).not.toContain(SECRET);
    expect(shelf.written()).toBe(false);
  });
});

/** Nobody is left to kill it. */
test.skipIf(!LONG)('a process whose app died ends by itself when its time is up', async () => {
  const { modules, folders } = interpreter('javascript');
  const { command, args } = await commandFor('main', { ...BOUNDS, cpuSeconds: 1, readable: folders });
  const child = spawn(command, args, { env: {}, stdio: ['pipe', 'ignore', 'ignore'] });
  const start = { language: 'javascript', modules, source: 'for (;;);', name: 'x.js', input: null };
  child.stdin.write(`${JSON.stringify({ ...start, timeoutMs: 60_000, snapshotBytes: 0 })}\n`);
  const [code, signal] = await once(child, 'close');
  expect(code ?? signal).not.toBe(0);
});
