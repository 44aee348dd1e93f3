import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOctokitGitHub } from '../../../src/adapters/octokit/octokit-github.ts';
import { octokitsWithKey } from '../../../src/adapters/octokit/sign-in.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { judgeMerge } from '../../../src/domain/policy/merge-gate.ts';
import type { GitHub, GitHubReader, GitHubWriter } from '../../../src/ports/github.ts';
import { type GitHubStandIn, startGitHub } from '../../support/github/stand-in.ts';
import { createRequestValidator } from '../../support/openapi/validator.ts';

const REPO = { owner: 'acme', name: 'shop' };
const validate = createRequestValidator();

let standIn: GitHubStandIn;
let github: GitHub;
let installation: number;
let reader: GitHubReader;
let writer: GitHubWriter;
let pull: { number: number; headSha: string };
const faults: string[] = [];

beforeEach(async () => {
  standIn = await startGitHub();
  standIn.onRequest(({ method, path, body }) => faults.push(...validate({ method, path, body })));
  standIn.addOrganization('acme');
  for (const login of ['ada', 'mona']) standIn.addUser(login);
  standIn.addTeam('acme', 'owners', ['mona']);
  standIn.addRepository({
    owner: 'acme',
    name: 'shop',
    files: { 'README.md': 'hello\n', '.github/countersign/chains/a.yaml': 'name: a\n' },
    collaborators: { ada: 'write', mona: 'maintain' },
  });
  standIn.requireChecks('acme/shop', 'main', ['build']);
  installation = standIn.installApp('acme');
  github = createOctokitGitHub({
    source: octokitsWithKey({
      appId: standIn.app.id,
      privateKey: standIn.app.privateKey,
      apiUrl: standIn.url,
    }),
    log: silentLog,
    clock: systemClock,
  });
  reader = github.reader(installation);
  writer = github.writer(installation);
  pull = await standIn.openPullRequest({
    repo: 'acme/shop',
    author: 'ada',
    title: 'Fix the cart',
    branch: 'fix/cart',
    files: { 'src/cart.ts': 'export {};\n' },
  });
});

afterEach(async () => {
  await standIn.stop();
  expect(faults.splice(0)).toEqual([]);
});

describe('with a stand-in that keeps state, the adapter', () => {
  it('gets a token that can only read the files of one repository', async () => {
    standIn.addRepository({ owner: 'acme', name: 'other', private: true, files: { 'a.txt': 'x\n' } });
    const { id } = await reader.repository(REPO);
    const token = await github.app.readToken(installation, id);
    const ask = async (method: string, path: string, body?: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${standIn.url}${path}`, { method, headers, ...(body ? { body } : {}) });
      return answer.status;
    };
    expect(await ask('GET', '/repos/acme/shop/contents/README.md')).toBe(200);
    expect(await ask('GET', '/repos/acme/other/contents/a.txt')).toBe(404);
    expect(await ask('POST', `/repos/acme/shop/issues/${pull.number}/comments`, '{"body":"x"}')).toBe(403);
  });

  it('reads a pull request and its contents', async () => {
    const read = await reader.pullRequest(REPO, pull.number);
    expect(read).toMatchObject({ headSha: pull.headSha, baseRef: 'main', state: 'open', draft: false });
    expect(read.author).toMatchObject({ login: 'ada', type: 'User' });
    const { files, truncated } = await reader.pullRequestFiles(REPO, pull.number);
    expect([files.map(({ path }) => path), truncated]).toEqual([['src/cart.ts'], false]);
    const bytes = await reader.blob(REPO, files[0]?.blobSha ?? '', 1_000);
    expect(bytes && Buffer.from(bytes).toString()).toBe('export {};\n');
    const { commits } = await reader.pullRequestCommits(REPO, pull.number);
    expect(commits.map(({ sha }) => sha)).toEqual([pull.headSha]);
    const changed = await reader.pullRequestsChangedAfter(REPO, new Date(0));
    expect(changed).toEqual([expect.objectContaining({ number: pull.number, state: 'open', merged: false })]);
  });

  it('reads the files of a repository at its branch', async () => {
    expect(await reader.repository(REPO)).toMatchObject({ defaultBranch: 'main' });
    const folder = await reader.folder(REPO, '.github/countersign/chains', 'main');
    expect(folder?.map(({ path, type }) => [path, type])).toEqual([
      ['.github/countersign/chains/a.yaml', 'file'],
    ]);
    expect(await reader.folder(REPO, 'nowhere')).toBeUndefined();
    expect(await reader.folder(REPO, 'README.md')).toBeUndefined();
    const tip = await reader.branchTip(REPO, 'fix/cart');
    expect(tip).toBe(pull.headSha);
    const tree = await reader.tree(REPO, pull.headSha);
    expect(tree?.map(({ path }) => path)).toContain('src/cart.ts');
  });

  it('reads people', async () => {
    expect(await reader.role(REPO, 'mona')).toBe('maintain');
    expect(await reader.role(REPO, 'ada')).toBe('write');
    expect(await reader.isTeamMember('acme', 'owners', 'mona')).toBe(true);
    expect(await reader.isTeamMember('acme', 'owners', 'ada')).toBe(false);
  });

  it('reads checks and statuses, and which of them are required', async () => {
    await standIn.setStatus('acme/shop', pull.headSha, { context: 'ci/old', state: 'success' });
    expect(await reader.statuses(REPO, pull.headSha)).toMatchObject([
      { context: 'ci/old', state: 'success' },
    ]);
    expect(await reader.requiredChecks(REPO, 'main')).toMatchObject([{ name: 'build' }]);
  });

  it('writes a check run once and finds it again', async () => {
    const content = {
      name: 'countersign / pr-review',
      head_sha: pull.headSha,
      external_id: 'run_1',
      state: { status: 'in_progress' as const, started_at: '2030-01-01T00:00:00Z' },
      title: 'Reviewing',
      summary: 'Under way.',
      text: '',
      annotations: Array.from({ length: 60 }, () => ({
        path: 'src/cart.ts',
        start_line: 1,
        end_line: 1,
        level: 'notice' as const,
        title: 'x',
        message: 'y',
      })),
      actions: [],
    };
    const { id } = await writer.createCheckRun(REPO, content);
    expect(await writer.findCheckRun(REPO, pull.headSha, 'run_1', 0)).toMatchObject({ id, annotations: 60 });
    await writer.updateCheckRun(REPO, id, {
      ...content,
      annotations: [],
      state: { status: 'completed', conclusion: 'success', completed_at: '2030-01-01T00:00:00Z' },
    });
    expect(await reader.checkRuns(REPO, pull.headSha)).toMatchObject([
      { id, appId: github.appId, status: 'completed', conclusion: 'success', externalId: 'run_1' },
    ]);
  });

  it('writes a comment, finds it, edits it, reacts to it, and notices its deletion', async () => {
    const marker = '<!-- countersign:status -->';
    await standIn.comment('acme/shop', pull.number, 'mona', marker);
    const written = await writer.createComment(REPO, pull.number, `${marker}\nhello`);
    const { id, authorId } = written;
    expect(await writer.findComment(REPO, pull.number, marker)).toEqual(written);
    expect(await reader.comment(REPO, id)).toMatchObject({ author: { id: authorId, type: 'Bot' } });
    expect(await writer.updateComment(REPO, id, `${marker}\nbye`)).toBe('updated');
    await writer.react(REPO, id, 'eyes');
    await standIn.react('acme/shop', id, 'mona', 'rocket');
    expect(await reader.comment(REPO, id)).toMatchObject({
      viaAppId: github.appId,
      body: `${marker}\nbye`,
      reactions: { rocket: 1 },
    });
    const reactions = await reader.reactions(REPO, id);
    expect(reactions.map(({ person, content }) => [person.login, content])).toEqual([
      [standIn.app.botLogin, 'eyes'],
      ['mona', 'rocket'],
    ]);
    await standIn.deleteComment('acme/shop', id, 'mona');
    expect(await reader.comment(REPO, id)).toBeUndefined();
    expect(await writer.updateComment(REPO, id, 'again')).toBe('gone');
  });

  it('adds labels', async () => {
    await writer.label(REPO, pull.number, ['ready']);
    expect(standIn.labels('acme/shop', pull.number)).toEqual(['ready']);
  });

  it('notices a withdrawn reaction at the next poll, despite conditional requests', async () => {
    const { id } = await writer.createComment(REPO, pull.number, 'may this be merged?');
    const reaction = await standIn.react('acme/shop', id, 'mona', 'rocket');
    expect(await reader.reactions(REPO, id)).toHaveLength(1);
    expect(await reader.reactions(REPO, id)).toHaveLength(1);
    await standIn.unreact('acme/shop', id, reaction);
    expect(await reader.reactions(REPO, id)).toEqual([]);
    expect((await reader.comment(REPO, id))?.reactions.rocket).toBe(0);
  });

  const proofFor = (headSha: string) => {
    const { proof } = judgeMerge(
      {
        runId: 'run_1',
        owner: 'acme',
        repo: 'shop',
        pullRequest: pull.number,
        headSha,
        baseRef: 'main',
        method: 'squash',
        by: 'app',
        rules: { permission: 'maintain', teams: [], users: [], count: 1, approve: ['rocket'], reject: [] },
      },
      {
        readAt: new Date(),
        pullRequest: {
          state: 'open',
          merged: false,
          draft: false,
          headSha,
          baseRef: 'main',
          author: { id: -1, login: 'ada' },
        },
        configuration: { kind: 'as_asked' },
        comment: 'as_written',
        contributors: { ids: [], logins: [], pushers: [], unattributed: [] },
        reactors: [{ id: 1, login: 'mona', type: 'User', content: 'rocket', role: 'maintain', teams: [] }],
        conditions: [],
        rejectedBefore: [],
        pausedBy: null,
      },
    );
    if (!proof) throw new Error('the gate gave no proof');
    return proof;
  };

  it('merges exactly the head that it was given', async () => {
    const moved = await standIn.push({
      repo: 'acme/shop',
      branch: 'fix/cart',
      author: 'ada',
      files: { 'src/cart.ts': 'export const x = 1;\n' },
    });
    await standIn.reportCheck('acme/shop', moved, {
      name: 'build',
      status: 'completed',
      conclusion: 'success',
    });
    expect(await writer.merge(proofFor(pull.headSha), {})).toEqual({ kind: 'head_moved' });
    expect(await writer.merge(proofFor(moved), {})).toMatchObject({ kind: 'merged' });
    expect(standIn.merges).toHaveLength(1);
    expect(await writer.merge(proofFor(moved), {})).toMatchObject({ kind: 'not_mergeable' });
  });

  it('cannot do anything after the app is uninstalled', async () => {
    standIn.uninstallApp('acme');
    await expect(reader.role(REPO, 'mona')).rejects.toMatchObject({ whose: 'installation' });
  });
});
