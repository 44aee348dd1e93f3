// @module-tag security

import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type Listener, type ProcessSpec, runProcess, startProcess } from '../../../src/sandbox/process.ts';

const SLEEP = 'setInterval(() => {}, 1e6);';

/** A process of Node that runs this script. */
const node = (script: string, more: Partial<ProcessSpec> = {}): ProcessSpec => ({
  command: process.execPath,
  args: ['-e', script],
  limits: {},
  ...more,
});

/** Starts a process that the test can stop for a reason. */
function start(script: string, more?: Partial<ProcessSpec>, listener: Listener = {}) {
  const child = startProcess<{ kind: 'over'; because: string }>(node(script, more), listener);
  onTestFinished(async () => {
    child.stop();
    await child.ended.catch(() => {});
  });
  return child;
}

test.concurrent.each<[string, ProcessSpec, object]>([
  ['exits with another code than 0', node('process.exit(3)'), { kind: 'died', detail: 'exit code 3' }],
  [
    'is killed by a signal',
    node("process.kill(process.pid, 'SIGSEGV')"),
    { kind: 'died', detail: 'SIGSEGV' },
  ],
  ['takes too long', node(SLEEP, { limits: { wallMs: 300 } }), { kind: 'timed_out', ms: 300 }],
  [
    'takes too much memory',
    node(`globalThis.all = Buffer.alloc(150e6, 1); ${SLEEP}`, { limits: { memoryMb: 100 } }),
    { kind: 'too_much_memory', mb: 100 },
  ],
  [
    'writes too much',
    node('for (;;) fs.writeSync(1, "x\\n")', { limits: { outputBytes: 1_000 } }),
    { kind: 'too_much_output', limit: 1_000 },
  ],
  [
    'writes too much to standard error and descriptor 3 together',
    node(`fs.writeSync(2, "x".repeat(600)); fs.writeSync(3, "x".repeat(600)); ${SLEEP}`, {
      stderr: 'keep',
      descriptor3: 'pipe',
      limits: { outputBytes: 1_000 },
    }),
    { kind: 'too_much_output', limit: 1_000 },
  ],
  [
    'does not exist',
    { command: '/nowhere/node', args: [], limits: {} },
    { kind: 'not_started', detail: expect.stringContaining('ENOENT') },
  ],
  [
    'has more arguments than the system allows',
    node('', { args: ['x'.repeat(5_000_000)] }),
    { kind: 'not_started', detail: expect.stringContaining('E2BIG') },
  ],
])('a process that %s reports it', async (_, spec, failure) => {
  expect((await runProcess(spec)).failure).toEqual(failure);
});

test('a process that its caller stops ends with the first reason, and its signal has the reason at once', async () => {
  const child = start(SLEEP, { limits: { wallMs: 100_000 } });
  expect(child.over.aborted).toBe(false);
  child.stop({ kind: 'over', because: 'not needed' });
  expect(child.over.aborted).toBe(true);
  child.stop({ kind: 'over', because: 'too late' });
  expect(await child.ended).toEqual({ kind: 'over', because: 'not needed' });
});

test('a process that its caller stops without a reason counts as died', async () => {
  const child = start(SLEEP);
  child.stop();
  expect(await child.ended).toEqual({ kind: 'died', detail: 'SIGKILL' });
});

test('an abort kills the process and throws the reason', async () => {
  const caller = new AbortController();
  const child = start(
    `console.log('started'); ${SLEEP}`,
    { signal: caller.signal },
    {
      onMessage: () => caller.abort(new Error('superseded')),
    },
  );
  await expect(child.ended).rejects.toThrow('superseded');
  expect(() => process.kill(child.pid ?? 0, 0)).toThrow('ESRCH');
});

test('a process is not started for a signal that is already aborted', () => {
  const signal = AbortSignal.abort(new Error('superseded'));
  expect(() => startProcess(node(SLEEP, { signal }), {})).toThrow('superseded');
});

test('the children of a process die with it', async () => {
  const lines: string[] = [];
  const child = start(
    `const child = require('node:child_process').spawn('sleep', ['60']); console.log(child.pid); ${SLEEP}`,
    {},
    {
      onMessage(line) {
        lines.push(line);
        child.stop({ kind: 'over', because: 'seen' });
      },
    },
  );
  await child.ended;
  await expect.poll(() => commandOf(lines[0] ?? '')).toBe('');
});

test('no line is read after the caller stopped the process for a reason, even if it was written before', async () => {
  const lines: string[] = [];
  const child = start(
    `fs.writeSync(1, 'one\\ntwo\\nthree\\n'); ${SLEEP}`,
    {},
    {
      onMessage(line) {
        lines.push(line);
        if (line === 'two') child.stop({ kind: 'over', because: 'enough' });
      },
    },
  );
  await child.ended;
  expect(lines).toEqual(['one', 'two']);
});

test('a line that does not fit its schema ends the process, and no later line is read', async () => {
  const messages: unknown[] = [];
  const child = startProcess(node(`console.log('1\\n2\\n"3"\\n4'); ${SLEEP}`), {
    schema: z.number(),
    onMessage: (message) => void messages.push(message),
  });
  expect(await child.ended).toEqual({ kind: 'no_message' });
  expect(messages).toEqual([1, 2]);
});

test('a line that is longer than allowed ends the process, and many short ones do not', async () => {
  const lines: string[] = [];
  const child = start(
    "process.stdin.on('data', (length) => console.log('x'.repeat(Number(length))));",
    { limits: { lineBytes: 100 } },
    {
      onMessage(line) {
        lines.push(line);
        child.writeLine(lines.length < 9 ? '99' : '100');
      },
    },
  );
  child.writeLine('99');
  expect(await child.ended).toEqual({ kind: 'too_much_output', limit: 100 });
  expect(lines).toEqual(Array(9).fill('x'.repeat(99)));
});

test('a line arrives whole, although it was written in pieces that split a character', async () => {
  const lines: string[] = [];
  const bytes = [...Buffer.from('é ü\nö')].join();
  await start(
    `const bytes = [${bytes}]; const next = () => { if (bytes.length === 0) return; fs.writeSync(1, Buffer.from([bytes.shift()])); setTimeout(next, 5); }; next();`,
    {},
    { onMessage: (line) => void lines.push(line) },
  ).ended;
  expect(lines).toEqual(['é ü']);
});

test('lines to a process arrive while it runs', async () => {
  const child = start(
    `process.stdin.on('data', (line) => fs.writeSync(1, line));`,
    {},
    {
      onMessage: (line) =>
        line === 'ping' ? child.writeLine('pong') : child.stop({ kind: 'over', because: line }),
    },
  );
  child.writeLine('ping');
  expect(await child.ended).toEqual({ kind: 'over', because: 'pong' });
});

test('the output of a process is kept for each descriptor, in order', async () => {
  const { failure, output } = await runProcess(
    node(
      "fs.writeSync(1, fs.readFileSync(0)); fs.writeSync(2, 'b'); setTimeout(() => { fs.writeSync(1, 'c'); fs.writeSync(3, 'd'); }, 50);",
      { input: 'a', stderr: 'keep', descriptor3: 'pipe' },
    ),
  );
  expect(failure).toBeUndefined();
  expect([output(1), output(2), output(3)].map(String)).toEqual(['ac', 'b', 'd']);
  expect([...String(output(1, 2))].sort().join('')).toBe('abc');
});

test('the end of standard error is kept, and does not count as output', async () => {
  const { failure, output } = await runProcess(
    node("fs.writeSync(2, 'x'.repeat(5_000) + 'end'); fs.writeSync(1, 'out')", {
      stderr: 'tail',
      limits: { outputBytes: 3 },
    }),
  );
  expect(failure).toBeUndefined();
  expect(String(output(2))).toBe(`${'x'.repeat(997)}end`);
  expect(String(output(1))).toBe('out');
});

test('a process has no environment and the folder / by default', async () => {
  const script = 'console.log(JSON.stringify([process.env, process.cwd()]))';
  const said = async (more?: Partial<ProcessSpec>) =>
    JSON.parse(String((await runProcess(node(script, more))).output(1)));
  expect(await said()).toEqual([{}, '/']);
  expect(await said({ env: { A: '1' }, folder: '/tmp' })).toEqual([{ A: '1' }, '/tmp']);
});

/** Empty for a process that is gone, or dead and not yet collected by its parent. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
