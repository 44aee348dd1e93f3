import { expect, it } from 'vitest';
import { AT, openChange, REPO, startReceiver, startWorld } from './support.ts';

const annotation = {
  path: 'NEW.md',
  start_line: 1,
  end_line: 1,
  annotation_level: 'warning' as const,
  message: 'Look here',
};
const output = { title: 'T', summary: 'S' };

async function startChecked() {
  const world = await startWorld();
  const { headSha } = await openChange(world.github);
  const { data } = await world.octokit.checks.create({ ...AT, name: 'review', head_sha: headSha });
  const update = (change: object) => world.octokit.checks.update({ ...AT, check_run_id: data.id, ...change });
  return { ...world, headSha, id: data.id, update };
}

it('an update adds its annotations to the earlier ones', async () => {
  const { github, headSha, update } = await startChecked();
  await update({ output: { ...output, annotations: [annotation] } });
  await update({ output: { ...output, annotations: [{ ...annotation, message: 'And here' }] } });
  const [run] = github.checkRuns(REPO, headSha);
  expect(run?.annotations.map(({ message }) => message)).toEqual(['Look here', 'And here']);
});

it('an update does not change what it omits', async () => {
  const { github, headSha, update } = await startChecked();
  await update({ external_id: 'run_1', output: { ...output, text: 'long' } });
  await update({ output: { title: 'T2', summary: 'S2' } });
  expect(github.checkRuns(REPO, headSha)).toMatchObject([{ externalId: 'run_1', title: 'T2', text: 'long' }]);
});

it('a conclusion completes a run', async () => {
  const { github, headSha, update } = await startChecked();
  await update({ conclusion: 'neutral' });
  expect(github.checkRuns(REPO, headSha)).toMatchObject([{ status: 'completed', conclusion: 'neutral' }]);
});

// https://github.com/Mergifyio/mergify/pull/1989, https://github.com/lyft/atlantis/pull/265: GitHub accepts the request and keeps
// the run's conclusion.
it.each(['queued', 'in_progress'])('a completed run never becomes %s again', async (status) => {
  const { github, headSha, update } = await startChecked();
  await update({ conclusion: 'success' });
  expect((await update({ status })).data).toMatchObject({ status: 'completed', conclusion: 'success' });
  expect(github.checkRuns(REPO, headSha)).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
});

// https://github.com/dotnet/arcade/issues/6080
it('a completed run can get another conclusion', async () => {
  const { github, headSha, update } = await startChecked();
  await update({ conclusion: 'success' });
  await update({ conclusion: 'failure' });
  expect(github.checkRuns(REPO, headSha)).toMatchObject([{ status: 'completed', conclusion: 'failure' }]);
});

it('a run that nobody completes stays as it is', async () => {
  const { github, headSha, update } = await startChecked();
  await update({ status: 'in_progress' });
  await github.settle();
  expect(github.checkRuns(REPO, headSha)).toMatchObject([{ status: 'in_progress', conclusion: null }]);
});

it.each([
  ['51 annotations', { output: { ...output, annotations: Array.from({ length: 51 }, () => annotation) } }],
  ['a summary of 65,536 bytes in fewer characters', { output: { title: 'T', summary: 'é'.repeat(32_768) } }],
  ['a text of 65,536 bytes', { output: { ...output, text: 'x'.repeat(65_536) } }],
  ['an output without a summary', { output: { title: 'T' } }],
  [
    'four buttons',
    { actions: ['a', 'b', 'c', 'd'].map((x) => ({ label: x, description: x, identifier: x })) },
  ],
  ['a label of 21 characters', { actions: [{ label: 'x'.repeat(21), description: 'd', identifier: 'i' }] }],
  [
    'columns over two lines',
    { output: { ...output, annotations: [{ ...annotation, end_line: 2, start_column: 1 }] } },
  ],
  ['a completed run without a conclusion', { status: 'completed' }],
])('%s is refused', async (_, change) => {
  const { update } = await startChecked();
  await expect(update(change)).rejects.toMatchObject({ status: 422 });
});

it('a summary of 65,535 bytes and 50 annotations are accepted', async () => {
  const { update } = await startChecked();
  const annotations = Array.from({ length: 50 }, () => annotation);
  const { data } = await update({ output: { title: 'T', summary: 'x'.repeat(65_535), annotations } });
  expect(data.output.annotations_count).toBe(50);
});

it('a check run of another app cannot be changed', async () => {
  const { github, octokit, headSha } = await startChecked();
  const id = await github.reportCheck(REPO, headSha, { name: 'build', status: 'queued' });
  const call = octokit.checks.update({ ...AT, check_run_id: id, conclusion: 'success' });
  await expect(call).rejects.toMatchObject({ status: 403 });
});

it('the latest run of a name hides the older ones unless all are requested', async () => {
  const { octokit, headSha } = await startChecked();
  await octokit.checks.create({ ...AT, name: 'review', head_sha: headSha });
  const count = async (filter: 'latest' | 'all') =>
    (await octokit.checks.listForRef({ ...AT, ref: headSha, filter })).data.total_count;
  expect([await count('latest'), await count('all')]).toEqual([1, 2]);
});

it('runs of different apps are different, whatever their names', async () => {
  const { github, octokit, headSha } = await startChecked();
  await github.reportCheck(REPO, headSha, {
    name: 'review',
    status: 'completed',
    conclusion: 'success',
    app: 'forger',
  });
  const { data } = await octokit.checks.listForRef({ ...AT, ref: 'topic', app_id: github.app.id });
  expect(data.check_runs.map((run) => [run.app?.slug, run.status])).toEqual([['countersign', 'queued']]);
});

it('a suite is completed, with a webhook, when all of its runs are', async () => {
  const { github, headSha } = await startChecked();
  await github.reportCheck(REPO, headSha, { name: 'lint', status: 'in_progress' });
  const received = await startReceiver(github);
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await github.reportCheck(REPO, headSha, { name: 'lint', status: 'completed', conclusion: 'failure' });
  const told = received.map(({ event, body }) => {
    const payload = JSON.parse(body);
    return `${event}.${payload.action} ${(payload.check_suite ?? payload.check_run).conclusion}`;
  });
  expect(told).toEqual([
    'check_run.created success',
    'check_run.completed success',
    'check_run.completed failure',
    'check_suite.completed failure',
  ]);
});

it('the webhook of a pressed button names who pressed it', async () => {
  const { github, id, update } = await startChecked();
  await update({ actions: [{ label: 'Again', description: 'Runs again', identifier: 'rerun' }] });
  const received = await startReceiver(github);
  await github.clickAction(REPO, id, 'maya', 'rerun');
  expect(JSON.parse(received[0]?.body ?? '{}')).toMatchObject({
    action: 'requested_action',
    requested_action: { identifier: 'rerun' },
    check_run: { id },
    sender: { login: 'maya' },
  });
});

it('the newest status of each context counts', async () => {
  const { github, octokit, headSha } = await startChecked();
  await github.setStatus(REPO, headSha, { context: 'old-ci', state: 'pending' });
  await github.setStatus(REPO, headSha, { context: 'old-ci', state: 'success' });
  const { data } = await octokit.repos.getCombinedStatusForRef({ ...AT, ref: headSha });
  expect([data.state, data.total_count]).toEqual(['success', 1]);
});
