import { describe, expect, it } from 'vitest';
import type { CheckRunContent } from '../../../src/domain/effect/effect.ts';
import { judgeMerge, type MergeProof } from '../../../src/domain/policy/merge-gate.ts';
import { SignInRefused } from '../../../src/ports/github.ts';
import { APP_ID, INSTALLATION, NOW, REPO, startFake } from './fake-server.ts';
import { givenToken, pages, scriptGitHub, TOKEN } from './scripted.ts';

const SHA = 'ce587453ced02b1526dfb4cb910479d431683101';
const R = '/repos/acme/shop';

function start(options: Parameters<typeof scriptGitHub>[0] = {}) {
  const scripted = scriptGitHub(options);
  return { ...scripted, writer: scripted.github.writer(INSTALLATION) };
}

/** With a real connection, which can fail. */
async function startConnected(options: Parameters<typeof startFake>[0] = {}) {
  const fake = await startFake(options);
  return { ...fake, writer: fake.github.writer(INSTALLATION) };
}

const annotations = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    path: 'src/a.ts',
    start_line: index + 1,
    end_line: index + 1,
    level: 'warning' as const,
    title: '',
    message: `m${index}`,
  }));

const content: CheckRunContent = {
  name: 'countersign / pr-review',
  head_sha: SHA,
  external_id: 'run_1',
  state: { status: 'in_progress', started_at: '2030-01-01T00:00:00Z' },
  title: 'Reviewing',
  summary: 'Under way.',
  text: '',
  annotations: [],
  actions: [{ label: 'Run again', description: 'Runs the chain again', identifier: 'rerun' }],
};

describe('a check run', () => {
  it('is created as requested', async () => {
    const { rest, writer, requests } = start();
    rest.post(`${R}/check-runs`).reply(201, { id: 12, html_url: 'https://github.example/c/12' });
    const created = await writer.createCheckRun(REPO, { ...content, annotations: annotations(1) });
    expect(created).toEqual({ id: 12, url: 'https://github.example/c/12' });
    expect(requests[0]?.body).toEqual({
      name: 'countersign / pr-review',
      head_sha: SHA,
      external_id: 'run_1',
      status: 'in_progress',
      started_at: '2030-01-01T00:00:00Z',
      output: {
        title: 'Reviewing',
        summary: 'Under way.',
        text: '',
        annotations: [
          { path: 'src/a.ts', start_line: 1, end_line: 1, annotation_level: 'warning', message: 'm0' },
        ],
      },
      actions: content.actions,
    });
  });

  it('has its annotations sent fifty at a time, each once', async () => {
    const { rest, writer, requests } = start();
    rest.post(`${R}/check-runs`).reply(201, { id: 12 });
    rest.patch(`${R}/check-runs/12`).times(2).reply(200, { id: 12 });
    await writer.createCheckRun(REPO, { ...content, annotations: annotations(120) });
    const sent = requests.map(({ method, body }) => ({
      method,
      messages: (body as { output: { annotations: { message: string }[] } }).output.annotations.map(
        ({ message }) => message,
      ),
    }));
    expect(sent.map(({ method, messages }) => [method, messages.length])).toEqual([
      ['POST', 50],
      ['PATCH', 50],
      ['PATCH', 20],
    ]);
    expect(new Set(sent.flatMap(({ messages }) => messages)).size).toBe(120);
  });

  it('is updated as a whole', async () => {
    const { rest, writer, requests } = start();
    rest.patch(`${R}/check-runs/12`).reply(200, { id: 12 });
    await writer.updateCheckRun(REPO, 12, {
      ...content,
      state: { status: 'completed', conclusion: 'success', completed_at: '2030-01-01T00:01:00Z' },
    });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.body).toMatchObject({
      status: 'completed',
      conclusion: 'success',
      output: { annotations: [] },
    });
  });

  it('is sent without a page that an older version stored and that never existed', async () => {
    const { rest, writer, requests } = start();
    rest.patch(`${R}/check-runs/12`).reply(200, { id: 12 });
    const stored = { ...content, details_url: 'https://countersign.example/runs/run_1' };
    await writer.updateCheckRun(REPO, 12, stored);
    expect(requests[0]?.body).not.toHaveProperty('details_url');
  });

  it.each([
    ['a summary', { summary: 'é'.repeat(32_768) }, /summary has more than 65535 bytes/],
    ['a text', { text: 'x'.repeat(65_536) }, /text has more than 65535 bytes/],
    ['a title', { title: 'x'.repeat(256) }, /title has more than 255 characters/],
    [
      'a message',
      { annotations: annotations(1).map((one) => ({ ...one, message: 'x'.repeat(65_537) })) },
      /message of an annotation/,
    ],
    ['a label', { actions: [{ label: 'x'.repeat(21), description: 'y', identifier: 'z' }] }, /a button/],
  ])('with too large %s is not sent', async (_, change, sentence) => {
    const { writer, requests } = start();
    const attempt = writer.createCheckRun(REPO, { ...content, ...change });
    await expect(attempt).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(sentence),
    });
    expect(requests).toEqual([]);
  });

  const run = (id: number, appId: number, external_id: string) => ({
    id,
    name: 'countersign / pr-review',
    app: { id: appId },
    status: 'in_progress',
    conclusion: null,
    started_at: null,
    completed_at: null,
    external_id,
    output: { annotations_count: 7 },
  });
  it('is found again by the app and its external id', async () => {
    const { rest, writer, requests } = start();
    rest
      .get(`${R}/commits/${SHA}/check-runs`)
      .times(2)
      .reply(
        pages([run(1, APP_ID, 'run_0'), run(2, 5, 'run_1'), run(3, APP_ID, 'run_1')], (page) => ({
          check_runs: page,
        })),
      );
    expect(await writer.findCheckRun(REPO, SHA, 'run_1', 0)).toMatchObject({ id: 3, annotations: 7 });
    expect(await writer.findCheckRun(REPO, SHA, 'run_2', 0)).toBeUndefined();
    expect(requests[0]?.path).toContain(`app_id=${APP_ID}&filter=all`);
  });
});

describe('a comment', () => {
  it('is created', async () => {
    const { rest, writer, requests } = start();
    const user = { id: 2, login: 'countersign[bot]', type: 'Bot' };
    rest.post(`${R}/issues/4/comments`).reply(201, { id: 5, user });
    expect(await writer.createComment(REPO, 4, 'hello')).toEqual({ id: 5, authorId: 2 });
    expect(requests[0]?.body).toEqual({ body: 'hello' });
  });

  it.each([
    ['nobody', undefined],
    ['a deleted account', null],
    ['a person', { id: 1, login: 'mona', type: 'User' }],
  ])('whose author is %s names no account of this app', async (_, user) => {
    const { rest, writer } = start();
    rest.post(`${R}/issues/4/comments`).reply(201, { id: 5, user });
    expect(await writer.createComment(REPO, 4, 'hello')).toEqual({ id: 5, authorId: undefined });
  });

  it('that is too long is not sent', async () => {
    const { writer, requests } = start();
    await expect(writer.createComment(REPO, 4, 'x'.repeat(65_537))).rejects.toMatchObject({
      kind: 'invalid',
    });
    await expect(writer.updateComment(REPO, 5, 'x'.repeat(65_537))).rejects.toMatchObject({
      kind: 'invalid',
    });
    expect(requests).toEqual([]);
  });

  it.each([
    [200, 'updated'],
    [404, 'gone'],
    [410, 'gone'],
  ])('answered %i at its update is %s', async (status, result) => {
    const { rest, writer } = start();
    rest.patch(`${R}/issues/comments/5`).reply(status, { message: 'x' });
    expect(await writer.updateComment(REPO, 5, 'hello')).toBe(result);
  });

  it('is not gone when only the connection fails', async () => {
    const { on, writer, requests } = await startConnected();
    on(`PATCH ${R}/issues/comments/5`, (_, response) => void response.destroy());
    await expect(writer.updateComment(REPO, 5, 'hello')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(requests).toHaveLength(1);
  });

  it('is found again only if this app’s bot wrote it', async () => {
    const { rest, writer } = start();
    const bot = { id: 2, login: 'countersign[bot]', type: 'Bot' };
    const person = { id: 1, login: 'mona', type: 'User' };
    const ours = { id: APP_ID };
    const body = 'x\n<!-- countersign:status -->';
    rest
      .get(`${R}/issues/4/comments`)
      .times(4)
      .reply(
        pages([
          { id: 1, body, user: person, performed_via_github_app: null },
          { id: 2, body, user: person, performed_via_github_app: ours },
          { id: 3, body, user: bot, performed_via_github_app: { id: 5 } },
          { id: 4, body: 'y', user: bot, performed_via_github_app: ours },
          ...Array.from({ length: 100 }, (_, index) => ({ id: 100 + index, body: 'chat', user: person })),
          { id: 9, body, user: bot, performed_via_github_app: ours },
        ]),
      );
    expect(await writer.findComment(REPO, 4, '<!-- countersign:status -->')).toEqual({ id: 9, authorId: 2 });
    expect(await writer.findComment(REPO, 4, '<!-- countersign:other -->')).toBeUndefined();
  });

  it('is found again by its account if GitHub names no app', async () => {
    const { rest, graphql, writer } = start();
    const bot = { id: 2, login: 'countersign[bot]', type: 'Bot' };
    const body = 'x\n<!-- countersign:status -->';
    const namesake = { ...bot, id: 3 };
    rest.get(`${R}/issues/4/comments`).reply(
      pages([
        { id: 1, body, user: { ...bot, type: 'User' } },
        { id: 2, body, user: namesake },
        { id: 3, body, user: bot, performed_via_github_app: { id: 5 } },
        { id: 9, body, user: bot, performed_via_github_app: null },
      ]),
    );
    graphql().reply(200, { data: { viewer: { databaseId: bot.id } } });
    expect(await writer.findComment(REPO, 4, '<!-- countersign:status -->')).toEqual({ id: 9, authorId: 2 });
  });

  it('is not considered missing while GitHub does not say which account is the app’s', async () => {
    const { rest, graphql, writer } = start();
    const user = { id: 2, login: 'countersign[bot]', type: 'Bot' };
    rest.get(`${R}/issues/4/comments`).reply(pages([{ id: 9, body: '<!-- countersign:status -->', user }]));
    graphql().reply(200, { errors: [{ type: 'FORBIDDEN' }] });
    await expect(writer.findComment(REPO, 4, '<!-- countersign:status -->')).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });
});

describe('a small effect', () => {
  it('can be a reaction', async () => {
    const { rest, writer, requests } = start();
    rest.post(`${R}/issues/comments/5/reactions`).reply(201, { id: 1 });
    await writer.react(REPO, 5, 'eyes');
    expect(requests[0]?.body).toEqual({ content: 'eyes' });
  });

  it('can be labels', async () => {
    const { rest, writer, requests } = start();
    rest.post(`${R}/issues/4/labels`).reply(200, []);
    await writer.label(REPO, 4, ['ready', 'queued']);
    expect(requests[0]?.body).toEqual({ labels: ['ready', 'queued'] });
  });
});

describe('a merge', () => {
  const MERGE = `${R}/pulls/4/merge`;

  function proofAt(readAt: Date): MergeProof {
    const { proof } = judgeMerge(
      {
        runId: 'run_1',
        owner: 'acme',
        repo: 'shop',
        pullRequest: 4,
        headSha: SHA,
        baseRef: 'main',
        method: 'squash',
        by: 'app',
        rules: {
          permission: 'maintain',
          teams: [],
          users: [],
          count: 1,
          approve: ['rocket'],
          reject: ['-1'],
        },
      },
      {
        readAt,
        pullRequest: {
          state: 'open',
          merged: false,
          draft: false,
          headSha: SHA,
          baseRef: 'main',
          author: { id: 2, login: 'ada' },
        },
        configuration: { kind: 'as_asked' as const },
        comment: 'as_written',
        contributors: { ids: [2], logins: ['ada'], pushers: [2], unattributed: [] },
        reactors: [{ id: 1, login: 'mona', type: 'User', content: 'rocket', role: 'maintain', teams: [] }],
        conditions: [],
        rejectedBefore: [],
        pausedBy: null,
      },
    );
    if (!proof) throw new Error('the gate gave no proof');
    return proof;
  }

  it('sends exactly what the proof is about', async () => {
    const { rest, writer, requests } = start();
    rest.put(MERGE).reply(200, { merged: true, sha: 'd'.repeat(40), message: 'ok' });
    expect(await writer.merge(proofAt(NOW), { title: 'Fix the cart (#4)' })).toEqual({
      kind: 'merged',
      sha: 'd'.repeat(40),
    });
    expect(requests.map(({ body }) => body)).toEqual([
      { sha: SHA, merge_method: 'squash', commit_title: 'Fix the cart (#4)' },
    ]);
  });

  it('leaves the title to GitHub when there is none', async () => {
    const { rest, writer, requests } = start();
    rest.put(MERGE).reply(200, { merged: true, sha: 'd'.repeat(40) });
    await writer.merge(proofAt(NOW), {});
    expect(requests[0]?.body).toEqual({ sha: SHA, merge_method: 'squash' });
  });

  it.each([
    [409, 'Head branch was modified.', { kind: 'head_moved' }],
    [
      405,
      'Pull Request is not mergeable',
      { kind: 'not_mergeable', message: 'Pull Request is not mergeable' },
    ],
    [403, 'Forbidden', { kind: 'refused', status: 403, message: 'Forbidden' }],
    [404, 'Not Found', { kind: 'refused', status: 404, message: 'Not Found' }],
    [422, 'Validation Failed', { kind: 'refused', status: 422, message: 'Validation Failed' }],
  ])('answered %i is a result, and is sent once', async (status, message, result) => {
    const { rest, writer, requests } = start();
    rest.put(MERGE).reply(status, { message, documentation_url: 'https://docs.example' });
    expect(await writer.merge(proofAt(NOW), {})).toEqual(result);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['500', [500, { message: 'x' }], 'unavailable'],
    ['502', [502, '<html>'], 'unavailable'],
    ['a limit', [403, { message: 'x' }, { 'retry-after': '5' }], 'rate_limited'],
    ['an invalid result', [200, { merged: false, sha: SHA }], 'unavailable'],
    ['400', [400, { message: 'x' }], 'invalid'],
  ] as const)('answered with %s is an error, and is sent once', async (_, [status, body, headers], kind) => {
    const { rest, writer, requests } = start();
    rest.put(MERGE).reply(status, body, headers);
    await expect(writer.merge(proofAt(NOW), {})).rejects.toMatchObject({ kind });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['is reset', (_: unknown, response: { destroy(): void }) => void response.destroy()],
    ['hangs', () => undefined],
  ])('whose connection %s is an error, and is sent once', async (_, handler) => {
    const { on, writer, requests } = await startConnected({ mergeTimeoutMs: 200 });
    on(`PUT ${MERGE}`, handler);
    await expect(writer.merge(proofAt(NOW), {})).rejects.toMatchObject({ kind: 'unavailable', status: 0 });
    expect(requests).toHaveLength(1);
  });

  it('may take longer than other requests', { tags: 'slow' }, async () => {
    const { on, writer, github } = await startConnected({ timeoutMs: 1_000 });
    on('GET /repos/acme/shop', () => undefined);
    on(`PUT ${MERGE}`, (_, response) => {
      void github
        .reader(INSTALLATION)
        .repository(REPO)
        .catch(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ merged: true, sha: SHA }));
        });
      return undefined;
    });
    expect(await writer.merge(proofAt(NOW), {})).toMatchObject({ kind: 'merged' });
  });

  it('is not rejected when only the sign-in was', async () => {
    const { rest, writer, requests } = start({ givesTokens: false });
    rest.post(TOKEN).reply(403, { message: 'suspended' });
    rest.get('/app').reply(200, {});
    await expect(writer.merge(proofAt(NOW), {})).rejects.toBeInstanceOf(SignInRefused);
    expect(requests.map(({ path }) => path)).toEqual(['/app']);
  });

  it.each([
    ['too old', () => proofAt(new Date(NOW.getTime() - 10_001))],
    ['made by hand', () => ({ ...proofAt(NOW) }) as MergeProof],
  ])('with a proof that is %s is not sent', async (_, proof) => {
    const { rest, writer, requests } = start();
    rest.put(MERGE).reply(200, { merged: true, sha: SHA });
    await expect(writer.merge(proof(), {})).rejects.toThrow(/proof/);
    expect(requests).toEqual([]);
  });

  it('is not sent when the proof expires while the app signs in', async () => {
    let now = NOW;
    const { rest, writer, requests } = start({ clock: { now: () => now }, givesTokens: false });
    rest.post(TOKEN).reply(201, () => {
      now = new Date(NOW.getTime() + 10_001);
      return givenToken('t');
    });
    rest.put(MERGE).reply(200, { merged: true, sha: SHA });
    await expect(writer.merge(proofAt(NOW), {})).rejects.toThrow(/too old/);
    expect(requests).toEqual([]);
  });
});

describe('deleting a branch', () => {
  const TIP = `${R}/git/ref/heads%2Fgreet`;
  const BRANCH = `${R}/git/refs/heads%2Fgreet`;
  const at = (sha: string) => ({ ref: 'refs/heads/greet', object: { type: 'commit', sha } });

  it('deletes it at the commit that was merged', async () => {
    const { rest, writer } = start();
    rest.get(TIP).reply(200, at(SHA));
    rest.delete(BRANCH).reply(204);
    expect(await writer.deleteBranch(REPO, 'greet', SHA)).toBe('deleted');
  });

  it('keeps it at any other commit', async () => {
    const { rest, writer, requests } = start();
    rest.get(TIP).reply(200, at('e'.repeat(40)));
    expect(await writer.deleteBranch(REPO, 'greet', SHA)).toBe('kept');
    expect(requests).toHaveLength(1);
  });

  it('takes a branch that is gone already as done', async () => {
    const { rest, writer } = start();
    rest.get(TIP).reply(404, { message: 'Not Found' });
    expect(await writer.deleteBranch(REPO, 'greet', SHA)).toBe('kept');
  });

  it('keeps a branch that GitHub protects', async () => {
    const { rest, writer } = start();
    rest.get(TIP).reply(200, at(SHA));
    rest.delete(BRANCH).reply(422, { message: 'Cannot delete protected branch' });
    expect(await writer.deleteBranch(REPO, 'greet', SHA)).toBe('kept');
  });
});

describe('a release', () => {
  it('that GitHub answers with 404 is refused, and not tried again', async () => {
    const { rest, writer } = start();
    rest.get(`${R}/releases/tags/v1`).reply(404, { message: 'Not Found' });
    rest.get(`${R}/releases`).reply(200, []);
    rest.get(`${R}/git/ref/tags%2Fv1`).reply(404, { message: 'Not Found' });
    rest.post(`${R}/releases`).reply(404, { message: 'Not Found' });
    const wanted = {
      kind: 'release' as const,
      installation_id: INSTALLATION,
      owner: 'acme',
      repo: 'shop',
      tag: 'v1',
      sha: SHA,
      name: 'v1',
      body: '',
      draft: true,
      prerelease: false,
    };
    await expect(writer.release(REPO, wanted)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('changes workflows'),
    });
  });
});
