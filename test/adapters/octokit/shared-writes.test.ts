import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOctokitGitHub } from '../../../src/adapters/octokit/octokit-github.ts';
import { octokitsWithKey } from '../../../src/adapters/octokit/sign-in.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { CheckRunContent } from '../../../src/domain/effect/effect.ts';
import { type GitHub, GitHubError, type SharedWrite } from '../../../src/ports/github.ts';
import { ManualClock } from '../../support/clock.ts';
import type { Asked, Fault } from '../../support/github/faults.ts';
import { routeOf } from '../../support/github/route.ts';
import { type GitHubStandIn, startGitHub } from '../../support/github/stand-in.ts';

const REPO = { owner: 'acme', name: 'shop' };
const NAME = 'acme/shop';
const R = '/repos/{owner}/{repo}';

const isNoToken = ({ path }: Asked) => !path.endsWith('/access_tokens');
const isMutation = ({ mutates }: Asked) => mutates !== undefined;

let standIn: GitHubStandIn;
let clock: ManualClock;
let github: GitHub;
let installation: number;
let number: number;
let headSha: string;

beforeEach(async () => {
  clock = new ManualClock('2030-01-02T03:04:05Z');
  standIn = await startGitHub({ now: () => clock.now() });
  standIn.addOrganization('acme');
  standIn.addUser('ada');
  standIn.addRepository({ owner: 'acme', name: 'shop', files: { 'README.md': 'hello\n' } });
  installation = standIn.installApp('acme');
  const { id: appId, privateKey } = standIn.app;
  const source = octokitsWithKey({ appId, privateKey, apiUrl: standIn.url });
  github = createOctokitGitHub({ source, log: silentLog, clock });
  const change = { author: 'ada', title: 'Fix the cart', branch: 'fix/cart', files: { 'a.ts': '\n' } };
  ({ number, headSha } = await standIn.openPullRequest({ repo: NAME, ...change }));
});

afterEach(() => standIn.stop());

const content = (change: Partial<CheckRunContent> = {}): CheckRunContent => ({
  name: 'countersign / pr-review',
  head_sha: headSha,
  external_id: 'run_1',
  state: { status: 'in_progress', started_at: '2030-01-01T00:00:00Z' },
  title: 'Reviewing',
  summary: 'Under way.',
  text: 'The text.',
  annotations: [],
  actions: [{ label: 'Run again', description: 'Runs the chain again', identifier: 'rerun' }],
  ...change,
});

const creating = (name: string): SharedWrite => ({ kind: 'create_check_run', content: content({ name }) });
const asking = (body = 'Approve this merge?'): SharedWrite => ({
  kind: 'create_comment',
  issue: number,
  body,
});

/** A query shows the ids that mutations need. */
const readIds = () => github.reader(installation).prefetched(REPO, number, {});

/** The routes of the requests, and what became of each write: what was written, or the kind of its failure. */
async function write(...writes: SharedWrite[]) {
  const before = standIn.requests.length;
  const results = await github.writer(installation).writeTogether(REPO, writes);
  return {
    routes: standIn.requests.slice(before).filter(isNoToken).map(routeOf),
    results: results.map((result) => {
      if (result.status === 'fulfilled') return result.value;
      return result.reason instanceof GitHubError ? result.reason.kind : result.reason;
    }),
  };
}

const names = () => standIn.checkRuns(NAME, headSha).map(({ name }) => name);
const bodies = () => standIn.comments(NAME, number).map(({ body }) => body);

describe('writes of one repository', () => {
  test('are sent in one request, which creates what REST would create', async () => {
    const alone = await write({ kind: 'create_check_run', content: content() });
    await readIds();
    const shared = await write({ kind: 'create_check_run', content: content() }, asking());
    expect(alone.routes).toEqual([`POST ${R}/check-runs`]);
    expect(shared.routes).toEqual(['POST /graphql createCheckRun addComment']);
    const [one, other] = standIn.checkRuns(NAME, headSha);
    expect({ ...other, id: 0 }).toEqual({ ...one, id: 0 });
    expect(shared.results[0]).toEqual({
      id: other?.id,
      nodeId: expect.any(String),
      url: expect.stringMatching(new RegExp(`/runs/${other?.id}$`)),
    });
    const [comment] = standIn.comments(NAME, number);
    expect(shared.results[1]).toEqual({
      id: comment?.id,
      nodeId: expect.any(String),
      authorId: expect.any(Number),
    });
    const byRest = await github.reader(installation).comment(REPO, comment?.id ?? 0);
    expect(shared.results[1]).toMatchObject({ nodeId: byRest?.nodeId, authorId: byRest?.author.id });
  });

  test('change check runs and comments by the ids that both APIs have answered', async () => {
    const [byRest] = (await write(creating('by REST'))).results;
    await readIds();
    const { results } = await write(creating('by GraphQL'), asking());
    const idsOf = (written: unknown) => written as { id: number; nodeId: string };
    const state = {
      status: 'completed',
      conclusion: 'failure',
      completed_at: '2030-01-02T00:00:00Z',
    } as const;
    const annotations = [
      { path: 'a.ts', start_line: 1, end_line: 1, level: 'warning' as const, title: '', message: 'm' },
    ];
    const done = (of: unknown, name: string): SharedWrite => ({
      kind: 'update_check_run',
      ...idsOf(of),
      content: content({ name, state, annotations }),
    });
    const { routes } = await write(done(byRest, 'by REST'), done(results[0], 'by GraphQL'), {
      kind: 'update_comment',
      ...idsOf(results[1]),
      body: 'Merged.',
    });
    expect(routes).toEqual(['POST /graphql updateCheckRun updateCheckRun updateIssueComment']);
    const seen = standIn.checkRuns(NAME, headSha);
    expect(seen.map(({ name, conclusion }) => `${name}: ${conclusion}`)).toEqual([
      'by REST: failure',
      'by GraphQL: failure',
    ]);
    expect(seen.map(({ annotations }) => annotations.length)).toEqual([1, 1]);
    expect(bodies()).toEqual(['Merged.']);
  });

  test('go to REST if no query has shown the ids, and so does a single one', async () => {
    expect((await write(creating('a'), asking())).routes.toSorted()).toEqual([
      `POST ${R}/check-runs`,
      `POST ${R}/issues/{number}/comments`,
    ]);
    await readIds();
    expect((await write(asking())).routes).toEqual([`POST ${R}/issues/{number}/comments`]);
  });

  test('leave one that needs several requests to REST', async () => {
    await readIds();
    const annotations = Array.from({ length: 51 }, (_, index) => ({
      path: 'a.ts',
      start_line: index + 1,
      end_line: index + 1,
      level: 'warning' as const,
      title: '',
      message: 'm',
    }));
    const { routes } = await write(
      { kind: 'create_check_run', content: content({ annotations }) },
      creating('small'),
      asking(),
    );
    expect(routes.toSorted()).toEqual(
      [
        `PATCH ${R}/check-runs/{number}`,
        `POST ${R}/check-runs`,
        'POST /graphql createCheckRun addComment',
      ].toSorted(),
    );
  });

  test('go to REST for a minute after GraphQL failed', async () => {
    await readIds();
    standIn.fail(isMutation, { status: 502 }, 1);
    await write(creating('a'), asking());
    expect((await write(creating('b'), asking())).routes).toHaveLength(2);
    clock.advance(60_000);
    expect((await write(creating('c'), asking())).routes).toHaveLength(1);
  });

  test('are each made by REST if GitHub does not know the mutation, and so are those of the next ten minutes', async () => {
    await readIds();
    const errors = [{ path: ['mutation'], extensions: { code: 'undefinedField' }, message: 'No such field' }];
    const back = standIn.fail(isMutation, { status: 200, body: { errors } });
    expect((await write(creating('a'), asking())).results).toEqual([
      expect.objectContaining({ id: expect.any(Number) }),
      expect.objectContaining({ id: expect.any(Number) }),
    ]);
    expect([names(), bodies().length]).toEqual([['a'], 1]);
    back();
    expect((await write(creating('b'), asking())).routes).toHaveLength(2);
    clock.advance(600_000);
    expect((await write(creating('c'), asking())).routes).toHaveLength(1);
  });
});

describe('of writes that share a request', () => {
  test('one that GitHub refuses is left to REST, which says why, and the others are made', async () => {
    await readIds();
    const { routes, results } = await write(
      { kind: 'create_check_run', content: content({ head_sha: '0'.repeat(40) }) },
      creating('a'),
      asking(),
    );
    expect(routes).toEqual([
      'POST /graphql createCheckRun createCheckRun addComment',
      `POST ${R}/check-runs`,
    ]);
    expect(results).toEqual([
      'invalid',
      expect.objectContaining({ id: expect.any(Number) }),
      expect.objectContaining({ id: expect.any(Number) }),
    ]);
    expect([names(), bodies().length]).toEqual([['a'], 1]);
  });

  test('an update of a deleted comment is left to REST, which lets it be', async () => {
    await readIds();
    const { results } = await write(creating('a'), asking());
    const comment = results[1] as { id: number; nodeId: string };
    await standIn.deleteComment(NAME, comment.id, 'ada');
    const { routes } = await write({ kind: 'update_comment', ...comment, body: 'Merged.' }, creating('b'));
    expect(routes).toEqual([
      'POST /graphql updateIssueComment createCheckRun',
      `PATCH ${R}/issues/comments/{number}`,
    ]);
    expect(bodies()).toEqual([]);
  });

  test.each<[string, Fault]>([
    ['whose answer is lost', { after: 'reset' }],
    ['that is broken off', { afterFields: 1 }],
    ['that GitHub fails at', { status: 502 }],
    [
      'that GitHub ends early',
      { status: 200, body: { data: null, errors: [{ message: 'Something went wrong' }] } },
    ],
    [
      'with an error of no type',
      {
        status: 200,
        body: { data: { w0: null, w1: null }, errors: [{ path: ['w0'], message: 'Something went wrong' }] },
      },
    ],
    [
      'with an error after they were carried out',
      {
        status: 200,
        body: {
          data: { w0: null, w1: null },
          errors: ['w0', 'w1'].map((alias) => ({ type: 'FORBIDDEN', path: [alias, 'checkRun', 'url'] })),
        },
      },
    ],
  ])('none of a request %s is sent again, because it may have been carried out', async (_, how) => {
    await readIds();
    standIn.fail(isMutation, how, 1);
    const { routes, results } = await write(creating('a'), asking());
    expect(routes).toEqual(['POST /graphql createCheckRun addComment']);
    expect(results).toEqual(['unavailable', 'unavailable']);
  });

  test('each waits if GitHub asks for a pause, and REST is not asked instead', async () => {
    await readIds();
    const body = { message: 'You have exceeded a secondary rate limit.' };
    standIn.fail(isMutation, { status: 403, headers: { 'retry-after': '60' }, body }, 1);
    const { routes, results } = await write(creating('a'), asking());
    expect(routes).toHaveLength(1);
    expect(results).toEqual(['rate_limited', 'rate_limited']);
  });

  test('each is left to REST if GraphQL’s own limit is spent', async () => {
    await readIds();
    const errors = [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for installation.' }];
    standIn.fail(isMutation, { status: 200, body: { errors } }, 1);
    expect((await write(creating('a'), asking())).routes).toHaveLength(3);
    expect([names(), bodies().length]).toEqual([['a'], 1]);
  });
});

describe('a recent answer about a pull request', () => {
  const ask = (recent?: 'without checks' | 'with checks') =>
    github.reader(installation).prefetched(REPO, number, { headSha, ...(recent && { recent }) });
  /** How many queries were sent. */
  async function asked(...recents: ('without checks' | 'with checks' | undefined)[]): Promise<number> {
    const before = standIn.requests.length;
    for (const recent of recents) await ask(recent);
    return standIn.requests.slice(before).filter(isNoToken).length;
  }

  test('serves another step that accepts one, for a second', async () => {
    expect(await asked(undefined, 'with checks', 'without checks')).toBe(1);
    clock.advance(1_001);
    expect(await asked('with checks')).toBe(1);
  });

  test('never serves a step that does not accept one', async () => {
    expect(await asked(undefined, undefined)).toBe(2);
  });

  test('does not serve another head', async () => {
    await ask();
    headSha = await standIn.push({ repo: NAME, branch: 'fix/cart', author: 'ada', files: { 'b.ts': '\n' } });
    expect(await asked('without checks')).toBe(1);
  });

  test('does not show checks after an event about checks', async () => {
    await ask();
    github.changed(installation, REPO, {});
    expect(await asked('without checks')).toBe(0);
    expect(await asked('with checks')).toBe(1);
  });

  test('does not count after an event about the pull request, even if it was still under way', async () => {
    await ask();
    github.changed(installation, REPO, { pullRequest: number });
    expect(await asked('without checks')).toBe(1);
    const underWay = ask();
    github.changed(installation, REPO, { pullRequest: number });
    await underWay;
    expect(await asked('without checks')).toBe(1);
  });

  test('does not count after a push to the base, on which conflicts depend', async () => {
    await ask();
    github.changed(installation, REPO, { branch: 'fix/cart' });
    expect(await asked('with checks')).toBe(0);
    github.changed(installation, REPO, { branch: 'main' });
    expect(await asked('without checks')).toBe(1);
  });

  test('still counts after an event about another pull request or repository', async () => {
    await ask();
    github.changed(installation, REPO, { pullRequest: number + 1 });
    github.changed(installation, { owner: 'acme', name: 'other' }, { pullRequest: number });
    expect(await asked('with checks')).toBe(0);
  });
});
