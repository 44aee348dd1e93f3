// @module-tag security

import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAnalyzerPool } from '../../../src/analyzers/pool.ts';
import type { JobResult } from '../../../src/analyzers/worker/protocol.ts';
import { PACKAGE_ROOT } from '../../../src/core/package-root.ts';
import { sandbox } from '../../../src/sandbox/sandbox.ts';
import { ownChildren } from '../../support/own-children.ts';
import { until } from '../../support/until.ts';

const { network } = await sandbox();
const isLinux = existsSync('/proc/self/statm');

/** Native code that the process may read. */
const [NATIVE = ''] = globSync(join(PACKAGE_ROOT, 'node_modules/@ast-grep/napi-*/*.node'));

/** Runs an analyzer of the test where the real ones run. */
async function run(
  name: string,
  text = '',
  { maxMemoryMb, signal = new AbortController().signal }: { maxMemoryMb?: number; signal?: AbortSignal } = {},
): Promise<JobResult> {
  const module = new URL(`./fixtures/${name}.mjs`, import.meta.url).href;
  const pool = createAnalyzerPool({ spares: false, ...(maxMemoryMb && { maxMemoryMb }) });
  const [result] = await pool.run(
    {
      files: [{ index: 0, name: '0001.txt', language: 'other', text }],
      jobs: [{ analyzer: name, module, files: [0], cost: 1, config: {} }],
    },
    { timeoutMs: 100_000, signal },
  );
  if (!result) throw new Error(`${name} gave no result`);
  return result;
}

describe('an analyzer that tries everything to escape', () => {
  let contacts = 0;
  let folder = '';
  let told: Record<string, unknown> = {};

  beforeAll(async () => {
    const server = createServer((_, response) => {
      contacts++;
      response.end('reached');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await (await fetch(url)).text()).toBe('reached');
    contacts = 0;

    folder = await mkdtemp(join(tmpdir(), 'countersign-test-'));
    const file = join(folder, 'secret');
    await writeFile(file, 'a secret of this machine');
    const result = await run(
      'spies',
      JSON.stringify({ url, file, written: join(folder, 'it-was-here'), native: NATIVE }),
    );
    told = result.status === 'ok' ? JSON.parse(result.log) : {};
    server.close();
    return () => rm(folder, { recursive: true });
  });

  test.skipIf(network === 'open')('reaches no server, not even on this machine', () => {
    expect(told).toMatchObject({ fetched: 'refused' });
    expect(contacts).toBe(0);
  });

  test("reads no file of the machine, and not the app's environment", () => {
    expect(told).toMatchObject({ own: [], read: 'refused', readEnvironment: 'refused' });
  });

  test('writes nothing outside of its folder', () => {
    expect(told).toMatchObject({ written: 'refused' });
    expect(existsSync(join(folder, 'it-was-here'))).toBe(false);
  });

  test('starts no program and no thread, and loads no native code', () => {
    expect(told).toMatchObject({ started: 'refused', startedThread: 'refused', loaded: 'refused' });
  });
});

test.skipIf(!isLinux)(
  "an analyzer's process leaves no core file, and is the first to be killed when memory runs out",
  async () => {
    const seen = new AbortController();
    const ended = expect(run('waits', '', { signal: seen.signal })).rejects.toThrow('seen');
    // The shell that sets the limits becomes the process.
    const limits = () =>
      ownChildren('analyzers/worker/main.').map((pid) => ({
        cores: /^Max core file size +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1],
        sacrificed: readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(),
      }));
    const isLimited = () => limits().some((one) => one.cores === '0' && one.sacrificed === '1000');
    await until('the limits', () => isLimited() || undefined, { last: limits });
    seen.abort(new Error('seen'));
    await ended;
  },
);

describe('the limits of an analyzer', () => {
  test.skipIf(!isLinux)(
    'count memory outside of the heap, and too much of it ends the process',
    { tags: 'slow' },
    async () => {
      expect(await run('hoards', '', { maxMemoryMb: 400 })).toMatchObject({
        status: 'crashed',
        message: 'the analyzers took more than 400 MB of memory',
      });
    },
  );

  test('do not allow a file larger than any that is reviewed', { tags: 'slow' }, async () => {
    const result = await run('fills-disk');
    expect(result).toMatchObject({ status: 'ok', log: 'wrote 67108864 bytes' });
  });
});
