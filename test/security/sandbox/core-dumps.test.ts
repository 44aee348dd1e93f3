// @module-tag security

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { coreDumpsIn } from '../../../src/sandbox/core-dumps.ts';
import { bareEnvironment } from '../../support/app-environment.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

const canBeShown =
  existsSync('/proc/self/limits') &&
  spawnSync('sh', ['-c', 'ulimit -c unlimited']).status === 0 &&
  spawnSync('prlimit', ['--version']).status === 0;

test.skipIf(!canBeShown)(
  'the process forbids core dumps of itself even if its parent allowed them',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-core-'));
    const child = spawn('sh', ['-c', 'ulimit -c unlimited; exec "$@"', 'sh', process.execPath, MAIN], {
      cwd: folder,
      env: { ...bareEnvironment(), PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(folder, { recursive: true });
    });
    await once(child.stderr, 'data');
    expect(coreDumpsIn(readFileSync(`/proc/${child.pid}/limits`, 'utf8'))).toBe('forbidden');
  },
);

test.each([
  ['Max core file size        0                    unlimited            bytes     \n', 'forbidden'],
  [
    'Max data size             0   0   bytes\nMax core file size        unlimited            unlimited            bytes',
    'allowed',
  ],
  ['Max core file size        1048576              1048576              bytes', 'allowed'],
  ['Max data size             unlimited            unlimited            bytes', 'unknown'],
])('the limits %j have core dumps %s', (limits, expected) => {
  expect(coreDumpsIn(limits)).toBe(expected);
});
