// @module-tag slow
import { expect, test } from 'vitest';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  countersign,
  hasExpired,
  headline,
  isAboutRepository,
  MERGE_ONLY,
  open,
  ownChecks,
  pushAgain,
  react,
  start,
} from './support.ts';

const MINUTE = 60_000;
const INSTALLATION = 51_000_001;

async function runs({ app }: Harness): Promise<(string | undefined)[][]> {
  const found = await app.storage.read.runs.list({ limit: 10 });
  return found.map(({ status, reason }) => [status, reason?.code, reason?.summary]);
}

/** A webhook that GitHub would send, although nothing happened in the stand-in. */
async function tell({ github, app, settle }: Harness, event: string, payload: object): Promise<void> {
  const { headers, body } = github.signedDelivery(event, payload);
  const answer = await fetch(`${app.url}${WEBHOOK_PATH}`, { method: 'POST', headers, body });
  expect(answer.status).toBe(202);
  await settle();
}

/** The requests to GitHub while so much time passes. */
async function asked(harness: Harness, ms: number): Promise<string[]> {
  const before = harness.github.requests.length;
  await harness.advance(ms);
  const about = harness.github.requests.slice(before).filter(isAboutRepository);
  return about.map(({ method, path }) => `${method} ${path}`);
}

test('a suspended installation ends its runs, causes no requests, and continues with the next event afterwards', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  await react(harness, number, 'mia');
  const before = github.requests.length;
  github.suspendApp('octo');
  await github.settle();
  await harness.advance(10 * MINUTE);
  expect(github.requests.slice(before).filter(isAboutRepository)).toEqual([]);
  expect(await runs(harness)).toEqual([
    ['aborted', 'run.aborted.installation_gone', 'the app’s installation was suspended'],
  ]);

  github.unsuspendApp('octo');
  await github.addLabel(REPO, number, 'ada', 'ready');
  await harness.advance(A_RECHECK);
  expect(github.merges).toEqual([]);
  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ number }]);
});

test('an archived repository ends its runs, gets no writes, and continues when it is unarchived', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  await github.archiveRepository(REPO);
  expect(await asked(harness, 10 * MINUTE)).toEqual([]);
  expect((await runs(harness))[0]?.slice(0, 2)).toEqual(['aborted', 'run.aborted.repository_gone']);

  await github.unarchiveRepository(REPO);
  await github.addLabel(REPO, number, 'ada', 'ready');
  await harness.advance(A_RECHECK);
  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ headSha }]);
});

test('a repository that is removed from the installation ends only its own runs', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const other = github.addRepository({
    owner: 'octo',
    name: 'other',
    files: { '.github/countersign/chains/pr-review.yaml': MERGE_ONLY },
  });
  await open(harness);
  await github.openPullRequest({
    repo: 'octo/other',
    author: 'ada',
    branch: 'b',
    title: 'B',
    files: { 'b.txt': 'b\n' },
  });
  await harness.advance(A_RECHECK);
  await tell(harness, 'installation_repositories', {
    action: 'removed',
    installation: { id: INSTALLATION },
    repositories_removed: [{ id: other.id, full_name: 'octo/other' }],
  });
  const found = await harness.app.storage.read.runs.list({ limit: 10 });
  expect(Object.fromEntries(found.map(({ repository, status }) => [repository, status]))).toEqual({
    [REPO]: 'waiting_approval',
    'octo/other': 'aborted',
  });
});

test.each([
  ['another installation', INSTALLATION + 1, 'waiting_approval'],
  ['this installation', INSTALLATION, 'aborted'],
])('the end of %s does not affect others', async (_, id, status) => {
  const harness = await start({ chain: MERGE_ONLY });
  await open(harness);
  await tell(harness, 'installation', { action: 'deleted', installation: { id } });
  expect((await runs(harness)).map(([so]) => so)).toEqual([status]);
});

test('a repository that moves to another owner’s installation ends the runs of the old one', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await open(harness);
  const [run] = await harness.app.storage.read.runs.list({ limit: 1 });
  const repository = { id: run?.repositoryId, name: 'app', owner: { login: 'new-owner' } };
  await tell(harness, 'repository', {
    action: 'transferred',
    installation: { id: INSTALLATION + 1 },
    repository,
  });
  expect((await runs(harness))[0]?.slice(0, 2)).toEqual(['aborted', 'run.aborted.repository_gone']);
});

test('a repository that is renamed while it waits for a countersign is merged under its new name', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  await github.renameRepository(REPO, 'shop');
  await harness.advance(A_RECHECK);
  const question = github
    .comments('octo/shop', number)
    .find(({ body }) => body.includes('countersign:question'));
  await github.react('octo/shop', question?.id ?? 0, 'mia', 'rocket');
  await harness.advance(A_RECHECK);
  expect(github.merges).toMatchObject([{ number, headSha }]);
  expect(github.comments('octo/shop', number)).toHaveLength(1);
  const [run] = await harness.app.storage.read.runs.list({ limit: 1 });
  expect(run?.repository).toBe('octo/shop');
});

test('an effect that was requested under a former name is written, although no webhook reported the rename', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const back = github.fail(({ method }) => method === 'POST', { status: 503 });
  const { number, headSha } = await open(harness);
  github.holdDeliveries();
  await github.renameRepository(REPO, 'shop');
  back();
  await harness.advance(MINUTE);
  expect(github.comments('octo/shop', number)).toHaveLength(1);
  expect(
    github
      .checkRuns('octo/shop', headSha)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['countersign / pr-review', 'countersign: main']);
});

test('an app that loses a permission says so where it can still write', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  github.fail(({ method, path }) => method === 'GET' && path.includes('/issues/comments/'), {
    status: 403,
    body: { message: 'Resource not accessible by integration' },
  });
  github.fail(({ path }) => path === '/graphql', {
    status: 200,
    body: { data: { a: [null] }, errors: [{ type: 'NOT_FOUND', path: ['a', 0] }] },
  });
  await harness.advance(10 * MINUTE);
  expect((await runs(harness)).map(([, code]) => code)).toEqual(['run.aborted.shut_out']);
  expect(ownChecks(harness, headSha).map(({ title }) => title)).toEqual([
    'Stopped: GitHub refuses this app here',
  ]);
  expect(approvals(harness, number)).toHaveLength(1);
});

type Act = (harness: Harness) => unknown;
const LABEL: Act = ({ github }) => github.addLabel(REPO, 1, 'ada', 'ready');
const SUSPEND: Act = ({ github }) => github.suspendApp('octo');
const UNSUSPEND: Act = ({ github }) => github.unsuspendApp('octo');

/** Does it without any webhook, for longer than GitHub may refuse an installation by mistake. */
function untold(act: Act): Act {
  return async (harness) => {
    const { github } = harness;
    github.setWebhookUrl(undefined);
    await act(harness);
    await harness.advance(MINUTE);
    await harness.sleep(70 * MINUTE);
    await harness.advance(4 * MINUTE);
    github.setWebhookUrl(`${harness.app.url}${WEBHOOK_PATH}`);
  };
}

/**
 * With its token in memory, the app would retry that one first, for five of the machine's seconds, because GitHub's copies may
 * lag.
 */
function removeAndRestart(harness: Harness): Promise<void> {
  harness.github.uninstallApp('octo');
  return harness.restart();
}

test.each<[string, Act, string]>([
  ['suspended', SUSPEND, 'run.aborted.shut_out'],
  ['removed', removeAndRestart, 'run.aborted.shut_out'],
  ['without its repository', ({ github }) => github.deleteRepository(REPO), 'run.aborted.repository_gone'],
])('an app that is %s without any webhook ends its runs and says so', async (_, act, code) => {
  const harness = await start({ chain: MERGE_ONLY });
  await open(harness);
  await harness.advance(A_RECHECK);
  await untold(act)(harness);
  expect((await runs(harness)).map(([, so]) => so)).toEqual([code]);
  expect(await asked(harness, 10 * MINUTE)).toEqual([]);
});

test.each<{ what: string; begins: Act; ends: Act; next: Act }>([
  { what: 'a suspension', begins: SUSPEND, ends: UNSUSPEND, next: LABEL },
  { what: 'a suspension without a webhook', begins: untold(SUSPEND), ends: UNSUSPEND, next: LABEL },
  {
    what: 'a suspension during which the pull request was closed',
    begins: SUSPEND,
    ends: UNSUSPEND,
    next: ({ github }) => github.closePullRequest(REPO, 1, 'ada'),
  },
  {
    what: 'a removal',
    begins: ({ github }) => github.uninstallApp('octo'),
    ends: ({ github }) => github.installApp('octo'),
    next: LABEL,
  },
  {
    what: 'an archive',
    begins: ({ github }) => github.archiveRepository(REPO),
    ends: ({ github }) => github.unarchiveRepository(REPO),
    next: LABEL,
  },
  {
    what: 'an archive that is followed by a push',
    begins: ({ github }) => github.archiveRepository(REPO),
    ends: ({ github }) => github.unarchiveRepository(REPO),
    next: pushAgain,
  },
])('after $what, what it left open on GitHub is closed', async ({ begins, ends, next }) => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  await begins(harness);
  await harness.advance(10 * MINUTE);
  expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
  await ends(harness);
  await next(harness);
  await harness.advance(2 * MINUTE);
  const [first, ...later] = approvals(harness, number);
  expect(first && hasExpired(first)).toBe(true);
  expect(ownChecks(harness, headSha)[0]).toMatchObject({ status: 'completed' });
  const { state } = harness.github.pullRequest(REPO, number);
  expect(later.map(headline)).toEqual(state === 'open' ? ['✍️ Approve this merge?'] : []);
  const pending = await harness.app.storage.read.effects.list({ status: 'pending', limit: 10 });
  const failed = await harness.app.storage.read.effects.list({ status: 'failed', limit: 10 });
  // A comment that GitHub never had leaves nothing open.
  expect([...pending, ...failed].filter(({ githubId }) => githubId !== null)).toEqual([]);
});

test('an effect that a run could never write is not written after its end', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const refused = { status: 403, body: { message: 'Resource not accessible by integration' } };
  const faults = [
    github.fail(({ method, path }) => method === 'POST' && path.endsWith('/check-runs'), refused),
    github.fail(({ method, path }) => method === 'GET' && path.includes('/issues/comments/'), refused),
  ];
  const { headSha } = await open(harness);
  await harness.advance(10 * MINUTE);
  expect((await runs(harness)).map(([, code]) => code)).toEqual(['run.aborted.shut_out']);
  for (const back of faults) back();
  await LABEL(harness);
  await harness.advance(A_RECHECK);
  expect(ownChecks(harness, headSha).map(({ status }) => status)).toEqual(['in_progress']);
});
