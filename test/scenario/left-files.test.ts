// @module-tag slow
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_BUDGETS } from '../../src/domain/model/budget.ts';
import { REPO } from '../support/harness.ts';
import { startStubModel } from '../support/model/stub.ts';
import { zip } from '../support/zip.ts';
import { only, type Scene, scenes, section, UPDATES_SHOWN_MS } from './support-scene.ts';

const startScene = scenes();
const SKILL = '.github/countersign/skills/writer';

interface Writer {
  files: Record<string, string>;
  metadata?: string;
  expected?: string;
}

/** A repository whose step must leave `report.md`. */
function repository({ files, metadata = '', expected = '{ id: report, path: report.md }' }: Writer) {
  const flow = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: write, skill: writer, artifacts: { expected: [${expected}] } }
`;
  return {
    ...only({ flow }),
    [`${SKILL}/SKILL.md`]: `---\nname: writer\ndescription: Writes.\noutcome: gate_verdict\n${metadata}---\n`,
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`${SKILL}/${path}`, text])),
  };
}

const program = (...calls: string[]) => ({
  files: {
    'code/write.js': `${calls.join('\n')}\nsubmit({ summary: 'Done.', passed: true, criteria: [] });`,
  },
});

async function stepOf(scene: Scene) {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  return { run, step: state?.invocations[0] };
}

/** The content of a file that the newest session left. */
async function fileOf(scene: Scene, path: string): Promise<string> {
  const { run, step } = await stepOf(scene);
  const artifacts = await scene.app.storage.read.artifacts.ofRun(run?.id ?? '');
  const filePath = `${run?.id}/${step?.sessionId}/${path}`;
  expect(artifacts.map((artifact) => artifact.filePath)).toContain(filePath);
  return readFileSync(join(scene.config.artifactsUrl.replace(/^file:/, ''), filePath), 'utf8');
}

const model = (url: string) => ({
  name: { provider: 'openai-compatible' as const, model: 'stub-1' },
  apiKey: 'key-0123456789abcdef',
  baseUrl: `${url}/v1`,
  price: undefined,
  budgets: DEFAULT_BUDGETS,
});

test('a program leaves files, and the check run shows size, type, hash and how to get them', async () => {
  const scene = await startScene(
    repository(
      program("write_artifact('report.md', '# Report\\n');", "write_artifact('data/a.json', '{}');"),
    ),
  );
  const { headSha } = await scene.open();
  expect(await fileOf(scene, 'report.md')).toBe('# Report\n');
  expect(await fileOf(scene, 'data/a.json')).toBe('{}');
  const { step } = await stepOf(scene);
  const hash = createHash('sha256').update('# Report\n').digest('hex');
  const produced = step?.verification?.produced.find(({ id }) => id === 'report');
  expect(produced).toMatchObject({
    id: 'report',
    size: 9,
    mime_type: 'text/plain',
    sha256: hash,
  });
  expect(section(scene.check(headSha, 'flow')?.summary, 'Expected artifacts')).toContain(
    `| ✅ | \`write\` | \`report.md\` | 9 bytes, text/plain, sha256 ${hash.slice(0, 12)}, \`countersign artifact get ${produced?.artifact_id}\` |`,
  );
});

test.each([
  ['leads out of its folder', '../report.md'],
  ['is absolute', '/report.md'],
  ['has a part "."', './report.md'],
  ['is a log of Countersign', 'Skill.log'],
  ['is inside a file of Countersign', 'analyzers.log/report.md'],
  ['has characters that cannot be seen', 'report\u202e.md'],
  ['has a backslash', '..\\report.md'],
])('a program cannot leave a file whose name %s', async (_, path) => {
  const scene = await startScene(
    repository(program(`write_artifact(${JSON.stringify(path)}, 'x');`, "write_artifact('report.md', 'x');")),
  );
  await scene.open();
  const { step } = await stepOf(scene);
  expect(step).toMatchObject({ status: 'failed', outcome: null });
  expect(step?.reason?.summary).toContain('is not kept');
});

test.each([
  ['is too large', "write_artifact('report.md', 'x'.repeat(1000001));"],
  ['is the 21st', "for (let i = 0; i < 21; i++) write_artifact('f' + i, 'x');"],
  ['is empty', "write_artifact('report.md', '');"],
  ['is also a folder', "write_artifact('a/b', 'x'); write_artifact('A', 'x');"],
  ['would be too much together', "for (let i = 0; i < 6; i++) write_artifact('f' + i, 'x'.repeat(900000));"],
])('a program cannot leave a file that %s', async (_, call) => {
  const scene = await startScene(repository(program(call)));
  await scene.open();
  expect((await stepOf(scene)).step).toMatchObject({ status: 'failed', outcome: null });
});

test('a program that catches the refusal goes on, and its contract still fails it', async () => {
  const scene = await startScene(
    repository(program("try { write_artifact('../report.md', 'x'); } catch {}")),
  );
  const { headSha } = await scene.open();
  expect(scene.check(headSha, 'flow')?.title).toBe(
    'Step write failed: it ended without what its contract requires: report (report.md): it is not there',
  );
});

test('a prompt’s answer leaves the file that its package names', async () => {
  const stub = await startStubModel();
  onTestFinished(() => stub.stop());
  stub.answers({
    text: JSON.stringify({ summary: 'Done.', passed: true, criteria: [], file: '# Written\n' }),
  });
  const scene = await startScene(
    repository({
      files: { 'prompts/write.md': 'Write a report.' },
      metadata: 'artifacts: { prompts/write.md: { produces: { path: report.md } } }\n',
    }),
    { model: model(stub.url) },
  );
  await scene.open();
  expect(await fileOf(scene, 'report.md')).toBe('# Written\n');
  expect((await stepOf(scene)).step).toMatchObject({
    status: 'completed',
    outcome: { summary: 'Done.' },
    verification: { status: 'passed' },
  });
});

/** The address where GitHub would send somebody who downloads the archive. */
async function serveZip(files: Parameters<typeof zip>[0]): Promise<string> {
  const server = createServer((_, response) => response.end(zip(files)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive`;
}

test('CI’s workflow artifacts of the head are files of the step that reads CI', async () => {
  const archiveUrl = await serveZip([
    { name: 'coverage/summary.json', content: '{"lines":91}' },
    { name: '../../escape.txt', content: 'x' },
  ]);
  const flow = `
name: flow
trigger: { event: pr.opened }
steps:
  - id: ci
    skill: ci
    with: { artifacts: [tests, missing] }
    artifacts: { expected: [{ id: coverage, path: tests/coverage/summary.json, schema: { type: object } }] }
`;
  const scene = await startScene(only({ flow }));
  const { headSha } = await scene.open();
  scene.github.leaveArtifact(REPO, { name: 'tests', headSha: 'f'.repeat(40), archiveUrl, runId: 2 });
  scene.github.leaveArtifact(REPO, { name: 'tests', headSha, archiveUrl });
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await fileOf(scene, 'tests/coverage/summary.json')).toBe('{"lines":91}');
  expect((await stepOf(scene)).step).toMatchObject({
    status: 'completed',
    verification: { status: 'passed' },
  });
  expect(await fileOf(scene, 'artifacts.log')).toBe(
    [
      'tests/coverage/summary.json: 12 bytes',
      'the file "tests/../../escape.txt" is not kept: it has an empty, "." or ".." part',
      'missing: there is no artifact of this name',
      '',
    ].join('\n'),
  );
});

test('a secret in a file that a step leaves is redacted', async () => {
  const secret = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_');
  const scene = await startScene(repository(program(`write_artifact('report.md', 'token ${secret}');`)));
  await scene.open();
  expect(await fileOf(scene, 'report.md')).not.toContain(secret);
});

test('coverage-gate judges the report that CI left for the head', async () => {
  const lcov = 'SF:src/a.js\nDA:1,1\nDA:2,0\nend_of_record\n';
  const archiveUrl = await serveZip([{ name: 'lcov.info', content: lcov }]);
  const flow = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: ci, skill: ci }
  - { id: covered, skill: coverage-gate, with: { minimum: 40, minimum_changed: 60 } }
`;
  const scene = await startScene(only({ flow }));
  const { headSha } = await scene.open({ files: { 'src/a.js': 'one();\ntwo();\n' } });
  scene.github.leaveArtifact(REPO, { name: 'coverage', headSha, archiveUrl });
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  expect(state?.invocations[1]?.outcome).toMatchObject({
    passed: false,
    summary: 'changed: 50.0 %: 1 of 2 lines',
    criteria: [
      { id: 'all', passed: true },
      { id: 'changed', passed: false },
    ],
  });
});

test('release-notes leaves release-notes.md and its entries', async () => {
  const stub = await startStubModel();
  onTestFinished(() => stub.stop());
  const entries = [{ kind: 'added', text: 'The app greets.' }];
  const answer = {
    summary: 'One entry.',
    passed: true,
    data: { breaking: false, entries },
    file: '# Notes\n',
  };
  stub.answers({ text: JSON.stringify(answer) });
  const flow = 'name: flow\ntrigger: { event: pr.opened }\nsteps: [{ id: notes, skill: release-notes }]\n';
  const scene = await startScene(only({ flow }), { model: model(stub.url) });
  await scene.open();
  expect(await fileOf(scene, 'release-notes.md')).toBe('# Notes\n');
  expect((await stepOf(scene)).step?.outcome).toMatchObject({
    outcome_kind: 'countersign/release-notes',
    data: { entries },
  });
});
