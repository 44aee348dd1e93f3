import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

/**
 * No test may depend on how fast the machine is: it counts, it has a control (`support/effort.ts`), or it belongs in `bench/`.
 * Time limits exist only to end what hangs, and are long.
 */
const HERE = import.meta.dirname;

/** They measure for a figure that is printed, or to end what hangs; none of them compares. */
const MEASURES = [
  'budgets/stored-chains.test.ts',
  'chaos/chaos.ts',
  'load/burst.ts',
  'load/load.test.ts',
  'support/effort.ts',
  'support/github/webhooks.ts',
  'timing.test.ts',
];
const MEASURING = /performance\.now\(|hrtime|[cC]puUsage\(|monitorEventLoopDelay/;

/** On a clock that no test moves, and of times that the app measured itself. */
const COMPARING = /expect\([^\n]*(?:Date\.now\(\) -|\bduration_?ms\b.*\.to(?:BeLess|BeGreater))/i;

/** They give up after a second by default; `expect.poll` and `support/until.ts` wait long enough. */
const IMPATIENT = /\bvi\.wait(?:For|Until)\(|AbortSignal\.timeout\([\d_]+\)/;

/** Limits of a test, of a process that it starts, or of a question that it repeats. */
const LIMITS = [
  /^ *\}, ([\d_]{4,})\);$/gm,
  /^ *\},\n *([\d_]{4,}),\n *\);$/gm,
  /\{ timeout: ([\d_]+) \}/g,
  /^ *timeout: ([\d_]+),$/gm,
  /Timeout: ([\d_]+) \}\)/g,
];
const LEAST_LIMIT_MS = 90_000;

const sources = readdirSync(HERE, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.m?ts$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ file: relative(HERE, path), text: readFileSync(path, 'utf8') }));

const filesWith = (pattern: RegExp) =>
  sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

test('no test compares elapsed time or processor time with a limit', () => {
  expect(filesWith(MEASURING).filter((file) => !MEASURES.includes(file))).toEqual([]);
  expect(filesWith(COMPARING)).toEqual([]);
});

test('a file that is allowed to measure does measure', () => {
  expect(MEASURES.filter((file) => !filesWith(MEASURING).includes(file))).toEqual([]);
});

test('no test waits with a short timeout', () => {
  expect(filesWith(IMPATIENT).filter((file) => file !== 'timing.test.ts')).toEqual([]);
});

test('no limit is so short that a slow machine could reach it', () => {
  const short = sources.flatMap(({ file, text }) =>
    LIMITS.flatMap((pattern) => [...text.matchAll(pattern)])
      .filter(([, limit = '']) => Number(limit.replaceAll('_', '')) < LEAST_LIMIT_MS)
      .map(([found]) => `${file}: ${found.trim()}`),
  );
  expect(short).toEqual([]);
});
