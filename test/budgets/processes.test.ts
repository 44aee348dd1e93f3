// @module-tag slow
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import { createAnalyzerPool } from '../../src/analyzers/pool.ts';
import { added, review } from '../analyzers/support.ts';

/** Everything that a small change of a web application may contain. */
const FILES = [
  added('src/a.ts', 'export const a = 1;\n'),
  added('tool.py', 'print(1)\n'),
  added('Dockerfile', 'FROM node:24\n'),
  added(
    '.github/workflows/ci.yml',
    'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps: [{ run: ls }]\n',
  ),
];

test('a review starts one process, however many analyzers it needs', async () => {
  let started = 0;
  const count = () => void started++;
  subscribe('child_process', count);
  onTestFinished(() => void unsubscribe('child_process', count));
  const pool = createAnalyzerPool({ spares: false });
  await review(FILES, { pool });
  // The first one also tries what the machine allows.
  started = 0;
  const { analyzers } = await review(FILES, { pool });
  expect(analyzers.length).toBeGreaterThan(4);
  expect(started).toBe(1);
});

test('reviews one after another start one process each, and two more for the first', async () => {
  const started: number[] = [];
  const count = (message: unknown) =>
    void started.push((message as { process: { pid: number } }).process.pid);
  const pool = createAnalyzerPool();
  onTestFinished(() => pool.stop());
  await review(FILES, { pool });
  subscribe('child_process', count);
  onTestFinished(() => void unsubscribe('child_process', count));
  for (let times = 0; times < 5; times++) await review(FILES, { pool });
  // The spare of the last review, and the process that compiles everything, if that has not started before.
  expect(started.length).toBeLessThanOrEqual(5 + 2);
});
