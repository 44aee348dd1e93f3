// @module-tag slow
import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { approvalOf, countersign } from './support.ts';
import { flowChain } from './support-chains.ts';
import { only, type Scene, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

const backport = (inputs = '') =>
  flowChain(`action: gh-backport${inputs && `, with: ${inputs}`}`, '{ event: pr.merged }');

/** A merged pull request that changes a line, and a release branch from before. */
async function merged(
  scene: Scene,
  {
    labels = ['backport release-1.x'],
    method = 'squash',
    files = { 'src/index.ts': 'export const one = 11;\n' },
  } = {} as {
    labels?: string[];
    method?: 'merge' | 'squash' | 'rebase';
    files?: Record<string, string>;
  },
): Promise<number> {
  await scene.github.push({ repo: REPO, branch: 'release-1.x', author: 'mia', files: { VERSION: '1\n' } });
  const { number } = await scene.open({ files, body: 'Thanks @octo/everybody' });
  for (const label of labels) await scene.github.addLabel(REPO, number, 'will', label);
  await scene.github.mergePullRequest(REPO, number, 'mia', method);
  await scene.advance(10_000);
  return number;
}

const copies = (scene: Scene) => scene.github.pullRequests(REPO).slice(1);
const outcome = async (scene: Scene) => {
  const [run] = await scene.runs('flow');
  const state = run && (await scene.app.storage.read.runs.load(run.id));
  return state?.invocations[0]?.outcome ?? state?.invocations[0]?.reason?.summary;
};

test.each(['squash', 'merge', 'rebase'] as const)(
  'a merge by %s is copied to the branch that a label names, by one pull request',
  async (method) => {
    const scene = await start(backport());
    const number = await merged(scene, { method });
    const branch = `backport/${number}-to-release-1.x`;
    expect(copies(scene)).toMatchObject([
      {
        title: '[release-1.x] Change something',
        author: scene.github.app.botLogin,
        headRef: branch,
        baseRef: 'release-1.x',
        body: expect.stringContaining(`#${number}`),
      },
    ]);
    expect(scene.github.fileAt(REPO, branch, 'src/index.ts')).toBe('export const one = 11;\n');
    expect(scene.github.fileAt(REPO, branch, 'VERSION')).toBe('1\n');
    const { message, author, parents } = scene.github.commit(REPO, branch);
    expect(message).toContain('Change something');
    expect(message).toMatch(/\n\(cherry picked from commit [0-9a-f]{40}\)$/);
    expect(author).toBe('ada');
    expect(parents).toEqual([scene.github.branch(REPO, 'release-1.x')]);
    expect(scene.github.branches(REPO).filter((name) => name.startsWith('countersign/'))).toEqual([]);
    expect(await outcome(scene)).toMatchObject({
      passed: true,
      summary: 'opened pull requests into release-1.x',
      details: { opened: [`release-1.x #${copies(scene)[0]?.number}`] },
    });
  },
);

test('all commits of a pull request that was merged by rebase are copied as one change', async () => {
  const scene = await start(backport('{ branches: release-1.x }'));
  await scene.github.push({ repo: REPO, branch: 'release-1.x', author: 'mia', files: { VERSION: '1\n' } });
  const { number } = await scene.open({ files: { 'a.txt': 'a\n' } });
  await scene.github.push({
    repo: REPO,
    branch: 'change',
    author: 'will',
    files: { 'b.txt': 'b\n' },
    message: 'Add b',
  });
  await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files: { 'other.txt': 'o\n' } });
  await scene.github.mergePullRequest(REPO, number, 'mia', 'rebase');
  await scene.advance(10_000);
  const branch = `backport/${number}-to-release-1.x`;
  const files = ['a.txt', 'b.txt', 'other.txt'].map((path) => scene.github.fileAt(REPO, branch, path));
  expect(files).toEqual(['a\n', 'b\n', undefined]);
  expect(scene.github.commit(REPO, branch).message).toContain('\nCo-authored-by: ada <');
});

test('a conflict is said on the merged pull request, with the commands for doing it by hand', async () => {
  const scene = await start(backport('{ branches: [release-1.x, release-2.x] }'));
  await scene.github.push({ repo: REPO, branch: 'release-2.x', author: 'mia' });
  await scene.github.push({
    repo: REPO,
    branch: 'release-1.x',
    author: 'mia',
    files: { 'src/index.ts': 'export const one = "one";\n' },
  });
  const number = await merged(scene, { labels: [] });
  expect(copies(scene).map(({ baseRef }) => baseRef)).toEqual(['release-2.x']);
  const [comment] = scene.github
    .comments(REPO, number)
    .filter(({ body }) => body.includes('countersign:backport'));
  expect(comment?.body).toContain('conflicts with `release-1.x`');
  expect(comment?.body).toContain(`git switch --create backport/${number}-to-release-1.x origin/release-1.x`);
  expect(comment?.body).toMatch(/git cherry-pick -x [0-9a-f]{40}\n/);
  expect(await outcome(scene)).toMatchObject({
    passed: false,
    summary: 'opened pull requests into release-2.x; conflicts with release-1.x',
  });
});

test('a branch that has the change already gets no pull request', async () => {
  const scene = await start(backport());
  await scene.github.push({
    repo: REPO,
    branch: 'release-1.x',
    author: 'mia',
    files: { 'src/index.ts': 'export const one = 11;\n' },
  });
  await merged(scene);
  expect(copies(scene)).toEqual([]);
  expect(await outcome(scene)).toMatchObject({
    passed: true,
    summary: 'found nothing to copy to release-1.x',
  });
});

test('a backport whose answers are lost is made once', async () => {
  const scene = await start(backport());
  const lost = new Set<string>();
  scene.github.fail(
    ({ method, path }) => {
      const isWrite = method !== 'GET' && /\/(git\/(commits|refs)|merges|pulls)/.test(path);
      const key = `${method} ${path}`;
      if (!isWrite || lost.has(key)) return false;
      lost.add(key);
      return true;
    },
    { after: 'reset' },
  );
  const number = await merged(scene);
  await scene.advance(300_000);
  expect(lost.size).toBeGreaterThan(4);
  expect(await outcome(scene)).toMatchObject({ summary: 'opened pull requests into release-1.x' });
  expect(copies(scene).map(({ headRef }) => headRef)).toEqual([`backport/${number}-to-release-1.x`]);
  expect(scene.github.branches(REPO).filter((name) => name.startsWith('countersign/'))).toEqual([]);
});

test('a branch of that name that somebody else has made stays as it is', async () => {
  const scene = await start(backport());
  const tip = await scene.github.push({
    repo: REPO,
    branch: 'backport/1-to-release-1.x',
    author: 'otto',
    files: { 'evil.txt': 'e\n' },
  });
  const number = await merged(scene);
  expect(number).toBe(1);
  expect(copies(scene)).toEqual([]);
  expect(scene.github.branch(REPO, 'backport/1-to-release-1.x')).toBe(tip);
  expect(await outcome(scene)).toMatchObject({ passed: false, summary: 'failed for release-1.x' });
});

test.each(['other files', 'another author', 'a commit below that the target does not have'] as const)(
  'a branch with the message of a backport and %s is not taken for the app’s own',
  async (what) => {
    const scene = await start(backport());
    const isOpening = ({ method, path }: { method: string; path: string }) =>
      method === 'POST' && path.endsWith('/pulls');
    const opensAgain = scene.github.fail(isOpening, { status: 502 });
    await merged(scene);
    const branch = 'backport/1-to-release-1.x';
    const { message } = scene.github.commit(REPO, branch);
    const files = { 'src/index.ts': what === 'other files' ? 'evil();\n' : 'export const one = 11;\n' };
    const below = what.startsWith('a commit') ? 'main' : 'release-1.x';
    await scene.github.push({
      repo: REPO,
      branch,
      author: what === 'another author' ? 'otto' : 'ada',
      pusher: 'otto',
      message,
      files,
      forceTo: scene.github.branch(REPO, below) ?? '',
    });
    opensAgain();
    await scene.advance(300_000);
    expect(copies(scene)).toEqual([]);
    expect(await outcome(scene)).toMatchObject({ passed: false, summary: 'failed for release-1.x' });
  },
);

test('what somebody pushes to the temporary branch is not copied', async () => {
  const scene = await start(backport());
  const branch = 'countersign/temporary/backport-1-to-release-1.x';
  let pushing: Promise<string> | undefined;
  scene.github.fail(({ method, path }) => {
    if (method === 'POST' && path.endsWith('/merges'))
      pushing ??= scene.github.push({ repo: REPO, branch, author: 'otto', files: { 'evil.txt': 'e\n' } });
    return false;
  }, 'reset');
  await merged(scene);
  await pushing;
  expect(copies(scene)).toEqual([]);
  expect(await outcome(scene)).toMatchObject({ passed: false, summary: 'failed for release-1.x' });
});

test.each(['merge', 'rebase', 'squash'] as const)(
  'a backport of a merge by %s credits who opened, co-wrote and committed the change, so that they cannot countersign it',
  async (method) => {
    const scene = await start(backport('{ branches: release-1.x }'));
    await scene.github.push({ repo: REPO, branch: 'release-1.x', author: 'mia', files: { VERSION: '1\n' } });
    const files = { 'a.txt': 'a\n' };
    const [branch, repo] = ['change', REPO];
    await scene.github.push({ repo, branch, author: 'otto', coAuthors: ['mia'], files });
    const { number } = await scene.open({ author: 'ada', files: {} });
    await scene.github.mergePullRequest(REPO, number, 'will', method);
    await scene.advance(10_000);
    const { author, message } = scene.github.commit(REPO, `backport/${number}-to-release-1.x`);
    const credited = [author, ...[...message.matchAll(/^Co-authored-by: (\S+) </gm)].map(([, name]) => name)];
    expect(credited).toEqual(expect.arrayContaining(['ada', 'otto', 'mia']));
  },
);

test('a change by more authors than a backport can name is not copied', async () => {
  const scene = await start(backport('{ branches: release-1.x }'));
  await scene.github.push({ repo: REPO, branch: 'release-1.x', author: 'mia', files: { VERSION: '1\n' } });
  const coAuthors = Array.from({ length: 51 }, (_, index) => `somebody <${index}@example.com>`);
  const pushed = { repo: REPO, branch: 'change', author: 'otto', files: { 'a.txt': 'a\n' } };
  await scene.github.push({ ...pushed, coAuthors });
  const { number } = await scene.open({ files: {} });
  await scene.github.mergePullRequest(REPO, number, 'mia', 'merge');
  await scene.advance(10_000);
  expect(copies(scene)).toEqual([]);
  expect(await outcome(scene)).toContain('has more than 50 authors');
});

test.each([
  [['backport $(id)'], undefined, 'is not a branch that a change can be copied to'],
  [['backport ../x'], undefined, 'is not a branch that a change can be copied to'],
  [
    [...'abcdefghijk'].map((name) => `backport ${name}`),
    undefined,
    '11 branches are named, and 10 are allowed',
  ],
  [['other'], undefined, 'names no branch to copy it to'],
])('nothing is copied for labels %j and inputs %s', async (labels, inputs, because) => {
  const scene = await start(backport(inputs));
  await merged(scene, { labels });
  expect(copies(scene)).toEqual([]);
  expect(JSON.stringify(await outcome(scene))).toContain(because);
});

test('a pull request that is not merged is not copied', async () => {
  const scene = await start(flowChain('action: gh-backport, with: { branches: release-1.x }'));
  await scene.open();
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await outcome(scene)).toContain('is not merged, so there is nothing to copy');
});

test('a pull request that somebody else opened from that branch is not taken for the copy', async () => {
  const scene = await start(backport());
  await scene.github.push({ repo: REPO, branch: 'release-1.x', author: 'mia', files: { VERSION: '1\n' } });
  const { number } = await scene.open();
  await scene.github.addLabel(REPO, number, 'will', 'backport release-1.x');
  const forged = await scene.github.openPullRequest({
    repo: REPO,
    author: 'otto',
    branch: `backport/${number}-to-release-1.x`,
    base: 'release-1.x',
    title: '[release-1.x] Change something',
    files: { 'evil.txt': 'e\n' },
  });
  await scene.github.mergePullRequest(REPO, number, 'mia', 'squash');
  await scene.advance(10_000);
  expect(await outcome(scene)).toMatchObject({ passed: false, summary: 'failed for release-1.x' });
  const [comment] = scene.github
    .comments(REPO, number)
    .filter(({ body }) => body.includes('countersign:backport'));
  expect(comment?.body).toContain(`Somebody else has opened #&#8203;${forged.number} from`);
});

test.each(['squash', 'merge', 'rebase'] as const)(
  'a person who only pushed what was merged by %s may not countersign its copy',
  async (method) => {
    const scene = await start(
      only({
        flow: 'name: flow\ntrigger: { event: pr.merged, filter: { base: main } }\nsteps: [{ action: gh-backport, with: { branches: release-1.x } }]\n',
        ship: 'name: ship\ntrigger: { event: pr.opened, filter: { base: release-1.x } }\nsteps: [{ action: gh-merge, requires_approval: true }]\n',
      }),
    );
    await scene.github.push({ repo: REPO, branch: 'release-1.x', author: 'mia', files: { VERSION: '1\n' } });
    const { number } = await scene.open({ pusher: 'mia', files: { 'a.txt': 'a\n' } });
    await scene.github.mergePullRequest(REPO, number, 'will', method);
    await scene.advance(10_000);
    const copy = copies(scene)[0]?.number ?? 0;
    const isMerged = () => scene.github.merges.some((merge) => merge.number === copy);
    await countersign(scene, copy, 'mia');
    expect([approvalOf(scene, copy).body, isMerged()]).toEqual([
      expect.stringContaining('mia reacted, but pushed some of the commits'),
      false,
    ]);
    await countersign(scene, copy, 'max');
    expect(isMerged()).toBe(true);
  },
);

test('a copy of what nobody knows who pushed needs one more countersign', async () => {
  const scene = await start(backport('{ branches: release-1.x }'));
  await scene.github.push({ repo: REPO, branch: 'release-1.x', author: 'mia', files: { VERSION: '1\n' } });
  scene.github.fail(({ path }) => path.includes('/activity'), {
    status: 403,
    body: { message: 'Forbidden' },
  });
  const { number } = await scene.open({ fork: 'ada/app', files: { 'a.txt': 'a\n' } });
  await scene.github.mergePullRequest(REPO, number, 'mia', 'squash');
  await scene.advance(10_000);
  const { message } = scene.github.commit(REPO, `backport/${number}-to-release-1.x`);
  expect(message).toMatch(/\nPushed-by: unknown\n\(cherry picked from/);
});
