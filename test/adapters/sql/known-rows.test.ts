import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../../src/adapters/sqlite/open.ts';
import type { Storage, Tx } from '../../../src/ports/storage.ts';
import { approval, at, comment, invocation, runState, session } from '../../support/rows.ts';
import { watchDatabases } from '../../support/statements.ts';
import { temporaryFolders } from '../../support/temp.ts';

const newFolder = temporaryFolders();
const clock = { now: () => at(0) };
const BY = { kind: 'time' } as const;

/** Two connections to one database, as of the server and of the command line. */
function twice(): [Storage, Storage] {
  const path = join(newFolder(), 'test.db');
  const open = () => {
    const storage = openSqlite(path, { clock });
    onTestFinished(() => storage.close());
    return storage;
  };
  return [open(), open()];
}

/** Everything that a transaction of the first connection knows afterwards. */
async function write(tx: Tx): Promise<void> {
  const state = runState('run1');
  await tx.runs.insert({ ...state, invocations: [invocation('run1', 0, { sessionId: null })] });
  const id = 'run1-inv0';
  await tx.runs.insertSession(session('ses1', id));
  await tx.approvals.insert(approval('apr1', 'run1', { invocationId: id }));
  await tx.effects.request({ id: 'eff1', key: 'comment:1', effect: comment('a'), runId: 'run1', at: at(0) });
  await tx.jobs.insert({ kind: 'wake', key: 'wake:run1', payload: 'null', runAt: at(0) });
  await tx.gateProtections.put(1, 'main', { protection: 'enforced', readAt: at(0) });
}

async function change(tx: Tx): Promise<void> {
  const state = await tx.runs.load('run1');
  if (!state) throw new Error('no run');
  const [step] = state.invocations;
  state.run.status = 'waiting_approval';
  if (step) state.invocations[0] = { ...step, status: 'waiting_approval', attempts: 7 };
  await tx.runs.save(state, BY);
  await tx.runs.saveSession({ ...session('ses1', step?.id ?? ''), status: 'waiting' }, BY);
  const [asked] = await tx.approvals.ofRun('run1');
  if (asked) await tx.approvals.save({ ...asked, status: 'void' });
  await tx.effects.request({ id: 'eff1', key: 'comment:1', effect: comment('b'), runId: 'run1', at: at(0) });
  await tx.jobs.claim(at(0), at(30), 'token', 1);
  await tx.gateProtections.put(1, 'main', { protection: 'open', readAt: at(1) });
}

async function seen(tx: Tx): Promise<unknown> {
  const state = await tx.runs.load('run1');
  return {
    run: state?.run.status,
    steps: state?.invocations.map(({ status, attempts }) => [status, attempts]),
    session: (await tx.runs.getSession('ses1'))?.session.status,
    approvals: (await tx.approvals.ofRun('run1')).map(({ status }) => status),
    effect: (await tx.effects.get('comment:1'))?.desiredHash,
    jobs: (await tx.jobs.ofKeys(['wake:run1'])).map(({ leaseToken }) => leaseToken),
    protection: (await tx.gateProtections.get(1, 'main'))?.protection,
  };
}

test('a transaction sees what another process has changed since the last one', async () => {
  const [server, cli] = twice();
  await server.transaction(write);
  const before = await server.transaction(seen);
  await cli.transaction(change);
  const after = await server.transaction(seen);
  expect(after).toEqual(await cli.transaction(seen));
  for (const [name, value] of Object.entries(after as object))
    expect(value, name).not.toEqual((before as Record<string, unknown>)[name]);
});

test('a transaction sees nothing of what one that failed has changed', async () => {
  const [server] = twice();
  await server.transaction(write);
  const before = await server.transaction(seen);
  const failing = server.transaction(async (tx) => {
    await change(tx);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await server.transaction(seen)).toEqual(before);
});

test('a transaction sees nothing of what one that failed within the same commit has changed', async () => {
  const [server] = twice();
  await server.transaction(write);
  const before = await server.transaction(seen);
  const [, failed, after] = await Promise.allSettled([
    server.transaction((tx) => tx.cursors.set('a', 1, at(0))),
    server.transaction(async (tx) => {
      await change(tx);
      throw new Error('no');
    }),
    server.transaction(seen),
  ]);
  expect(failed?.status).toBe('rejected');
  expect(after).toEqual({ status: 'fulfilled', value: before });
});

test('a transaction sees what a statement for many rows has changed', async () => {
  const [server] = twice();
  await server.transaction(write);
  await server.transaction((tx) => tx.runs.renameRepository(70, 'acme/comet'));
  const run = await server.transaction((tx) => tx.runs.get('run1'));
  expect(run?.repository).toBe('acme/comet');
});

test('a transaction reads nothing again that an earlier one has read or written', async () => {
  const database = watchDatabases();
  onTestFinished(() => database.stop());
  const [server] = twice();
  await server.transaction(write);
  await server.transaction(seen);
  database.reset();
  await server.transaction(seen);
  expect(database.work()).toMatchObject({ statements: 0, histogram: '' });
});
