import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { type Scene, SETTINGS, scenes } from './support-scene.ts';

/** The shipped chains beside `pr-review`, each from what happens on GitHub to what people find there. The files are those shipped. */
const start = scenes();
const DAY = 86_400_000;

const shipped = (name: string) => ({ [SETTINGS]: `chains: [${name}]\n` });

/** The first firing after the app has slept, which is at 2:30. */
async function nextNight(scene: Scene): Promise<void> {
  const night = new Date(scene.clock.now());
  night.setUTCHours(26, 30, 30);
  await scene.sleep(night.getTime() - scene.clock.now().getTime());
  await scene.advance(120_000);
}

test('nightly-health opens an issue for stale pull requests, and closes it', async () => {
  const scene = await start(shipped('nightly-health'));
  const { github } = scene;
  const { number } = await scene.open({ title: 'Ask @octo/everybody' });
  const held = await scene.open({ title: 'Held', branch: 'held' });
  await github.addLabel(REPO, held.number, 'will', 'on-hold');
  await scene.sleep(14 * DAY);
  await nextNight(scene);
  expect(github.issues(REPO)).toMatchObject([{ title: 'Pull requests without activity', state: 'open' }]);
  const [issue] = github.issues(REPO);
  expect(issue?.body).toContain(
    `1 open pull request had no activity for 14 days\n- ${number}: Ask @&#8203;octo/everybody, by ada, no activity since 2026-03-02\n`,
  );
  expect(issue?.body).not.toContain('Held');
  await scene.say(number, 'will', 'I am on it.');
  await nextNight(scene);
  expect(github.issues(REPO)).toMatchObject([{ state: 'closed', reason: 'completed' }]);
});

test('nightly-health keeps an issue open while CI of the default branch fails', {
  tags: 'slow',
}, async () => {
  const scene = await start(shipped('nightly-health'));
  const { github } = scene;
  const failing = await github.push({ repo: REPO, branch: 'main', author: 'mia', files: { 'a.txt': 'a\n' } });
  await github.setStatus(REPO, failing, { context: 'test', state: 'failure' });
  await nextNight(scene);
  expect(github.issues(REPO)).toMatchObject([{ title: 'CI of main fails', state: 'open' }]);
  await nextNight(scene);
  const passing = await github.push({ repo: REPO, branch: 'main', author: 'mia', files: { 'a.txt': 'b\n' } });
  await github.setStatus(REPO, passing, { context: 'test', state: 'success' });
  await nextNight(scene);
  expect(github.issues(REPO)).toMatchObject([{ title: 'CI of main fails', state: 'closed' }]);
});
