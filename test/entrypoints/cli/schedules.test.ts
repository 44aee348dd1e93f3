import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { ScheduleRow } from '../../../src/ports/firings.ts';
import { bareEnvironment } from '../../support/app-environment.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, countersignProcess, jobsIn, parsed, seed } from './support.ts';

const newFolder = temporaryFolders();

const row = (index: number, nextAt: string): ScheduleRow => ({
  repositoryId: 1,
  chain: `nightly-${index}`,
  trigger: 'every 1d',
  installationId: 5,
  repository: 'acme/shop',
  schedule: {
    schedule: 'every 1d',
    timezone: 'UTC',
    catchup: 'last',
    catchupWindowMs: 86_400_000,
    overlap: 'skip',
  },
  nextAt: new Date(nextAt),
});

/** Schedules that came due before this process began. */
async function world(count: number) {
  const cwd = newFolder();
  const path = join(cwd, 'countersign.db');
  const midnight = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000).toISOString();
  await seed(path, (storage) =>
    storage.transaction(async (tx) => {
      for (let index = 0; index < count; index++) await tx.schedules.put(row(index, midnight));
    }),
  );
  return { path, at: { cwd, env: { DATABASE_URL: `sqlite:${path}` } } };
}

test('chain check fires what is due, once, and says when the next is', async () => {
  const { path, at } = await world(1);
  expect(parsed(await countersign(['chain', 'check', '--json'], at))).toMatchObject({
    evaluated: 1,
    firings: [{ chain: 'nightly-0', status: 'due', schedule: 'every 1d' }],
  });
  expect((await countersign(['chain', 'check'], at)).stdout).toContain('0 schedules due. The next is due ');
  expect(jobsIn(path)).toMatchObject([
    { kind: 'event', payload: { event: { kind: 'schedule.fired', chain: 'nightly-0' } } },
  ]);
  expect((await countersign(['chain', 'schedules'], at)).stdout).toContain('nightly-0');
});

test('two processes that evaluate at once fire each of 250 schedules once', { tags: 'slow' }, async () => {
  const { path, at } = await world(250);
  const both = await Promise.all([
    countersignProcess(['chain', 'check', '--json'], at),
    countersignProcess(['chain', 'check', '--json'], at),
  ]);
  const fired = both.flatMap((ended) => (parsed(ended) as { firings: { chain: string }[] }).firings);
  expect(new Set(fired.map(({ chain }) => chain)).size).toBe(250);
  expect(fired).toHaveLength(250);
  expect(jobsIn(path)).toHaveLength(250);
});

interface Daemon {
  process: ChildProcess;
  /** Resolves once it has evaluated for the first time. */
  ready: Promise<void>;
  out: () => string;
}

function startDaemon({ cwd, env }: { cwd: string; env: Record<string, string> }): Daemon {
  const main = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
  const child = spawn(process.execPath, [main, 'chain', 'daemon'], {
    cwd,
    env: { ...bareEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (/schedules? due\./.test(out)) resolve();
    });
    child.on('exit', () => reject(new Error(`The daemon ended: ${out}`)));
  });
  return { process: child, ready, out: () => out };
}

async function stopped({ process: child }: Daemon, signal: NodeJS.Signals): Promise<unknown> {
  const closed = once(child, 'close');
  child.kill(signal);
  return (await closed)[0];
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a daemon fires what is due, and ends with 0 after %s',
  { tags: 'slow' },
  async (signal) => {
    const { path, at } = await world(3);
    const daemon = startDaemon(at);
    await daemon.ready;
    expect(await stopped(daemon, signal)).toBe(0);
    expect(daemon.out()).toMatch(/3 schedules due\. The next is due .*\nStopped after 3 firings\.\n$/);
    expect(jobsIn(path)).toHaveLength(3);
  },
);

test('two daemons fire each of 250 schedules once', { tags: 'slow' }, async () => {
  const { path, at } = await world(250);
  const daemons = [startDaemon(at), startDaemon(at)];
  await Promise.all(daemons.map(({ ready }) => ready));
  expect(await Promise.all(daemons.map((one) => stopped(one, 'SIGTERM')))).toEqual([0, 0]);
  const fired = daemons.map((one) => Number(/Stopped after (\d+) firing/.exec(one.out())?.[1]));
  expect(fired.reduce((sum, count) => sum + count, 0)).toBe(250);
  expect(jobsIn(path)).toHaveLength(250);
});

test('two processes that evaluate at once record each of 250 composites that expired once', {
  tags: 'slow',
}, async () => {
  const { path, at } = await world(0);
  const part = (event: 'pr.labeled' | 'ci.changed') => ({ event, filter: {} });
  const began = Date.now() - 7_200_000;
  await seed(path, (storage) =>
    storage.transaction(async (tx) => {
      for (let number = 1; number <= 250; number++)
        await tx.composites.put({
          repositoryId: 1,
          chain: 'ship',
          branch: 'main',
          position: 0,
          key: `#${number}`,
          installationId: 5,
          repository: 'acme/shop',
          composite: {
            kind: 'all_of',
            parts: [part('pr.labeled'), part('ci.changed')],
            withinMs: 60_000,
            key: 'pull_request',
          },
          state: {
            pending: [{ parts: [0], at: began, order: 0, of: `${number}`, until: began + 60_000 }],
            known: [`${number}`],
          },
          expiresAt: new Date(began + 60_000),
        });
    }),
  );
  const both = await Promise.all([
    countersignProcess(['chain', 'check', '--json'], at),
    countersignProcess(['chain', 'check', '--json'], at),
  ]);
  const recorded = both.flatMap((ended) => (parsed(ended) as { firings: { summary: string }[] }).firings);
  expect(new Set(recorded.map(({ summary }) => summary)).size).toBe(250);
  expect(recorded).toHaveLength(250);
});
