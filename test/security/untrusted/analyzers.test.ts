// @module-tag security

import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runWorker } from '../../../src/analyzers/run-worker.ts';
import type { JobResult } from '../../../src/analyzers/worker/protocol.ts';
import { sandbox } from '../../../src/sandbox/sandbox.ts';

const { network, launcher } = await sandbox();
const isLinux = existsSync('/proc/self/statm');

/** Runs an analyzer of the test where the real ones run. */
async function run(name: string, text = '', maxMemoryMb?: number): Promise<JobResult> {
  const module = new URL(`./fixtures/${name}.mjs`, import.meta.url).href;
  const [result] = await runWorker(
    {
      files: [{ index: 0, name: '0001.txt', language: 'other', text }],
      jobs: [{ analyzer: name, module, files: [0], config: {} }],
    },
    { timeoutMs: 100_000, signal: new AbortController().signal, ...(maxMemoryMb && { maxMemoryMb }) },
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
    const result = await run('spies', JSON.stringify({ url, file, written: join(folder, 'it-was-here') }));
    told = result.status === 'ok' ? JSON.parse(result.log) : {};
    server.close();
    return () => rm(folder, { recursive: true });
  });

  test.skipIf(network === 'open')('reaches no server, not even on this machine', () => {
    expect(told).toMatchObject({ fetched: 'refused', fetchedByChild: 'refused' });
    expect(contacts).toBe(0);
  });

  test("reads no file of the machine, and not the app's environment", () => {
    expect(told).toMatchObject({ own: [], read: 'refused', readEnvironment: 'refused' });
  });

  test.skipIf(launcher[1] !== '--user')(
    "does not read the app's environment with other programs either",
    () => {
      expect(told).toMatchObject({ environmentByChild: 'refused' });
    },
  );

  test('writes nothing outside of its folder', () => {
    expect(told).toMatchObject({ written: 'refused' });
    expect(existsSync(join(folder, 'it-was-here'))).toBe(false);
  });

  test.skipIf(!isLinux)('leaves no core file, and is the first to be killed when memory runs out', () => {
    expect(told).toMatchObject({ cores: '0', sacrificed: '1000' });
  });
});

describe('the limits of an analyzer', () => {
  test.skipIf(!isLinux)('count memory outside of the heap, and too much of it ends the process', async () => {
    expect(await run('hoards', '', 400)).toMatchObject({
      status: 'crashed',
      message: 'the analyzers took more than 400 MB of memory',
    });
  });

  test('do not allow a file larger than any that is reviewed', async () => {
    const result = await run('fills-disk');
    expect(result).toMatchObject({ status: 'ok', log: 'wrote 67108864 bytes' });
  });
});
