import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { flowChain } from './support-chains.ts';
import { type Scene, scenes } from './support-scene.ts';

const start = scenes();
const setting = (inputs: string) => flowChain(`action: gh-status, with: ${inputs}`);

const summary = async (scene: Scene) => {
  const [run] = await scene.runs('flow');
  const state = run && (await scene.app.storage.read.runs.load(run.id));
  return state?.invocations[0]?.outcome?.summary ?? state?.invocations[0]?.reason?.summary;
};

test('a step sets a status on the head, with one line that links to a page', { tags: 'slow' }, async () => {
  const scene = await start(
    setting(
      '{ context: team/docs, state: success, description: "ok: {{ trigger.title }}", target_url: "https://ci.example/1" }',
    ),
  );
  const { headSha } = await scene.open({ title: `a title ${'x'.repeat(200)}` });
  await scene.settle();
  const [status] = scene.github.statuses(REPO, headSha);
  expect(status).toMatchObject({ context: 'team/docs', state: 'success', targetUrl: 'https://ci.example/1' });
  expect(status?.description).toMatch(/^ok: a title x+…$/);
  expect(status?.description).toHaveLength(140);
});

test('a status whose answer is lost is set once', { tags: 'slow' }, async () => {
  const scene = await start(setting('{ context: team/docs, state: failure }'));
  scene.github.fail(
    ({ method, path }) => method === 'POST' && path.includes('/statuses/'),
    { after: 'reset' },
    1,
  );
  const { headSha } = await scene.open();
  await scene.advance(60_000);
  expect(scene.github.statuses(REPO, headSha)).toHaveLength(1);
});

eachFirstQuick([
  ['{ context: ci, state: "{{ trigger.title }}" }', '"state" cannot be "build"'],
  [
    '{ context: ci, state: success, target_url: "{{ trigger.title }}" }',
    '"target_url" must be an https address',
  ],
])('no status is set with %s', async (inputs, because) => {
  const scene = await start(setting(inputs));
  const { headSha } = await scene.open({ title: 'build' });
  await scene.settle();
  expect(await summary(scene)).toContain(because);
  expect(scene.github.statuses(REPO, headSha)).toEqual([]);
});
