// @module-tag security

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/skills/kinds/code/limits.ts';
import { converse } from '../../../src/skills/kinds/code/run.ts';
import type { ArtifactOutput } from '../../../src/skills/runtime/handler.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { fakeHost } from './support.ts';

const START = {
  language: 'javascript',
  modules: [],
  source: '',
  name: 'x.js',
  input: null,
  timeoutMs: 0,
  snapshotBytes: 0,
} as const;

/** Makes a process print what the script writes, instead of the worker's output. */
function forge(script: string, host = fakeHost(), timeoutMs = 100_000): Promise<ArtifactOutput> {
  const command = {
    command: process.execPath,
    args: [
      '-e',
      `const say = (...lines) => fs.writeSync(1, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)) + '\\n').join('')); ${script}`,
    ],
    network: 'open' as const,
  };
  const limits = { ...DEFAULT_LIMITS, timeoutMs, logBytes: 1_000, resultBytes: 1_000, processMb: 300 };
  return converse(command, START, { host, limits, signal: new AbortController().signal });
}

/** A failure names the file that failed. */
const of = (because: string) => `${START.name}: ${because}`;

const CALL = "{ kind: 'call', id: 1, function: 'get_diff', arguments: [] }";
const WAIT = 'setInterval(() => {}, 1e6);';

eachFirstQuick([
  ['something that is not JSON', "say('hello');", 'it wrote something that is no message'],
  ['JSON that is not a message', "say({ kind: 'approve' });", 'it wrote something that is no message'],
  [
    'a message with an unknown member',
    "say({ kind: 'submit', value: 1, trusted: true });",
    'it wrote something that is no message',
  ],
  ['a result without a value', "say({ kind: 'submit' });", 'it wrote something that is no message'],
  [
    'a result with __proto__ instead of a value',
    'say(\'{"__proto__":{"kind":"submit","value":1}}\');',
    'it wrote something that is no message',
  ],
  [
    'two results',
    "say({ kind: 'submit', value: 1 }, { kind: 'submit', value: 2 });",
    'after its result it said more (submit)',
  ],
  [
    'a result and an end',
    "say({ kind: 'submit', value: 1 }, { kind: 'end', how: 'returned', message: '', at: null, details: '' });",
    'after its result it said more (end)',
  ],
  [
    'a result larger than allowed',
    "say({ kind: 'submit', value: 'x'.repeat(1001) });",
    'its result is larger than 1,000 bytes',
  ],
  ['two questions at a time', `say(${CALL}, { ...${CALL}, id: 2 });`, 'it asked out of turn'],
  ['a question with an id of its own', `say({ ...${CALL}, id: 7 });`, 'it asked out of turn'],
  [
    'the same question again',
    `say(${CALL}); process.stdin.once('data', () => say(${CALL}));`,
    'it asked out of turn',
  ],
  [
    'more log than allowed',
    "for (let i = 0; i < 99; i++) say({ kind: 'log', text: 'x'.repeat(99) });",
    'it printed more than 1,000 bytes',
  ],
  [
    'an end without a result',
    "say({ kind: 'end', how: 'returned', message: '', at: null, details: '' });",
    'it ended without a result',
  ],
  ['nothing, and dies', 'process.exit(3);', 'its process ended with exit code 3 and no result'],
  [
    'nothing, and kills itself',
    "process.kill(process.pid, 'SIGSEGV');",
    'its process ended with SIGSEGV and no result',
  ],
  [
    'half a result, and dies',
    'fs.writeSync(1, \'{"kind":"submit","value":1}\'); process.exit(0);',
    'its process ended with exit code 0 and no result',
  ],
])('a process that prints %s has failed', async (_, script, because) => {
  expect(
    await forge(`${script} ${script.includes('exit') || script.includes('SIGSEGV') ? '' : WAIT}`),
  ).toMatchObject({ kind: 'failed', because: of(because) });
});

test('a process that prints nothing is killed when its time is up', { tags: 'slow' }, async () => {
  expect(await forge(`fs.writeSync(1, '{'); ${WAIT}`, fakeHost(), 700)).toEqual({
    kind: 'failed',
    because: of('it took longer than 700 ms'),
    retryable: true,
    log: '',
  });
});

test('a process that takes too much memory outside of its heap is killed', { tags: 'slow' }, async () => {
  const output = await forge(
    `globalThis.all = []; for (let i = 0; i < 8; i++) all.push(Buffer.alloc(64e6, 1)); ${WAIT}`,
  );
  expect(output).toMatchObject({ because: of('it took more than 300 MB of memory') });
});

test('endless output without a line end is cut off', { tags: 'slow' }, async () => {
  const output = await forge("const x = 'x'.repeat(1e6); for (;;) fs.writeSync(1, x);");
  expect(output).toMatchObject({ kind: 'failed', because: of('it wrote more than 64,000,000 bytes') });
});

test('no output is read after a failure, and the host gets no question', async () => {
  let asked = 0;
  const host = fakeHost({
    diff: async () => {
      asked += 1;
      return '';
    },
  });
  const output = await forge(
    `say({ kind: 'log', text: 'x'.repeat(2000) }, ${CALL}, { kind: 'submit', value: 1 }); ${WAIT}`,
    host,
  );
  expect(output).toMatchObject({ kind: 'failed', because: of('it printed more than 1,000 bytes') });
  expect(asked).toBe(0);
});

test('the children of a failed process are gone with it', { tags: 'slow' }, async () => {
  const output = await forge(
    `const child = require('node:child_process').spawn('sleep', ['60']); say({ kind: 'log', text: String(child.pid) }, 'nonsense'); ${WAIT}`,
  );
  await expect.poll(() => commandOf(output.log)).toBe('');
});

/** Empty for a process that is gone, or dead and not yet collected by its parent. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
