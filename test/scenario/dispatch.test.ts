import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { zip } from '../support/zip.ts';
import { flowChain } from './support-chains.ts';
import { type Scene, scenes } from './support-scene.ts';

const start = scenes();
const WORKFLOW = {
  '.github/workflows/deploy.yml': 'on: workflow_dispatch\n',
  '.github/workflows/ci.yml': 'on: push\n',
};

const starting = (inputs: string) => ({ ...flowChain(`action: gh-dispatch, with: ${inputs}`), ...WORKFLOW });

const step = async (scene: Scene) => {
  const [run] = await scene.runs('flow');
  const state = run && (await scene.app.storage.read.runs.load(run.id));
  return { run, invocation: state?.invocations[0] };
};
const said = async (scene: Scene) => {
  const { invocation } = await step(scene);
  return invocation?.outcome?.summary ?? invocation?.reason?.summary;
};
const isDispatch = ({ method, path }: { method: string; path: string }) =>
  method === 'POST' && path.endsWith('/dispatches');

let server: Server | undefined;
afterEach(() => void server?.close());

async function serveZip(files: Parameters<typeof zip>[0]): Promise<string> {
  server = createServer((_, response) => response.end(zip(files)));
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a step starts a workflow on the default branch, waits for it and takes its artifacts', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    starting(
      '{ workflow: deploy.yml, inputs: { number: "{{ trigger.pr_number }}", quick: true }, artifacts: report }',
    ),
  );
  const { number } = await scene.open();
  await scene.advance(10_000);
  const [started] = scene.github.startedWorkflows(REPO);
  expect(started).toMatchObject({
    workflow: 'deploy.yml',
    branch: 'main',
    inputs: { number: `${number}`, quick: 'true' },
  });
  expect(await said(scene)).toContain('waits for deploy.yml: ');
  const archiveUrl = await serveZip([
    { name: 'report.txt', content: 'all well\n' },
    { name: '../../outside.txt', content: 'x' },
  ]);
  const runId = started?.id ?? 0;
  scene.github.leaveArtifact(REPO, { name: 'report', headSha: 'f'.repeat(40), archiveUrl, runId });
  scene.github.leaveArtifact(REPO, {
    name: 'report',
    headSha: 'f'.repeat(40),
    archiveUrl: 'http://127.0.0.1:1/',
    runId: 2,
  });
  scene.github.endWorkflow(REPO, runId, 'success');
  await scene.advance(20_000);
  const { run, invocation } = await step(scene);
  expect(invocation?.outcome).toMatchObject({
    passed: true,
    summary: 'deploy.yml on main ended with success',
    details: { run_id: runId, conclusion: 'success' },
  });
  const artifacts = await scene.app.storage.read.artifacts.ofRun(run?.id ?? '');
  expect(artifacts.filter(({ kind }) => kind === 'file').map(({ name }) => name)).toEqual([
    'report/report.txt',
  ]);
});

eachFirstQuick(['failure', 'cancelled', 'skipped'] as const)(
  'a workflow that ends with %s has not passed',
  async (conclusion) => {
    const scene = await start(starting('{ workflow: deploy.yml }'));
    await scene.open();
    await scene.advance(10_000);
    scene.github.endWorkflow(REPO, scene.github.startedWorkflows(REPO)[0]?.id ?? 0, conclusion);
    await scene.advance(20_000);
    const { invocation } = await step(scene);
    expect(invocation?.outcome).toMatchObject({
      passed: false,
      summary: `deploy.yml on main ended with ${conclusion}`,
    });
  },
);

test('a workflow that may have been started is not started again', { tags: 'slow' }, async () => {
  const scene = await start(starting('{ workflow: deploy.yml }'));
  scene.github.fail(isDispatch, { after: 'reset' }, 1);
  await scene.open();
  await scene.advance(120_000);
  expect(scene.github.startedWorkflows(REPO)).toHaveLength(1);
  expect(await said(scene)).toMatch(/it is not known which run that is: it may be http/);
});

test('a request that GitHub did not get is sent again', { tags: 'slow' }, async () => {
  const scene = await start(starting('{ workflow: deploy.yml }'));
  scene.github.fail(isDispatch, { status: 503 }, 1);
  await scene.open();
  await scene.advance(120_000);
  expect(scene.github.startedWorkflows(REPO)).toHaveLength(1);
  expect(await said(scene)).toContain('waits for deploy.yml');
});

test('a restart while the workflow runs starts no other', { tags: 'slow' }, async () => {
  const scene = await start(starting('{ workflow: deploy.yml }'));
  await scene.open();
  await scene.advance(10_000);
  await scene.restart();
  scene.github.endWorkflow(REPO, scene.github.startedWorkflows(REPO)[0]?.id ?? 0, 'success');
  await scene.advance(30_000);
  expect(scene.github.startedWorkflows(REPO)).toHaveLength(1);
  expect(await said(scene)).toBe('deploy.yml on main ended with success');
});

test('a step that a person runs again starts the workflow again', { tags: 'slow' }, async () => {
  const scene = await start(starting('{ workflow: deploy.yml }'));
  const { number } = await scene.open();
  await scene.advance(10_000);
  scene.github.endWorkflow(REPO, scene.github.startedWorkflows(REPO)[0]?.id ?? 0, 'failure');
  await scene.advance(20_000);
  await scene.say(number, 'mia', '/countersign rerun');
  await scene.advance(10_000);
  expect(scene.github.startedWorkflows(REPO)).toHaveLength(2);
  expect(await said(scene)).toContain('waits for deploy.yml');
});

eachFirstQuick([
  ['{ workflow: ci.yml }', "Workflow does not have 'workflow_dispatch' trigger", {}],
  ['{ workflow: deploy.yml, inputs: { a: "{{ trigger.labels }}" } }', 'the value of an input is a text', {}],
  ['{ workflow: deploy.yml }', 'needs standard', { fork: 'otto/app', author: 'otto' }],
])('no workflow is started with %s', async (inputs, because, more) => {
  const scene = await start(starting(inputs));
  await scene.open({ title: 'deploy.yml', ...more });
  await scene.advance(10_000);
  expect(await said(scene)).toContain(because);
  expect(scene.github.startedWorkflows(REPO)).toEqual([]);
});
