import { afterEach, expect, test } from 'vitest';
import type { Shell, ShellEnd, ShellTask } from '../../src/ports/shell.ts';
import { createShell } from '../../src/skills/shell/shell.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { only, type Scene, SETTINGS, scenes } from './support-scene.ts';

const startScene = scenes();
const ran: Omit<ShellTask, 'signal'>[] = [];
afterEach(() => ran.splice(0));

/** A shell that runs nothing, and says that the command ended like this. */
function ending(end: ShellEnd): Shell {
  return {
    unusable: async () => undefined,
    async run({ signal: _, run: { headSha, installationId, repositoryId, repository }, ...task }) {
      ran.push({ run: { headSha, installationId, repositoryId, repository }, ...task });
      return end;
    },
  };
}

const repository = (inputs: string, settings = 'shell: allow\n', more = ', requires_approval: true') => {
  const { [SETTINGS]: chosen = '', ...files } = only({
    flow: `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: try, action: shell, with: ${inputs}${more} }
  - { action: gh-comment, condition: "{{ not steps.try.outcome.passed }}", with: { body: "said: {{ steps.try.outcome.details.output }}" } }
`,
  });
  return { ...files, [SETTINGS]: `${chosen}${settings}` };
};

async function countersigned(scene: Scene, number: number): Promise<void> {
  const question = scene.github
    .comments(REPO, number)
    .find(({ body }) => body.includes('countersign:question'));
  await scene.github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await scene.advance(10_000);
}

async function step(scene: Scene) {
  const [run] = await scene.runs('flow');
  return (await scene.app.storage.read.runs.load(run?.id ?? ''))?.invocations[0];
}

const TOKEN = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_');

test('a command runs on the countersigned head, and a step reads its exit code and the end of its output', {
  tags: 'slow',
}, async () => {
  const shell = ending({ kind: 'exited', code: 2, files: [], log: `1 test failed with ${TOKEN}\n` });
  const files = repository('{ run: npm test, env: { TITLE: "{{ trigger.title }}", N: 3 }, timeout: 5m }');
  const scene = await startScene(files, { shell });
  const { number, headSha } = await scene.open({ title: '$(rm -rf ~)' });
  expect(ran).toEqual([]);
  await countersigned(scene, number);
  expect(ran).toMatchObject([
    { run: { headSha }, command: 'npm test', env: { TITLE: '$(rm -rf ~)', N: '3' }, timeoutMs: 300_000 },
  ]);
  expect(await step(scene)).toMatchObject({
    status: 'completed',
    outcome: { passed: false, summary: 'npm test exited with 2', details: { exit_code: 2 } },
  });
  const said = scene.github.comments(REPO, number).map(({ body }) => body);
  expect(said).toContainEqual(
    expect.stringContaining('said: 1 test failed with \\[redacted: GitHub token\\]'),
  );
});

test('files that match the globs are kept as artifacts of the run', { tags: 'slow' }, async () => {
  const files = [{ path: 'coverage/index.json', bytes: Buffer.from('{}') }];
  const shell = ending({ kind: 'exited', code: 0, files, log: '' });
  const scene = await startScene(repository('{ run: make, artifacts: "coverage/**" }'), { shell });
  const { number } = await scene.open();
  await countersigned(scene, number);
  const [run] = await scene.runs('flow');
  const artifacts = await scene.app.storage.read.artifacts.ofRun(run?.id ?? '');
  expect(artifacts.map(({ name }) => name)).toEqual(expect.arrayContaining(['coverage/index.json']));
});

eachFirstQuick([
  ['the operator has not', 'shell: allow\n', undefined, 'turns them on with COUNTERSIGN_SHELL=allow'],
  [
    'the settings have not',
    '',
    ending({ kind: 'exited', code: 0, files: [], log: '' }),
    '"shell: allow" in .github/countersign.yml does',
  ],
])('no command runs if %s allowed it, and the reason says how', async (_, settings, given, because) => {
  const gitAccess = () => Promise.reject(new Error('nothing may be fetched'));
  const shell = given ?? createShell({ allowed: false, gitAccess });
  const scene = await startScene(repository('{ run: make }', settings), { shell });
  const { number } = await scene.open();
  await countersigned(scene, number);
  expect((await step(scene))?.reason?.summary).toContain(because);
  expect(ran).toEqual([]);
});

test('no command runs on the head of somebody without a countersign', async () => {
  const shell = ending({ kind: 'exited', code: 0, files: [], log: '' });
  const scene = await startScene(repository('{ run: make }', 'shell: allow\n', ''), { shell });
  await scene.open({ author: 'otto', fork: 'otto/app' });
  expect((await step(scene))?.reason?.summary).toContain('it needs elevated trust');
  expect(ran).toEqual([]);
});
