// @module-tag security

import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { type Harness, REPO } from '../../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  countersign,
  MERGE_ONLY,
  open,
  react,
  start,
  statusOf,
} from '../support.ts';
import { merged, openApproval, READS } from './support.ts';

// Who may countersign at all is in test/scenario/approval.test.ts; these people only seem to be somebody else.

/** Answers the approval comment's reactions as GitHub would, had these people reacted. */
function reactionsAre({ github }: Harness, people: (object | null)[]): void {
  const body = people.map((user, index) => ({
    id: 1 + index,
    node_id: `REA_${index}`,
    user,
    content: 'rocket',
    created_at: '2026-03-02T09:00:00Z',
  }));
  github.fail(READS.reactions, { status: 200, body });
}

describe('nothing is merged by', () => {
  test('accounts that are not people: deleted, imported, organisations, apps, and future kinds', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await openApproval();
    const kinds = ['Mannequin', 'Organization', 'Bot', 'Agent'];
    reactionsAre(harness, [null, ...kinds.map((type) => ({ id: 7, login: 'mia', type }))]);
    await react(harness, number, 'otto');
    await harness.advance(A_RECHECK);
    const { body } = approvalOf(harness, number);
    expect(body.match(/\w+ reacted, but is not a person/g)).toEqual(
      ['ghost', 'mia', 'mia', 'mia', 'mia'].map((login) => `${login} reacted, but is not a person`),
    );
    expect(merged(harness)).toEqual([]);
  });

  test('the app’s own reactions and those of other apps', { tags: 'slow' }, async () => {
    const { harness, number } = await openApproval();
    for (const login of [harness.github.app.botLogin, 'ci[bot]', 'github-actions[bot]']) {
      harness.github.addUser(login, { type: 'Bot' });
      harness.github.setPermission(REPO, login, 'admin');
      await react(harness, number, login);
    }
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([]);
  });

  test('people with look-alikes of a maintainer’s login', { tags: 'slow' }, async () => {
    const { harness, number } = await openApproval({
      settings: 'countersign: { permission: none, users: [mia] }\n',
    });
    for (const login of ['m1a', 'mia-', 'mi-a', 'mіa', 'ｍｉａ']) {
      harness.github.addUser(login);
      harness.github.setPermission(REPO, login, 'write');
      await react(harness, number, login);
    }
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([]);
    await countersign(harness, number, 'mia');
    expect(merged(harness)).toEqual([number]);
  });

  test('a team with the same name in another organisation', { tags: 'slow' }, async () => {
    const { harness, number } = await openApproval(
      { settings: 'countersign: { permission: none, teams: [octo/release] }\n' },
      {},
      ({ github }) => {
        github.addTeam('octo', 'release', ['mia']);
        github.addTeam('evil', 'release', ['will']);
        github.addTeam('octo', 'release-2', ['will']);
      },
    );
    await countersign(harness, number, 'will');
    expect(merged(harness)).toEqual([]);
    await countersign(harness, number, 'mia');
    expect(merged(harness)).toEqual([number]);
  });

  test('somebody who was removed from the team since the reaction', { tags: 'slow' }, async () => {
    const { harness, number } = await openApproval(
      { settings: 'countersign: { teams: [octo/release] }\n' },
      {},
      ({ github }) => github.addTeam('octo', 'release', ['will']),
    );
    await react(harness, number, 'will');
    harness.github.addTeam('octo', 'release', []);
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([]);
  });

  test('the same person’s reaction to two approval comments, if two people are needed', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await openApproval({ settings: 'countersign: { count: 2 }\n' });
    const first = approvalOf(harness, number);
    await harness.github.editComment(REPO, first.id, 'will', 'Something else.');
    await harness.advance(A_RECHECK);
    await harness.github.react(REPO, first.id, 'max', 'rocket');
    await countersign(harness, number, 'mia');
    expect(approvals(harness, number)).toHaveLength(2);
    expect(merged(harness)).toEqual([]);
  });
});

describe('a co-author cannot hide', () => {
  eachFirstQuick([
    [
      'under a login that was renamed since',
      (id: number) => `Old Name <${id}+old-name@users.noreply.github.com>`,
    ],
    ['behind another address, with the login as the name', () => 'MIA <mia@example.test>'],
    ['behind an old no-reply address without a number', () => 'Somebody <Mia@users.noreply.github.com>'],
  ])('%s', async (_, trailer) => {
    const { harness, number } = await openApproval();
    const id = await accountId(harness, number, 'mia');
    await harness.github.push({
      repo: REPO,
      branch: 'greet',
      author: 'ada',
      files: { 'src/more.ts': 'export {};\n' },
      coAuthors: [trailer(id)],
    });
    await harness.advance(A_RECHECK);
    await countersign(harness, number, 'mia');
    expect(approvalOf(harness, number).body).toContain('mia reacted, but wrote or co-wrote');
    expect(merged(harness)).toEqual([]);
  });

  test('under a trailer in capitals, in the message of an earlier commit', { tags: 'slow' }, async () => {
    const { harness, number } = await openApproval();
    await harness.github.push({
      repo: REPO,
      branch: 'greet',
      author: 'ada',
      message: 'Do it\n\nCO-AUTHORED-BY: Mia <x@example.test>\r\n',
      files: { 'b.txt': 'b\n' },
    });
    await harness.github.push({ repo: REPO, branch: 'greet', author: 'ada', files: { 'c.txt': 'c\n' } });
    await harness.advance(A_RECHECK);
    await countersign(harness, number, 'mia');
    expect(merged(harness)).toEqual([]);
  });
});

describe('co-authors whom only GitHub can identify by their addresses', () => {
  const push = ({ github }: Harness, trailers: string[], file: string) =>
    github.push({
      repo: REPO,
      branch: 'greet',
      author: 'ada',
      message: ['Do it', '', ...trailers].join('\n'),
      files: { [file]: 'export {};\n' },
    });
  const questions = ({ github }: Harness) => github.requests.filter(({ path }) => path === '/graphql');

  test('may not countersign, and one without an account costs one more countersign', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await openApproval();
    const { github } = harness;
    github.addUser('mia', { email: 'someone@example.test' });
    github.addUser('max', { email: 'another@example.test' });
    github.setPermission(REPO, 'eve', 'maintain');
    const trailers = ['A Friend <SomeOne@example.test>', 'eve <another@example.test>', 'X <x@nowhere.test>'];
    const clear = 'Co-authored-by: Ada <ada@users.noreply.github.com>';
    await push(harness, [clear, ...trailers.map((who) => `Co-authored-by: ${who}`)], 'a.txt');
    await push(harness, ['No trailer here.'], 'b.txt');
    await harness.advance(A_RECHECK);
    await react(harness, number, 'max');
    await countersign(harness, number, 'mia');
    expect(approvalOf(harness, number).body).toContain('mia reacted, but wrote or co-wrote');
    expect(approvalOf(harness, number).body).toContain('max reacted, but wrote or co-wrote');
    expect(merged(harness)).toEqual([]);
    github.setPermission(REPO, 'otto', 'maintain');
    github.setPermission(REPO, 'will', 'maintain');
    await countersign(harness, number, 'otto');
    expect(merged(harness)).toEqual([]);
    await countersign(harness, number, 'will');
    expect(merged(harness)).toEqual([number]);
  });

  test('keep everybody from countersigning while GitHub does not say who they are', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await openApproval();
    harness.github.addUser('eve', { email: 'someone@example.test' });
    await push(harness, ['Co-authored-by: A Friend <someone@example.test>'], 'a.txt');
    await harness.advance(A_RECHECK);
    await react(harness, number, 'max');
    const answers = [
      { status: 502, body: {} },
      { status: 200, body: { data: null, errors: [{ type: 'SOMETHING' }] } },
      { status: 200, body: { data: { repository: { pullRequest: { commits: 'half' } } } } },
    ];
    for (const answer of answers) {
      const before = questions(harness).length;
      const restore = harness.github.fail(
        ({ path, mutates }) => path === '/graphql' && !mutates?.length,
        answer,
        100,
      );
      await harness.advance(A_RECHECK);
      expect(questions(harness).length).toBeGreaterThan(before);
      expect(approvalOf(harness, number).body).toContain('max reacted, but could have written some');
      expect(merged(harness)).toEqual([]);
      restore();
    }
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([number]);
  });

  test('are looked up only if their trailers do not identify them', { tags: 'slow' }, async () => {
    const { harness, number } = await openApproval({}, { coAuthors: ['will'] });
    const asked: unknown[] = [];
    harness.github.onRequest(({ path, body }) => {
      if (path === '/graphql' && JSON.stringify(body).includes('authors(')) asked.push(body);
    });
    await countersign(harness, number, 'mia');
    expect(merged(harness)).toEqual([number]);
    expect(asked).toEqual([]);
  });
});

test('a maintainer’s rejection behind a page full of other reactions prevents another’s countersign', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await openApproval();
  for (let index = 0; index < 105; index++) await react(harness, number, `fan-${index}`);
  await react(harness, number, 'max', '-1');
  await countersign(harness, number, 'mia');
  expect(merged(harness)).toEqual([]);
  expect(statusOf(harness, number).body).toContain('Rejected by max');
});

test('a look-alike login in the settings is reported there, and nothing runs on a guess', async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: 'countersign: { users: [mіa] }\n' });
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual(['neutral: 1 error in the configuration on main']);
});

/** The number by which GitHub knows a person, as in their webhooks. */
async function accountId({ github }: Harness, number: number, login: string): Promise<number> {
  await github.comment(REPO, number, login, 'Hello.');
  const told = JSON.stringify(github.deliveries.at(-1)?.payload);
  const found = new RegExp(`"login":"${login}","id":(\\d+)`).exec(told);
  return Number(found?.[1] ?? 0);
}
