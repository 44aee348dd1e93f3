import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { shouldCollect } from '../../src/composition/heap-at-rest.ts';
import { bareEnvironment } from '../support/app-environment.ts';

const MB = 1_048_576;

it.each([
  ['rests and has taken 9 MB since the last time', 0.01, 60, 51, true],
  ['rests and has taken 7 MB since the last time', 0.01, 60, 53, false],
  ['is at work, however much it has taken', 0.4, 300, 50, false],
  ['has never collected and rests', 0, 30, 0, true],
])(
  'a thread that %s: %s busy, %s MB now, %s MB after the last: collects %s',
  (_, busyShare, now, last, expected) => {
    expect(shouldCollect({ busyShare, usedBytes: now * MB, usedAfterLast: last * MB })).toBe(expected);
  },
);

it('a process that rests returns the pages of its garbage', { tags: 'slow' }, async () => {
  const program = fileURLToPath(new URL('resting-app.ts', import.meta.url));
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: bareEnvironment(),
  });
  expect(JSON.parse(await text(child.stdout))).toMatchObject({ kept: 1 });
});
