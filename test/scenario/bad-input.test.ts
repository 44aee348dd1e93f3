// @module-tag security

import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { CI_AND_MERGE, only, type Scene, scenes, section, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();
const MINUTE = 60_000;

const LABEL =
  'name: label\ntrigger: { event: pr.opened }\nsteps: [{ action: gh-label, with: { labels: [seen] } }]\n';
const REVIEW = 'name: review\ntrigger: { event: pr.opened }\nsteps: [{ skill: pr-review }]\n';

const LONG = process.env.COUNTERSIGN_LONG === '1';
/** Of a large file, which takes the stand-in longer to store than the app to skip. */
const MEGABYTES = LONG ? 100 : 10;
/** A hundred of them are 1 MB. */
const ROW = `${'7,'.repeat(5_000)}\n`;

/** Nothing is duplicated: one check run per chain and head, and one status comment. */
function expectOnce(scene: Scene, number: number, headSha: string): void {
  const names = scene.github
    .checkRuns(REPO, headSha)
    .filter(({ app }) => app === 'countersign')
    .map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  const sticky = scene.github
    .comments(REPO, number)
    .filter(({ body }) => body.includes('countersign:status'));
  expect(sticky.length).toBeLessThanOrEqual(1);
}

async function send(
  scene: Scene,
  event: string,
  payload: unknown,
): Promise<{ status: number; error: string | null; state: string }> {
  const guid = crypto.randomUUID();
  const sent = scene.github.signedDelivery(event, payload, guid);
  const answer = await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...sent });
  await scene.settle();
  const delivery = await scene.app.storage.read.deliveries.byGuid(guid);
  return { status: answer.status, state: delivery?.status ?? 'not recorded', error: delivery?.error ?? null };
}

const PLACE = {
  installation: { id: 51_000_001 },
  repository: { id: 700_001, name: 'app', owner: { login: 'octo' } },
};

eachFirstQuick([
  ['pull_request', { action: 'opened', ...PLACE }],
  ['pull_request', { action: 'opened', ...PLACE, pull_request: { number: 'one' } }],
  ['issue_comment', { action: 'created', ...PLACE, issue: { number: 1, pull_request: {} } }],
  ['check_run', { action: 'completed', ...PLACE, check_run: null }],
  ['push', { ...PLACE, ref: 7 }],
  ['status', { ...PLACE }],
  ['pull_request', { action: 'opened', installation: { id: 51_000_001 }, pull_request: { number: 1 } }],
])(
  'a %s webhook without a required field is recorded and marked failed, with the reason (%#)',
  async (event, payload) => {
    const scene = await start(only({ label: LABEL }));
    const delivery = await send(scene, event, payload);
    expect(delivery).toMatchObject({ status: 202, state: 'failed' });
    expect(delivery.error).toMatch(/^[\w.]+: /);
    const { number } = await scene.open();
    expect(scene.github.labels(REPO, number)).toEqual(['seen']);
  },
);

test('the reason names the field and not its value', async () => {
  const scene = await start();
  const { error } = await send(scene, 'pull_request', {
    action: 'opened',
    ...PLACE,
    pull_request: { number: 'hunter2' },
  });
  expect(error).toMatchInlineSnapshot(`"pull_request.number: expected number, received string"`);
});

test('a webhook about a pull request that does not exist is given up, and the app continues', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ label: LABEL }));
  await send(scene, 'pull_request', { action: 'opened', ...PLACE, pull_request: { number: 4711 } });
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['seen']);
});

test('a pull request of more than 3,000 files is reviewed as far as GitHub lists it, without a verdict, and no path filter matches', {
  tags: 'slow',
}, async () => {
  const filtered = LABEL.replace(
    '{ event: pr.opened }',
    '{ event: pr.opened, filter: { paths: "data/**" } }',
  );
  const scene = await start(only({ review: REVIEW, label: filtered }));
  const files = Object.fromEntries(Array.from({ length: 3_001 }, (_, index) => [`data/${index}.txt`, 'a\n']));
  const { number, headSha } = await scene.open({ files });
  expect(scene.check(headSha, 'review')).toMatchObject({ conclusion: 'failure' });
  expect(scene.check(headSha, 'review')?.title).toMatch(/^Review incomplete: /);
  expect(scene.check(headSha, 'review')?.summary).toMatch(/Not reviewed\n\n.*first 3,000/);
  expect(scene.github.labels(REPO, number)).toEqual([]);
  expectOnce(scene, number, headSha);
});

test(`a file of ${MEGABYTES} MB is named, and the rest is reviewed`, { tags: 'slow' }, async () => {
  const scene = await start(only({ review: REVIEW }));
  const { number, headSha } = await scene.open({
    files: { 'data/big.csv': ROW.repeat(MEGABYTES * 100), 'src/ok.ts': 'export const two = 2;\n' },
  });
  const check = scene.check(headSha, 'review');
  expect(check?.conclusion).toBe('success');
  expect(check?.summary).toMatch(/data\/big\.csv.*larger than 1 MB/);
  expectOnce(scene, number, headSha);
});

test('a binary file is named, and not read', { tags: 'slow' }, async () => {
  const scene = await start(only({ review: REVIEW }));
  const { headSha } = await scene.open({ files: { 'logo.png': new Uint8Array([137, 80, 78, 71, 0, 1, 2]) } });
  expect(scene.check(headSha, 'review')?.conclusion).toBe('success');
  expect(scene.check(headSha, 'review')?.summary).toMatch(/logo\.png.*binary/);
  expect(
    scene.github.requests.filter(({ path }) => path.includes('/git/blobs/') && !path.includes('.github')),
  ).toHaveLength(2);
});

test('code that contains a NUL, which Git treats as binary, leaves the review without a verdict', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ review: REVIEW }));
  const { headSha } = await scene.open({ files: { 'src/run.js': 'eval(input);\n\0' } });
  expect(scene.check(headSha, 'review')?.conclusion).toBe('failure');
});

test('a pull request whose fork was deleted is still reviewed', { tags: 'slow' }, async () => {
  const scene = await start(only({ review: REVIEW, label: LABEL }));
  scene.github.holdDeliveries();
  const { number, headSha } = await scene.github.openPullRequest({
    repo: REPO,
    author: 'otto',
    branch: 'theirs',
    fork: 'otto/app',
    title: 'From a fork',
    files: { 'src/ok.ts': 'export const two = 2;\n' },
  });
  await scene.github.deleteRepository('otto/app');
  await scene.github.releaseDeliveries();
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.verdicts(headSha)).toEqual({
    'countersign / label': 'success',
    'countersign / review': 'success',
  });
  expectOnce(scene, number, headSha);
});

test('a renamed file counts under both of its names', { tags: 'slow' }, async () => {
  const moved = LABEL.replace('{ event: pr.opened }', '{ event: pr.opened, filter: { paths: "old/**" } }');
  const scene = await start({
    ...only({ label: moved, review: REVIEW }),
    'old/name.ts': 'export const three = 3;\n'.repeat(20),
  });
  const { number, headSha } = await scene.open({
    files: { 'old/name.ts': null, 'new/name.ts': 'export const three = 3;\n'.repeat(20) },
  });
  expect(scene.github.labels(REPO, number)).toEqual(['seen']);
  expect(scene.check(headSha, 'review')?.conclusion).toBe('success');
});

test('a file that is renamed out of the paths of a merge-triggered chain counts under both of its names', {
  tags: 'slow',
}, async () => {
  const moved = LABEL.replace('{ event: pr.opened }', '{ event: pr.merged, filter: { paths: "old/**" } }');
  const scene = await start({
    ...only({ label: moved }),
    'old/name.ts': 'export const three = 3;\n'.repeat(20),
  });
  const { number } = await scene.open({
    files: { 'old/name.ts': null, 'new/name.ts': 'export const three = 3;\n'.repeat(20) },
  });
  await scene.github.mergePullRequest(REPO, number, 'mia');
  await scene.settle();
  expect(scene.github.labels(REPO, number)).toEqual(['seen']);
});

const STRANGE = [
  'a file.js',
  `it's "quoted".js`,
  'straße/日本語 😀.js',
  'two\nlines.js',
  '| table | `code` |.js',
  '-rf.js',
  '@octo.js',
  'a<b>&amp;.js',
];

test('findings in files with strange names appear under those names', { tags: 'slow' }, async () => {
  const scene = await start(only({ review: REVIEW }));
  const files = Object.fromEntries(
    STRANGE.map((name) => [`src/${name}`, 'export const run = (input) => eval(input);\n']),
  );
  const { number, headSha } = await scene.open({ files });
  const check = scene.check(headSha, 'review');
  expect(check?.conclusion).toBe('failure');
  expect(new Set(check?.annotations.map(({ path }) => path))).toEqual(new Set(Object.keys(files)));
  expect(check?.summary).not.toMatch(/^lines\.js/m);
  expect(check?.summary).not.toMatch(/(?<![\w`/])@octo\.js/);
  expectOnce(scene, number, headSha);
});

test('a chain file with a strange name is checked like any other', { tags: 'slow' }, async () => {
  const scene = await start(only({ label: LABEL }));
  const path = '.github/countersign/chains/a "b"\n<c>.yaml';
  const { headSha } = await scene.open({ files: { [path]: 'name: Nope\n' } });
  const check = scene.check(headSha, 'configuration');
  expect(check?.conclusion).toBe('failure');
  expect(check?.annotations[0]?.path).toBe(path);
  expect(check?.summary).not.toContain('\n<c>');
});

test('a pull request that changes no file is reviewed without a crash', { tags: 'slow' }, async () => {
  const scene = await start(only({ review: REVIEW, ship: CI_AND_MERGE }));
  const { number, headSha } = await scene.open({ files: {} });
  expect(scene.check(headSha, 'review')?.status).toBe('completed');
  expect(scene.check(headSha, 'review')?.summary).toContain('There was nothing to review.');
  expectOnce(scene, number, headSha);
});

test('a pull request with a title and a body of 65 KB can be merged', { tags: 'slow' }, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number, headSha } = await scene.open({
    title: 'Ü'.repeat(65_000),
    body: '<details>'.repeat(7_000),
  });
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  const question = scene.github
    .comments(REPO, number)
    .find(({ body }) => body.includes('countersign:question'));
  await scene.github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await scene.advance(10_000);
  expect(scene.github.pullRequest(REPO, number).merged).toBe(true);
});

test('a title of 65 KB in a chain’s comment is cut to GitHub’s limit', { tags: 'slow' }, async () => {
  const long =
    'name: long\ntrigger: { event: pr.opened }\nsteps: [{ action: gh-comment, with: { body: "{{ trigger.title }}" } }]\n';
  const scene = await start(only({ long }));
  const { number, headSha } = await scene.open({ title: '😀'.repeat(32_000) });
  const said = scene.github.comments(REPO, number).find(({ body }) => body.includes('countersign:comment'));
  expect(said?.body.endsWith('…')).toBe(true);
  expect(scene.check(headSha, 'long')?.conclusion).toBe('success');
});

test('a comment of 65 KB with a command in it is answered in one sentence', { tags: 'slow' }, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number } = await scene.open();
  const id = await scene.say(number, 'mia', `${'> '.repeat(30_000)}\n\n/countersign cancel\n`);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "A comment with a command may have 8,000 characters at most; send the command in one of its own.",
    ]
  `);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci']);
});

test('an API that does not know the pull request right after its event is asked again', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ label: LABEL }));
  scene.github.fail(
    ({ path }) => /\/pulls\/1(\?|$)/.test(path),
    { status: 404, body: { message: 'Not Found' } },
    2,
  );
  const { number, headSha } = await scene.open();
  await scene.advance(20_000);
  expect(scene.github.labels(REPO, number)).toEqual(['seen']);
  expectOnce(scene, number, headSha);
});

test('when a repository is deleted during a run, the app stays healthy and stops asking', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.settle();
  await scene.github.deleteRepository(REPO);
  await scene.advance(10 * MINUTE);
  const before = scene.github.requests.length;
  await scene.advance(10 * MINUTE);
  const asked = scene.github.requests.slice(before).map(({ path }) => path);
  expect(asked).toEqual(['/app/hook/deliveries?per_page=100']);
  expect((await scene.runs('ship')).map(({ finishedAt }) => finishedAt)).not.toContain(null);
});

test('when an installation is removed during a run, the app stays healthy and stops asking', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.settle();
  scene.github.uninstallApp('octo');
  await scene.advance(10 * MINUTE);
  const before = scene.github.requests.length;
  await scene.advance(10 * MINUTE);
  const asked = scene.github.requests.slice(before).map(({ path }) => path);
  expect(asked).toEqual(['/app/hook/deliveries?per_page=100']);
  expect((await scene.runs('ship')).map(({ finishedAt }) => finishedAt)).not.toContain(null);
  expectOnce(scene, number, headSha);
});

test('a run whose installation was removed ends with that reason, and is not a failure', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.settle();
  scene.github.uninstallApp('octo');
  await scene.advance(10 * MINUTE);
  const [run] = await scene.runs('ship');
  expect(run).toMatchObject({ status: 'aborted', reason: { code: 'run.aborted.installation_gone' } });
});

test('other repositories continue when one is deleted', { tags: 'slow' }, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  await scene.open();
  scene.github.addRepository({
    owner: 'octo',
    name: 'other',
    files: { 'a.txt': 'a\n', ...only({ label: LABEL }) },
  });
  await scene.github.deleteRepository(REPO);
  const other = await scene.github.openPullRequest({
    repo: 'octo/other',
    author: 'ada',
    branch: 'b',
    title: 'B',
    files: { 'b.txt': 'b\n' },
  });
  await scene.advance(MINUTE);
  expect(scene.github.labels('octo/other', other.number)).toEqual(['seen']);
});

test('two simultaneous events of one pull request start one run', { tags: 'slow' }, async () => {
  const scene = await start(only({ label: LABEL }));
  scene.github.holdDeliveries();
  const { number, headSha } = await scene.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'b',
    title: 'B',
    files: { 'b.txt': 'b\n' },
  });
  await scene.github.addLabel(REPO, number, 'will', 'early');
  await scene.github.releaseDeliveries('reverse');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await scene.runs('label')).toHaveLength(1);
  expect(section(scene.check(headSha, 'label')?.summary, 'Why')).toContain('Every step is done');
  expectOnce(scene, number, headSha);
});
