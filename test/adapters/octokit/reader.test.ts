import { describe, expect, it } from 'vitest';
import { GitHubError } from '../../../src/ports/github.ts';
import { INSTALLATION, REPO, startFake } from './fake-server.ts';
import { NOT_FOUND, pages, scriptGitHub } from './scripted.ts';

const SHA = 'ce587453ced02b1526dfb4cb910479d431683101';
const mona = { id: 1, login: 'mona', type: 'User' };
const R = '/repos/acme/shop';

function start() {
  const scripted = scriptGitHub();
  return { ...scripted, reader: scripted.github.reader(INSTALLATION) };
}

const pull = {
  number: 4,
  title: 'Fix the cart',
  body: null,
  user: mona,
  state: 'open',
  merged: false,
  merge_commit_sha: null,
  draft: false,
  head: { sha: SHA, ref: 'fix', repo: null },
  base: { sha: 'b'.repeat(40), ref: 'main', repo: { id: 7, default_branch: 'main' } },
  labels: [{ name: 'bug', color: 'f00' }],
  changed_files: 2,
  author_association: 'MEMBER',
  updated_at: '2030-01-01T00:00:00Z',
};

describe('a pull request', () => {
  it('is read with everything that decisions need', async () => {
    const { rest, reader } = start();
    rest.get(`${R}/pulls/4`).reply(200, pull);
    expect(await reader.pullRequest(REPO, 4)).toEqual({
      number: 4,
      repositoryId: 7,
      defaultBranch: 'main',
      title: 'Fix the cart',
      body: '',
      author: mona,
      state: 'open',
      merged: false,
      mergeCommitSha: null,
      closedAt: null,
      mergedBy: null,
      mergeable: null,
      rebaseable: null,
      mergeableState: null,
      draft: false,
      headSha: SHA,
      headRef: 'fix',
      headRepository: null,
      headRepositoryId: null,
      baseRef: 'main',
      baseSha: 'b'.repeat(40),
      labels: ['bug'],
      changedFiles: 2,
      authorAssociation: 'MEMBER',
      updatedAt: new Date('2030-01-01T00:00:00Z'),
    });
  });

  it.each([
    ['a deleted account', null, 'Mannequin'],
    ['an unknown type of account', { ...mona, type: 'Agent' }, 'Mannequin'],
    ['a bot', { ...mona, type: 'Bot' }, 'Bot'],
  ])('by %s is not a person’s', async (_, user, type) => {
    const { rest, reader } = start();
    rest.get(`${R}/pulls/4`).reply(200, { ...pull, user });
    expect((await reader.pullRequest(REPO, 4)).author.type).toBe(type);
  });

  it.each(['draft', 'merged', 'state', 'head', 'base'])('without %s is an invalid answer', async (field) => {
    const { rest, reader } = start();
    rest.get(`${R}/pulls/4`).reply(200, { ...pull, [field]: undefined });
    await expect(reader.pullRequest(REPO, 4)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  const file = (index: number) => ({
    filename: `f${index}`,
    status: 'modified',
    sha: SHA,
    additions: 1,
    deletions: 0,
  });
  it('is read with its files, and with the earlier names of renamed files', async () => {
    const { rest, reader } = start();
    const renamed = {
      ...file(1),
      status: 'renamed',
      previous_filename: 'old',
      patch: '@@ -1 +1 @@',
      contents_url: `https://x/contents/f1?ref=${SHA}`,
    };
    rest.get(`${R}/pulls/4/files`).reply(200, [file(0), renamed]);
    expect(await reader.pullRequestFiles(REPO, 4)).toEqual({
      truncated: false,
      files: [
        { path: 'f0', status: 'modified', blobSha: SHA, additions: 1, deletions: 0, headSha: null },
        {
          path: 'f1',
          previousPath: 'old',
          patch: '@@ -1 +1 @@',
          status: 'renamed',
          blobSha: SHA,
          additions: 1,
          deletions: 0,
          headSha: SHA,
        },
      ],
    });
  });

  it('is read with the files that GitHub lists at most, and the result says that there are more', {
    tags: 'slow',
  }, async () => {
    const { rest, reader, requests } = start();
    const all = Array.from({ length: 3_200 }, (_, index) => file(index));
    rest.get(`${R}/pulls/4/files`).times(30).reply(pages(all));
    const { files, truncated } = await reader.pullRequestFiles(REPO, 4);
    expect([files.length, truncated, requests.length]).toEqual([3_000, true, 30]);
  });

  const commit = (author: unknown) => ({
    sha: SHA,
    commit: { message: 'm', author: { email: 'a@b.example' }, committer: null },
    author,
    committer: mona,
  });
  it('is read with its commits, whoever wrote them', async () => {
    const { rest, reader } = start();
    rest.get(`${R}/pulls/4/commits`).reply(200, [commit(mona), commit(null), commit({})]);
    const { commits, truncated } = await reader.pullRequestCommits(REPO, 4);
    expect(truncated).toBe(false);
    expect(commits.map(({ author }) => author)).toEqual([mona, null, null]);
    expect(commits[0]).toMatchObject({ authorEmail: 'a@b.example', committerEmail: null, committer: mona });
  });

  it('says when it has as many commits as GitHub lists at most', async () => {
    const { rest, reader } = start();
    const all = Array.from({ length: 250 }, () => commit(mona));
    rest.get(`${R}/pulls/4/commits`).times(3).reply(pages(all));
    expect((await reader.pullRequestCommits(REPO, 4)).truncated).toBe(true);
  });

  const credited = (oid: string, users: unknown[], totalCount = users.length) => ({
    commit: { oid, authors: { totalCount, nodes: users.map((user) => ({ user })) } },
  });
  const credits = (nodes: unknown[], endCursor?: string) => ({
    data: {
      repository: {
        pullRequest: {
          commits: {
            pageInfo: { hasNextPage: endCursor !== undefined, endCursor: endCursor ?? null },
            nodes,
          },
        },
      },
    },
  });
  it('is read with the people that its commits credit, page after page, without a commit that credits too many', async () => {
    const { graphql, reader, requests } = start();
    const first = [credited('a', [{ databaseId: 1, login: 'mona' }]), credited('many', [null], 51)];
    graphql().reply(200, credits(first, 'next'));
    graphql().reply(200, credits([credited('b', [null])]));
    expect(await reader.commitCredits(REPO, 4)).toEqual([
      { sha: 'a', authors: [{ id: 1, login: 'mona' }], unknown: 0 },
      { sha: 'b', authors: [], unknown: 1 },
    ]);
    expect(requests.map(({ body }) => JSON.stringify(body).includes('"after":"next"'))).toEqual([
      false,
      true,
    ]);
  });

  it('is read with the people who pushed to its branch, without pushes that GitHub names nobody for', async () => {
    const { rest, reader, requests } = start();
    const move = { id: 1, before: 'a', after: 'b', ref: 'refs/heads/fix', activity_type: 'push' };
    rest.get(`${R}/activity`).reply(200, [
      { ...move, actor: mona },
      { ...move, after: 'c', actor: null },
    ]);
    expect(await reader.pushes(REPO, 'fix')).toEqual([{ before: 'a', after: 'b', actorId: mona.id }]);
    expect(requests[0]?.path).toContain('ref=refs%2Fheads%2Ffix&per_page=100');
  });

  it('credits nobody when GitHub answers with an error beside the data', async () => {
    const { graphql, reader } = start();
    graphql().reply(200, { ...credits([]), errors: [{ type: 'FORBIDDEN', message: 'no' }] });
    await expect(reader.commitCredits(REPO, 4)).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'GitHub answered 200 (but with an error: FORBIDDEN) to POST graphql.',
    });
  });

  it('waits for the end of the hour when the budget of GraphQL is spent, which GitHub reports with status 200', async () => {
    const { graphql, reader } = start();
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '4102444800',
      'x-ratelimit-resource': 'graphql',
    };
    graphql().reply(200, { data: null, errors: [{ type: 'RATE_LIMITED' }] }, headers);
    await expect(reader.commitCredits(REPO, 4)).rejects.toMatchObject({
      kind: 'rate_limited',
      retryAt: new Date('2100-01-01T00:00:00Z'),
    });
  });

  it('is read with the history of a path, one page of it', async () => {
    const { rest, reader, requests } = start();
    rest.get(`${R}/commits`).reply(pages(Array.from({ length: 150 }, () => commit(mona))));
    expect(await reader.history(REPO, 'src/a b.ts', SHA)).toHaveLength(100);
    const [asked] = requests;
    expect(asked?.path).toContain(`sha=${SHA}&path=src%2Fa%20b.ts`);
  });

  it('is found by the time of its change, oldest first, and older ones are not read', async () => {
    const { rest, reader } = start();
    const listed = (number: number, minute: number, over = {}) => ({
      number,
      state: 'open',
      merged_at: null,
      updated_at: `2026-01-05T12:0${minute}:00Z`,
      ...over,
    });
    const merged = { state: 'closed', merged_at: '2026-01-05T12:08:00Z' };
    rest.get(`${R}/pulls`).reply(200, [listed(4, 8, merged), listed(5, 7), listed(6, 1), listed(7, 9)]);
    const found = await reader.pullRequestsChangedAfter(REPO, new Date('2026-01-05T12:01:00Z'));
    expect(found.map(({ number, state, merged }) => [number, state, merged])).toEqual([
      [5, 'open', false],
      [4, 'closed', true],
    ]);
  });
});

describe('the open pull requests without a change', () => {
  const DAY = Date.parse('2026-01-05T12:00:00Z');
  const open = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      number: index + 1,
      title: 'Fix the cart',
      user: mona,
      draft: false,
      labels: [{ name: 'bug' }],
      updated_at: new Date(DAY + index * 1_000).toISOString(),
    }));
  const unchanged = async (count: number, until: number) => {
    const { rest, reader } = start();
    const asked: string[] = [];
    rest
      .get(`${R}/pulls`)
      .times(9)
      .reply((request: Request) => {
        asked.push(new URL(request.url).search);
        return pages(open(count))(request);
      });
    const found = await reader.pullRequestsUnchangedSince(REPO, new Date(DAY + until * 1_000));
    return { asked, ...found };
  };

  it('are listed longest unchanged first, up to the first that has changed', async () => {
    const { asked, pullRequests, truncated } = await unchanged(250, 120);
    expect(pullRequests.map(({ number }) => number)).toEqual(Array.from({ length: 121 }, (_, at) => at + 1));
    expect(pullRequests[0]).toEqual({
      number: 1,
      title: 'Fix the cart',
      author: mona,
      draft: false,
      labels: ['bug'],
      updatedAt: new Date(DAY),
    });
    expect(truncated).toBe(false);
    expect(asked).toEqual([
      '?state=open&sort=updated&direction=asc&per_page=100',
      '?state=open&sort=updated&direction=asc&per_page=100&page=2',
    ]);
  });

  it('are truncated after 300', async () => {
    const { asked, pullRequests, truncated } = await unchanged(500, 1_000);
    expect([pullRequests.length, truncated, asked.length]).toEqual([300, true, 4]);
  });

  it('are complete if there are exactly 300', async () => {
    expect(await unchanged(300, 1_000)).toMatchObject({ truncated: false });
  });
});

describe('files', () => {
  const blob = (text: string, size = Buffer.byteLength(text)) => ({
    encoding: 'base64',
    size,
    content: `${Buffer.from(text).toString('base64').replaceAll(/.{60}/g, '$&\n')}\n`,
  });

  it.each([
    ['a text', 'Grüße\n', 100, 'Grüße\n'],
    ['exactly as much as is allowed', 'x'.repeat(100), 100, 'x'.repeat(100)],
    ['one byte more than allowed', 'x'.repeat(101), 100, undefined],
    ['far more than allowed', 'x'.repeat(200_000), 100, undefined],
    ['an empty file', '', 0, ''],
  ])('are read up to the allowed size: %s', async (_, text, max, expected) => {
    // A real connection, because reading stops before the end.
    const { on, github } = await startFake();
    on(`GET ${R}/git/blobs/${SHA}`, { body: blob(text) });
    const bytes = await github.reader(INSTALLATION).blob(REPO, SHA, max);
    expect(bytes && Buffer.from(bytes).toString()).toBe(expected);
  });

  it('are an invalid answer if their length is not what GitHub says', async () => {
    const { rest, reader } = start();
    rest.get(`${R}/git/blobs/${SHA}`).reply(200, blob('abc', 5));
    await expect(reader.blob(REPO, SHA, 100)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  const entry = (path: string, type: string) => ({ path, type, sha: SHA, size: 3 });
  it('are read directly below a folder', async () => {
    const { rest, reader, requests } = start();
    rest
      .get(`${R}/contents/.github%2Fcountersign`)
      .reply(200, [entry('a', 'file'), entry('b', 'dir'), entry('c', 'symlink')]);
    const entries = await reader.folder(REPO, '.github/countersign', 'feature/x');
    expect(entries?.map(({ type }) => type)).toEqual(['file', 'dir', 'other']);
    expect(requests[0]?.path).toMatch(/\?ref=feature%2Fx$/);
  });

  it.each([
    ['a folder that does not exist', 404, NOT_FOUND],
    ['a file', 200, { ...entry('x', 'file'), content: '' }],
  ])('are undefined below %s', async (_, status, body) => {
    const { rest, reader } = start();
    rest.get(`${R}/contents/x`).reply(status, body);
    expect(await reader.folder(REPO, 'x')).toBeUndefined();
  });

  it('are refused below a folder so large that GitHub leaves some out', async () => {
    const { rest, reader } = start();
    rest.get(`${R}/contents/x`).reply(
      200,
      Array.from({ length: 1_000 }, (_, i) => entry(`x/${i}`, 'file')),
    );
    await expect(reader.folder(REPO, 'x')).rejects.toMatchObject({ kind: 'invalid' });
  });

  const tree = (truncated: boolean) => ({
    truncated,
    tree: [
      { path: 'src', mode: '040000', type: 'tree', sha: SHA },
      { path: 'src/a.ts', mode: '100644', type: 'blob', sha: SHA, size: 3 },
      { path: 'link', mode: '120000', type: 'blob', sha: SHA, size: 4 },
      { path: 'vendor', mode: '160000', type: 'commit', sha: SHA },
    ],
  });
  it('are listed for a whole commit, without folders and submodules', async () => {
    const { rest, reader } = start();
    rest.get(`${R}/git/trees/main`).reply(200, tree(false));
    expect(await reader.tree(REPO, 'main')).toEqual([
      { path: 'src/a.ts', type: 'file', sha: SHA, size: 3 },
      { path: 'link', type: 'other', sha: SHA, size: 4 },
    ]);
  });

  it('are refused for a commit too large for GitHub to list', async () => {
    const { rest, reader } = start();
    rest.get(`${R}/git/trees/main`).reply(200, tree(true));
    await expect(reader.tree(REPO, 'main')).rejects.toThrow(GitHubError);
  });

  it('are undefined for a repository without commits', async () => {
    const { rest, reader } = start();
    rest.get(`${R}/git/trees/main`).reply(409, { message: 'Git Repository is empty.' });
    expect(await reader.tree(REPO, 'main')).toBeUndefined();
  });
});

describe('a branch', () => {
  const branch = { name: 'main', commit: { sha: SHA } };
  const BRANCH = `${R}/branches/main`;
  const RULES = `${R}/rules/branches/main`;

  it('has a tip', async () => {
    const { rest, reader } = start();
    rest.get(BRANCH).reply(200, branch);
    expect(await reader.branchTip(REPO, 'main')).toBe(SHA);
  });

  it('has no tip when it is gone, or when GitHub redirects to another name', async () => {
    const { rest, reader } = start();
    rest.get(BRANCH).reply(404, NOT_FOUND);
    expect(await reader.branchTip(REPO, 'main')).toBeUndefined();
    rest.get(BRANCH).reply(200, { ...branch, name: 'trunk' });
    expect(await reader.branchTip(REPO, 'main')).toBeUndefined();
  });

  it('requires the checks that its protection and its rules name, each once', async () => {
    const { rest, reader } = start();
    rest.get(BRANCH).reply(200, {
      ...branch,
      protection: {
        required_status_checks: {
          enforcement_level: 'everyone',
          contexts: ['build', 'lint', 'old'],
          checks: [
            { context: 'build', app_id: 15_368 },
            { context: 'lint', app_id: null },
          ],
        },
      },
    });
    rest.get(RULES).reply(200, [
      { type: 'deletion' },
      {
        type: 'required_status_checks',
        parameters: {
          required_status_checks: [
            { context: 'build', integration_id: 15_368 },
            { context: 'e2e', integration_id: -1 },
          ],
        },
      },
    ]);
    expect(await reader.requiredChecks(REPO, 'main')).toEqual([
      { name: 'build', appId: 15_368 },
      { name: 'lint', appId: null },
      { name: 'old', appId: null },
      { name: 'e2e', appId: null },
    ]);
  });

  it.each([404, 403])('has unknown requirements when GitHub answers %i', async (status) => {
    const { rest, reader } = start();
    rest.get(BRANCH).reply(status, { message: 'no' });
    rest.get(RULES).reply(status, { message: 'no' });
    expect(await reader.requiredChecks(REPO, 'main')).toEqual([]);
  });

  it('has unknown requirements when a limit is hit', async () => {
    const { rest, reader } = start();
    rest.get(BRANCH).reply(200, branch);
    rest.get(RULES).reply(403, { message: 'no' }, { 'retry-after': '5' });
    await expect(reader.requiredChecks(REPO, 'main')).rejects.toMatchObject({ kind: 'rate_limited' });
  });
});

describe('the state of a commit', () => {
  const run = (index: number) => ({
    id: index,
    name: `check ${index}`,
    app: { id: 3 },
    status: 'completed',
    conclusion: 'success',
    started_at: '2030-01-01T00:00:00Z',
    completed_at: null,
    html_url: 'https://x',
    external_id: '',
    output: { annotations_count: 0, title: `run ${index}`, summary: 'whole '.repeat(10_000) },
  });

  it('includes all its check runs, the latest of each name', async () => {
    const { rest, reader, requests } = start();
    const all = Array.from({ length: 130 }, (_, index) => run(index));
    rest
      .get(`${R}/commits/${SHA}/check-runs`)
      .times(2)
      .reply(pages(all, (page) => ({ total_count: 130, check_runs: page })));
    const runs = await reader.checkRuns(REPO, SHA);
    expect(runs).toHaveLength(130);
    expect(runs[0]).toMatchObject({
      name: 'check 0',
      appId: 3,
      startedAt: new Date('2030-01-01T00:00:00Z'),
      completedAt: null,
      title: 'run 0',
      summary: 'whole '.repeat(333).trim(),
    });
    expect(requests[0]?.path).toContain('filter=latest');
  });

  it('includes all its statuses', async () => {
    const { rest, reader } = start();
    const all = Array.from({ length: 101 }, (_, index) => ({
      context: `ci/${index}`,
      state: 'pending',
      description: 'Not yet',
      target_url: null,
      created_at: '2030-01-01T00:00:00Z',
    }));
    rest
      .get(`${R}/commits/${SHA}/statuses`)
      .times(2)
      .reply(pages(all, (page) => page));
    const statuses = await reader.statuses(REPO, SHA);
    expect(statuses).toHaveLength(101);
    expect(statuses[0]).toEqual({
      context: 'ci/0',
      state: 'pending',
      description: 'Not yet',
      url: null,
      createdAt: new Date('2030-01-01T00:00:00Z'),
      isOwn: false,
    });
  });

  it('shows the newest status of each context, and which of them this app set', async () => {
    const { rest, graphql, reader } = start();
    const by = (creator: object | null) => ({ state: 'success', created_at: null, creator });
    const bot = { ...mona, id: 99, type: 'Bot' };
    rest.get(`${R}/commits/${SHA}/statuses`).reply(200, [
      { context: 'Docs', ...by(bot) },
      { context: 'docs', ...by(mona) },
      { context: 'lint', ...by({ ...bot, id: 98 }) },
      { context: 'test', ...by(null) },
    ]);
    graphql().reply(200, { data: { viewer: { databaseId: 99 } } });
    const found = await reader.statuses(REPO, SHA);
    expect(found.map(({ context, isOwn }) => [context, isOwn])).toEqual([
      ['Docs', true],
      ['lint', false],
      ['test', false],
    ]);
  });
});

describe('a comment', () => {
  const comment = { id: 5, body: 'hello', user: mona };

  it.each([
    ['a person', { user: mona }, null],
    ['an app', { user: { ...mona, type: 'Bot' }, performed_via_github_app: { id: 3 } }, 3],
    ['a person through an app', { user: mona, performed_via_github_app: { id: 3 } }, 3],
  ])('names the app that wrote it, if any: %s', async (_, by, viaAppId) => {
    const { rest, reader } = start();
    rest.get(`${R}/issues/comments/5`).reply(200, { ...comment, ...by });
    expect(await reader.comment(REPO, 5)).toMatchObject({ id: 5, body: 'hello', viaAppId });
  });

  it('counts its reactions by content', async () => {
    const { rest, reader } = start();
    const reactions = { url: 'https://x', total_count: 3, '+1': 2, '-1': 0, rocket: 1 };
    rest.get(`${R}/issues/comments/5`).reply(200, { ...comment, reactions });
    expect((await reader.comment(REPO, 5))?.reactions).toEqual({ '+1': 2, '-1': 0, rocket: 1 });
  });

  it('that was deleted is undefined', async () => {
    const { rest, reader } = start();
    rest.get(`${R}/issues/comments/5`).reply(404, NOT_FOUND);
    expect(await reader.comment(REPO, 5)).toBeUndefined();
  });
});

describe('people', () => {
  const ROUTE = `${R}/collaborators/mona/permission`;
  const MEMBERSHIP = '/orgs/acme/teams/owners/memberships/mona';

  it.each([
    ['write', 'maintain', 'maintain'],
    ['read', 'triage', 'triage'],
    ['admin', 'admin', 'admin'],
    ['write', 'release managers', 'write'],
    ['read', 'auditors', 'read'],
    ['read', 'admin', 'read'],
    ['write', undefined, 'write'],
    ['none', 'none', 'none'],
    ['push', 'hasOwnProperty', 'none'],
  ])('with permission %s and role %s are %s', async (permission, role_name, role) => {
    const { rest, reader } = start();
    rest.get(ROUTE).reply(200, { permission, role_name });
    expect(await reader.role(REPO, 'mona')).toBe(role);
  });

  it('who are unknown have no role', async () => {
    const { rest, reader } = start();
    rest.get(ROUTE).reply(404, NOT_FOUND);
    expect(await reader.role(REPO, 'mona')).toBe('none');
  });

  it.each([
    ['active', true],
    ['pending', false],
  ])('have the membership %s: %s', async (state, expected) => {
    const { rest, reader } = start();
    rest.get(MEMBERSHIP).reply(200, { state, role: 'member' });
    expect(await reader.isTeamMember('acme', 'owners', 'mona')).toBe(expected);
  });

  it('who are not in the team are no members', async () => {
    const { rest, reader } = start();
    rest.get(MEMBERSHIP).reply(404, NOT_FOUND);
    expect(await reader.isTeamMember('acme', 'owners', 'mona')).toBe(false);
  });
});
