// @module-tag slow

import { describe, expect, test } from 'vitest';
import { Visible } from '../../src/ports/visible.ts';
import { countersignAt } from '../entrypoints/cli/support.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { person, studioFor, textOf } from '../support/studio.ts';
import {
  CI_AND_MERGE,
  countersign,
  MERGE_ONLY,
  open,
  pushAgain,
  reportCi,
  type Setting,
  start,
} from './support.ts';

const SETTINGS = '.github/countersign.yml';
const REVIEW = `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: review, skill: migration-review }
`;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Reported {
  repository: string;
  rollout: string;
  rollout_by: string | null;
  configuration: {
    branch: string;
    errors: number;
    first: { file: string; line: number; message: string } | null;
  };
  runs: Record<string, number>;
  reviews_requesting_changes: number;
  seconds_to_answer: { count: number; median: number; p90: number } | null;
  seconds_to_merge: { count: number } | null;
  waiting: { count: number; since: string } | null;
}

/** What the command line says, of a period by the test's own clock. */
async function reported({ config, clock }: Harness, ...args: string[]): Promise<Reported[]> {
  const cli = countersignAt(config.databaseUrl);
  const since = new Date(clock.now().getTime() - 90 * DAY).toISOString();
  const { stdout, stderr } = await cli('report', '--since', since, ...args, '--json');
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { repositories: Reported[] }).repositories;
}

const only = async (harness: Harness) =>
  (await reported(harness)).filter(({ repository }) => repository === REPO)[0];
const begin = (setting: Setting = {}) => start({ chain: MERGE_ONLY, ...setting });

describe('the report by repository', () => {
  test('counts a merge, and how long people took to answer', async () => {
    const harness = await begin();
    const { number } = await open(harness);
    await harness.sleep(2 * HOUR);
    await countersign(harness, number, 'mia');
    await harness.advance(120_000);
    const report = await only(harness);
    expect(report).toMatchObject({
      rollout: 'enforce',
      rollout_by: null,
      configuration: { branch: 'main', errors: 0, first: null },
      runs: { merged: 1, would_merge: 0, withheld: 0, completed: 0, failed: 0, stopped: 0 },
      seconds_to_answer: { count: 1 },
      seconds_to_merge: { count: 1 },
      waiting: null,
    });
    expect(report?.seconds_to_answer?.median).toBeGreaterThan(7_200 * 0.95);
    expect(report?.seconds_to_answer?.median).toBeLessThan(7_400 * 1.05);
  });

  test('shows where people wait, and since when', async () => {
    const harness = await begin();
    await open(harness);
    const asked = harness.clock.now();
    await harness.sleep(3 * HOUR);
    const { waiting } = (await only(harness)) ?? {};
    expect(waiting?.count).toBe(1);
    expect(Math.abs(Date.parse(waiting?.since ?? '') - asked.getTime())).toBeLessThan(60_000);
    const page = textOf((await (await studioFor(harness))('/report')).html);
    expect(page).toContain('1 3 hours ago');
  });

  test('counts what observing would have merged', async () => {
    const harness = await begin({ rollout: 'observe' });
    await open(harness);
    expect(await only(harness)).toMatchObject({
      rollout: 'observe',
      rollout_by: 'server',
      runs: { merged: 0, would_merge: 1 },
      waiting: null,
    });
  });

  test('counts a run that another step was withheld from apart', async () => {
    const chain = `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: go, action: gh-comment, requires_approval: true, with: { body: Hello } }
`;
    const harness = await begin({ rollout: 'comment', chain });
    await open(harness);
    expect(await only(harness)).toMatchObject({ runs: { withheld: 1, would_merge: 0, completed: 0 } });
  });

  test('counts a run that a push replaced as stopped', async () => {
    const harness = await begin();
    await open(harness);
    await pushAgain(harness);
    await harness.settle();
    expect(await only(harness)).toMatchObject({ runs: { stopped: 1 } });
  });

  test('counts a review that requested changes', async () => {
    const harness = await begin({ chain: REVIEW });
    await open(harness, { files: { 'db/migrations/7.sql': 'DROP TABLE people;\n' } });
    await harness.advance(60_000);
    const report = await only(harness);
    expect(report).toMatchObject({ reviews_requesting_changes: 1, runs: { completed: 1, merged: 0 } });
  });

  test('counts a run that continued after its end only as it ended last', async () => {
    const harness = await begin({ chain: CI_AND_MERGE });
    const { number, headSha } = await open(harness);
    await reportCi(harness, headSha, 'failure');
    await harness.advance(60_000);
    expect((await only(harness))?.runs).toMatchObject({ completed: 1, merged: 0 });
    await reportCi(harness, headSha, 'success');
    await harness.advance(60_000);
    await countersign(harness, number, 'mia');
    await harness.advance(60_000);
    expect((await only(harness))?.runs).toMatchObject({ completed: 0, merged: 1 });
  });

  test('shows the errors of a configuration until they are corrected', async () => {
    const harness = await begin({ settings: 'merge:\n  bye: people\n' });
    await open(harness);
    const cli = countersignAt(harness.config.databaseUrl);
    expect((await only(harness))?.configuration).toMatchObject({
      errors: 1,
      first: { file: SETTINGS, line: 2 },
    });
    expect((await cli('report')).stdout).toContain(
      'octo/app: .github/countersign.yml:2:3: unknown key "bye"',
    );
    const html = (await (await studioFor(harness))('/report')).html;
    expect(html).toContain('octo/app/blob/HEAD/.github/countersign.yml?plain=1#L2');

    await harness.github.push({
      repo: REPO,
      branch: 'main',
      author: 'max',
      files: { [SETTINGS]: 'merge: { by: people }\n' },
    });
    await harness.settle();
    expect((await only(harness))?.configuration).toMatchObject({ errors: 0, first: null });
  });

  test('shows the rollout that an organisation sets once it is read again', async () => {
    const harness = await begin();
    await open(harness);
    harness.github.addRepository({
      owner: 'octo',
      name: '.github',
      files: { [SETTINGS]: 'rollout: comment\n' },
    });
    await harness.sleep(2 * HOUR);
    await pushAgain(harness);
    await harness.settle();
    expect(await only(harness)).toMatchObject({ rollout: 'comment', rollout_by: 'organisation' });
  });

  test('lists repositories without a pull request, once the app has compared all', async () => {
    const harness = await begin();
    harness.github.addRepository({ owner: 'octo', name: 'quiet', files: { 'README.md': '# Quiet\n' } });
    await harness.advance(2 * HOUR);
    expect((await reported(harness)).map(({ repository }) => repository)).toContain('octo/quiet');
  });

  test('stays as it is when retention deletes the runs', async () => {
    const retention = { bodies: 7 * DAY, runs: 7 * DAY, artifacts: 7 * DAY, traces: 7 * DAY };
    const harness = await begin({ retention });
    const { number } = await open(harness);
    await countersign(harness, number, 'mia');
    await harness.advance(60_000);
    await harness.down();
    harness.clock.moveTo(new Date(harness.clock.now().getTime() + 40 * DAY));
    await harness.up();
    await harness.advance(20 * 60_000);
    expect(await harness.app.storage.read.runs.list({ limit: 1 })).toEqual([]);
    expect(await only(harness)).toMatchObject({ runs: { merged: 1 }, seconds_to_answer: { count: 1 } });
  });

  test('follows a repository to its new name', async () => {
    const harness = await begin();
    await open(harness);
    await harness.github.renameRepository(REPO, 'rocket');
    await harness.settle();
    expect((await reported(harness)).map(({ repository }) => repository)).toContain('octo/rocket');
    expect(await only(harness)).toBeUndefined();
  });

  test('leaves out what the app can no longer see', async () => {
    const harness = await begin();
    await open(harness);
    await harness.github.archiveRepository(REPO);
    await harness.settle();
    expect(await only(harness)).toBeUndefined();
  });

  test('shows nothing of repositories that the viewer cannot see', async () => {
    const harness = await begin();
    await open(harness);
    const get = await studioFor(harness, { viewer: person(900, 'will'), visible: Visible.only([]) });
    const { html } = await get('/report');
    expect(html).not.toContain(REPO);
    expect(textOf(html)).toContain('No repository has been read yet.');
  });

  test('is narrowed to an organisation or a repository', async () => {
    const harness = await begin();
    await open(harness);
    expect(await reported(harness, '--organisation', 'OCTO')).toHaveLength(1);
    expect(await reported(harness, '--organisation', 'oct')).toEqual([]);
    expect(await reported(harness, '--repo', 'Octo/App')).toHaveLength(1);
    expect(await reported(harness, '--repo', 'octo/other')).toEqual([]);
  });
});
