// @module-tag security
// @module-tag slow

import { expect, test } from 'vitest';
import { createOctokitGitHub } from '../../src/adapters/octokit/octokit-github.ts';
import { octokitsWithKey } from '../../src/adapters/octokit/sign-in.ts';
import { timeSortedIds } from '../../src/core/ids.ts';
import { silentLog } from '../../src/core/log.ts';
import { judgeMerge } from '../../src/domain/policy/merge-gate.ts';
import { mergeKey, mergeOnce } from '../../src/engine/effects/merge.ts';
import { facts, question } from '../domain/policy/merge-facts.ts';
import { everyWriter } from '../support/writers.ts';
import { justBefore, mergeCalls, openApproval, READS } from './attacks/support.ts';

/** Two workers that decided for the same head, each about to merge it. */
async function twoWorkers() {
  const { harness, number, headSha } = await openApproval();
  const { app, clock, config } = harness;
  harness.github.holdDeliveries();
  const [run] = await app.storage.read.runs.list({ limit: 1 });
  const state = run && (await app.storage.read.runs.load(run.id));
  const sessionId = state?.invocations[0]?.sessionId;
  const [approval] = run ? await app.storage.read.approvals.ofRun(run.id) : [];
  if (!run || !sessionId || !approval) throw new Error('nobody was asked');
  const proofOf = (method: 'squash' | 'merge') => {
    const { proof } = judgeMerge(
      question({ runId: run.id, owner: 'octo', repo: 'app', pullRequest: number, headSha, method }),
      facts({ readAt: clock.now(), pullRequest: { ...facts().pullRequest, headSha } }),
    );
    if (!proof) throw new Error('the gate gave no proof');
    return proof;
  };
  const github = createOctokitGitHub({
    source: octokitsWithKey({ ...config, apiUrl: config.githubApiUrl }),
    log: silentLog,
    clock,
  });
  const deps = {
    storage: app.storage,
    github: github,
    writers: everyWriter(github),
    clock,
    ids: timeSortedIds(() => clock.now()),
  };
  const recording: Promise<unknown>[] = [];
  const merge = mergeOnce(deps, run, sessionId, (record) => void recording.push(record));
  return {
    harness,
    worker: async (method: 'squash' | 'merge' = 'squash') => {
      const { made: _, ...result } = await merge(proofOf(method), approval, {}, async () => undefined);
      await Promise.all(recording);
      return result;
    },
    ledger: () => app.storage.read.effects.get(mergeKey(run.id, headSha)),
  };
}

test('a worker that GitHub refuses because another one merged does not undo that one’s record', async () => {
  const { harness, worker, ledger } = await twoWorkers();
  const { github } = harness;
  const arrived = Promise.withResolvers<void>();
  justBefore(harness, READS.merge, arrived.resolve);
  const merged = Promise.withResolvers<void>();
  github.fail(READS.merge, { until: merged.promise }, 1);
  const late = worker();
  await arrived.promise;
  const made = await worker();
  merged.resolve();
  expect(made).toMatchObject({ kind: 'merged' });
  expect(await late).toEqual(made);
  expect(mergeCalls(harness)).toBe(2);
  expect(github.merges).toHaveLength(1);
  expect(await ledger()).toMatchObject({
    status: 'done',
    begun: true,
    error: null,
    progress: { merge_sha: github.merges[0]?.sha },
  });
});

test('of two steps that merge at the same time, the ledger names the one whose call merged', async () => {
  const { harness, worker, ledger } = await twoWorkers();
  const arrived = Promise.withResolvers<void>();
  justBefore(harness, READS.merge, arrived.resolve);
  const bothArrived = Promise.withResolvers<void>();
  const firstMerged = Promise.withResolvers<void>();
  harness.github.fail(READS.merge, { until: bothArrived.promise }, 1);
  const isSecond = (request: { method: string; path: string }) => {
    if (!READS.merge(request)) return false;
    bothArrived.resolve();
    return true;
  };
  harness.github.fail(isSecond, { until: firstMerged.promise }, 1);
  const first = worker('merge');
  await arrived.promise;
  const second = worker('squash');
  const made = await first;
  firstMerged.resolve();
  expect(await second).toEqual(made);
  expect(mergeCalls(harness)).toBe(2);
  expect(await ledger()).toMatchObject({ status: 'done', effect: { method: 'merge' } });
});

test('a worker that comes after the merge was recorded does not call GitHub', async () => {
  const { harness, worker, ledger } = await twoWorkers();
  const made = await worker();
  const recorded = await ledger();
  expect(await worker()).toEqual(made);
  expect(mergeCalls(harness)).toBe(1);
  expect(await ledger()).toEqual(recorded);
});
