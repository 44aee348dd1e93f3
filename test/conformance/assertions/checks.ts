import { expect } from 'vitest';
import {
  checkRunsSchema,
  checkSuitesSchema,
  statusesSchema,
} from '../../../src/adapters/octokit/check-answers.ts';
import type { Assertion, World } from '../assertion.ts';
import { needApp, refusalOf } from '../target.ts';

let count = 0;

/** A check run of the App on the head of the shared pull request. */
async function checkRun(world: World, content: object = {}) {
  const app = needApp(world);
  const { headSha } = await world.scratch.shared();
  count += 1;
  const name = `${world.prefix} ${count}`;
  const create = (more: object = {}) =>
    app.octokit.checks.create({ ...world.at, name, head_sha: headSha, ...content, ...more });
  const { data } = await create();
  const update = async (change: object) =>
    (await app.octokit.checks.update({ ...world.at, check_run_id: data.id, ...change })).data;
  const list = async (filter: 'latest' | 'all') => {
    const found = await app.octokit.checks.listForRef({
      ...world.at,
      ref: headSha,
      app_id: app.id,
      filter,
      per_page: 100,
    });
    return checkRunsSchema.parse(found.data).filter((run) => run.name === name);
  };
  return { id: data.id, name, update, list, create };
}

const output = { title: 'Title', summary: 'Summary' };

export const checks: readonly Assertion[] = [
  {
    claim: 'a check run is found by its App and its external id',
    async check(world) {
      const { id, list } = await checkRun(world, { external_id: 'run_1', status: 'in_progress' });
      await world.scratch.eventually(async () =>
        expect(await list('latest')).toMatchObject([
          { id, appId: needApp(world).id, externalId: 'run_1', status: 'in_progress', conclusion: null },
        ]),
      );
    },
  },
  {
    claim: 'a conclusion completes a check run',
    async check(world) {
      const { update } = await checkRun(world, { status: 'in_progress' });
      expect(await update({ conclusion: 'neutral' })).toMatchObject({
        status: 'completed',
        conclusion: 'neutral',
      });
    },
  },
  {
    claim: 'a completed check run never becomes queued or in progress again',
    async check(world) {
      const { update, list } = await checkRun(world, { conclusion: 'success' });
      // Whether the request is accepted or refused, the run keeps its conclusion.
      await update({ status: 'in_progress' }).catch(() => {});
      await world.scratch.eventually(async () =>
        expect(await list('latest')).toMatchObject([{ conclusion: 'success' }]),
      );
    },
  },
  {
    claim: 'a completed check run can get another conclusion',
    async check(world) {
      const { update } = await checkRun(world, { conclusion: 'success' });
      expect(await update({ conclusion: 'failure' })).toMatchObject({
        status: 'completed',
        conclusion: 'failure',
      });
    },
  },
  {
    claim: 'of two check runs with one name the newer one is the latest, and both are listed with filter=all',
    async check(world) {
      const { id, create, list } = await checkRun(world, { conclusion: 'success' });
      const { data: newer } = await create({ status: 'in_progress', conclusion: undefined });
      await world.scratch.eventually(async () => {
        expect((await list('latest')).map((run) => run.id)).toEqual([newer.id]);
        expect((await list('all')).map((run) => run.id).sort()).toEqual([id, newer.id].sort());
      });
    },
  },
  {
    claim: 'annotations of an update are added to the earlier ones',
    async check(world) {
      const { head } = await world.scratch.shared();
      const annotation = {
        path: `${head}.md`,
        start_line: 1,
        end_line: 1,
        annotation_level: 'notice',
        message: 'Look here',
      };
      const { update, list } = await checkRun(world, { output: { ...output, annotations: [annotation] } });
      await update({ output: { ...output, annotations: [annotation] } });
      await world.scratch.eventually(async () =>
        expect(await list('latest')).toMatchObject([{ annotations: 2 }]),
      );
    },
  },
  {
    claim: 'an update keeps the fields that it omits',
    async check(world) {
      const { update } = await checkRun(world, { external_id: 'kept', output: { ...output, text: 'Text' } });
      expect(await update({ output: { title: 'Other', summary: 'Other' } })).toMatchObject({
        external_id: 'kept',
        output: { title: 'Other', text: 'Text' },
      });
    },
  },
  {
    claim: 'more than 50 annotations in one request are refused with 422',
    async check(world) {
      const { update } = await checkRun(world);
      const annotation = { path: 'x', start_line: 1, end_line: 1, annotation_level: 'notice', message: 'x' };
      const many = update({
        output: { ...output, annotations: Array.from({ length: 51 }, () => annotation) },
      });
      expect((await refusalOf(many)).status).toBe(422);
    },
  },
  {
    claim: 'a summary of more than 65,535 bytes is refused with 422',
    async check(world) {
      const { update } = await checkRun(world);
      const long = update({ output: { title: 'Long', summary: 'é'.repeat(32_768) } });
      expect((await refusalOf(long)).status).toBe(422);
    },
  },
  {
    claim: 'a fourth button on a check run is refused with 422',
    async check(world) {
      const { update } = await checkRun(world);
      const action = { label: 'Again', description: 'Again', identifier: 'again' };
      expect((await refusalOf(update({ actions: [action, action, action, action] }))).status).toBe(422);
    },
  },
  {
    claim: 'the suite of an App counts its latest check runs',
    async check(world) {
      await checkRun(world);
      const { headSha } = await world.scratch.shared();
      const app = needApp(world);
      await world.scratch.eventually(async () => {
        const { data } = await app.octokit.checks.listSuitesForRef({
          ...world.at,
          ref: headSha,
          app_id: app.id,
        });
        const [suite] = checkSuitesSchema.parse(data);
        expect(suite?.appId).toBe(app.id);
        expect(suite?.checkRuns).toBeGreaterThan(0);
      });
    },
  },
  {
    claim: 'the newest status of a context counts',
    async check(world) {
      const { octokit, at, scratch } = world;
      const { headSha } = await scratch.shared();
      const context = `${world.prefix} status`;
      for (const state of ['pending', 'success'] as const)
        await octokit.repos.createCommitStatus({ ...at, sha: headSha, context, state });
      await scratch.eventually(async () => {
        const { data } = await octokit.repos.getCombinedStatusForRef({ ...at, ref: headSha });
        const ours = statusesSchema.parse(data).filter((status) => status.context === context);
        expect(ours.map(({ state }) => state)).toEqual(['success']);
      });
    },
  },
];
