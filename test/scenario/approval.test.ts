import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  CI_AND_MERGE,
  checkLines,
  countersign,
  headline,
  MERGE_ONLY,
  open,
  pushAgain,
  react,
  readable,
  reportCi,
  type Setting,
  start,
  statusOf,
} from './support.ts';

interface Asked {
  harness: Harness;
  number: number;
  headSha: string;
}

/** A pull request whose maintainers are asked for a countersign. */
async function asked(setting: Setting = {}, input: Parameters<typeof open>[1] = {}): Promise<Asked> {
  const harness = await start({ chain: MERGE_ONLY, ...setting });
  harness.github.addTeam('octo', 'release', ['will']);
  harness.github.addUser('robot', { type: 'Bot' });
  harness.github.setPermission(REPO, 'robot', 'admin');
  const opened = await open(harness, input);
  if (setting.chain === CI_AND_MERGE) await reportCi(harness, opened.headSha, 'success');
  return { harness, ...opened };
}

/** What the last poll found missing, as the approval comment shows it. */
function lastRecheck(harness: Harness, number: number): string[] {
  const [, found = ''] = approvalOf(harness, number).body.split('#### What is missing\n\n');
  return (found.split('\n\n')[0] ?? '').split('\n').map((line) => line.trim());
}

describe('who may countersign', () => {
  eachFirstQuick([
    ['a maintainer', 'mia', '', {}],
    ['an admin', 'max', '', {}],
    ['a writer named in the settings', 'will', 'users: [WILL]', {}],
    ['a writer in a team of the settings', 'will', 'teams: [octo/release]', {}],
    ['a writer where the settings ask for write', 'will', 'permission: write', {}],
    ['a named person if no role is enough', 'will', 'permission: none, users: [will]', {}],
  ])('%s may', async (_, login, settings, input) => {
    const { harness, number } = await asked({ settings: settingsOf(settings) }, input);
    await countersign(harness, number, login);
    expect(harness.github.merges).toHaveLength(1);
    expect(headline(approvalOf(harness, number))).toBe('🎉 Countersigned and merged');
  });

  eachFirstQuick([
    ['a writer', 'will', '', {}, 'will reacted, but has write access'],
    ['an outsider', 'otto', '', {}, 'otto reacted, but has read access'],
    [
      'the author, even as a maintainer',
      'mia',
      '',
      { author: 'mia' },
      'mia reacted, but wrote this pull request',
    ],
    [
      'the committer, even as a maintainer',
      'mia',
      '',
      { committer: 'mia' },
      'mia reacted, but wrote or co-wrote some of the commits',
    ],
    [
      'a co-author, even as a maintainer',
      'mia',
      '',
      { coAuthors: ['mia'] },
      'mia reacted, but wrote or co-wrote some of the commits',
    ],
    ['a bot, even as an admin', 'robot', '', {}, 'robot reacted, but is not a person'],
    ['a bot that the settings name', 'robot', 'users: [robot]', {}, 'robot reacted, but is not a person'],
    [
      'a named person without write access',
      'otto',
      'users: [otto]',
      {},
      'is named in the settings with only read access, where write is needed',
    ],
    [
      'a maintainer where the settings ask for an admin',
      'mia',
      'permission: admin',
      {},
      'mia reacted, but has maintain access',
    ],
    [
      'a maintainer if only named people count',
      'mia',
      'permission: none, users: [will]',
      {},
      'mia reacted, but has maintain access',
    ],
  ])('%s may not', async (_, login, settings, input, because) => {
    const { harness, number } = await asked({ settings: settingsOf(settings) }, input);
    await countersign(harness, number, login);
    expect(harness.github.merges).toEqual([]);
    expect(lastRecheck(harness, number).join('\n')).toContain(because);
  });

  test('a maintainer who pushed to somebody else’s branch may not', { tags: 'slow' }, async () => {
    const { harness, number } = await asked();
    await harness.github.push({ repo: REPO, branch: 'greet', author: 'mia', files: { 'b.txt': 'b\n' } });
    await harness.advance(A_RECHECK);
    await countersign(harness, number, 'mia');
    expect(harness.github.merges).toEqual([]);
    await countersign(harness, number, 'max');
    expect(harness.github.merges).toHaveLength(1);
  });

  function settingsOf(countersign: string): string {
    return `countersign: { ${countersign} }\n`;
  }
});

test('two countersigns must come from two people: one person who reacts twice counts once', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked({ settings: 'countersign: { count: 2 }\n' });
  const { github } = harness;
  await react(harness, number, 'mia', 'rocket');
  await react(harness, number, 'mia', '+1');
  await harness.advance(A_RECHECK);

  expect(github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual([
    'in_progress: Waiting for maintainers to countersign: 1 of 2 did',
  ]);
  expect(approvalOf(harness, number).body).toContain('2 countersigns are needed. Given so far: `mia`.');

  await countersign(harness, number, 'max');
  expect(github.merges).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia and max']);
});

test('a maintainer’s rejecting reaction prevents the merge, and the comment names them, whoever else approves', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked();
  await react(harness, number, 'mia', '-1');
  await react(harness, number, 'max', 'rocket');
  await harness.advance(A_RECHECK);

  expect(harness.github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual(['failure: Rejected by mia']);
  expect(headline(statusOf(harness, number))).toBe('✋ Rejected by mia');
  expect(readable(harness, approvalOf(harness, number).body, { head: headSha })).toMatchInlineSnapshot(`
    "<!-- countersign:approval head=<head> base=main -->
    <!-- countersign:question id=apr_1 -->
    ### ✋ Rejected by mia

    \`mia\` rejected the merge of commit \`<head>\` into \`main\`.

    Only \`mia\` can take that back for \`<head>\`, by countersigning when Countersign asks again.

    **Next:** Talk to whoever rejected it, or push a new commit: Countersign reviews it and asks again.

    <sub>Chain \`pr-review\` for \`<head>\` · [details](https://github.test/octo/app/runs/52000000001)</sub>"
  `);
});

test('after a rejection, a push leads to a new approval comment', { tags: 'slow' }, async () => {
  const { harness, number } = await asked();
  await react(harness, number, 'mia', '-1');
  await harness.advance(A_RECHECK);
  await pushAgain(harness);
  await countersign(harness, number);
  expect(harness.github.merges).toHaveLength(1);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '🎉 Countersigned and merged']);
});

test('a rejecting reaction of somebody who may not countersign prevents nothing', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked();
  for (const login of ['will', 'otto', 'ada']) await react(harness, number, login, '-1');
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
  await countersign(harness, number);
  expect(harness.github.merges).toHaveLength(1);
});

test('only the reactions that the settings name count', { tags: 'slow' }, async () => {
  const { harness, number } = await asked({ settings: 'countersign: { approve: [heart], reject: [] }\n' });
  await react(harness, number, 'mia', 'rocket');
  await react(harness, number, 'max', '-1');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toEqual([]);
  await react(harness, number, 'mia', 'heart');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('a reaction to another comment is not a countersign', { tags: 'slow' }, async () => {
  const { harness, number } = await asked();
  await harness.advance(A_RECHECK);
  const copy = await harness.github.comment(REPO, number, 'ada', approvalOf(harness, number).body);
  await harness.github.react(REPO, copy, 'mia', 'rocket');
  await harness.github.comment(REPO, number, 'mia', '/countersign status');
  await harness.advance(A_RECHECK);
  const { botLogin } = harness.github.app;
  const own = harness.github.comments(REPO, number).filter(({ author }) => author === botLogin);
  const reply = own.find(({ body }) => !body.includes('countersign:question'));
  await harness.github.react(REPO, reply?.id ?? 0, 'mia', 'rocket');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toEqual([]);
});

test('a reaction that is withdrawn before the poll does not count', { tags: 'slow' }, async () => {
  const { harness, number } = await asked();
  const reaction = await react(harness, number, 'mia');
  await harness.github.unreact(REPO, approvalOf(harness, number).id, reaction);
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toEqual([]);
  expect(headline(approvalOf(harness, number))).toBe('✍️ Approve this merge?');
});

test('a person who loses the permission before the poll does not count', { tags: 'slow' }, async () => {
  const { harness, number } = await asked();
  await react(harness, number, 'mia');
  harness.github.setPermission(REPO, 'mia', 'read');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toEqual([]);
  expect(lastRecheck(harness, number)).toContain('- ❌ mia reacted, but has read access');
});

test('a first countersign that is withdrawn while the second is awaited no longer counts', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked({ settings: 'countersign: { count: 2 }\n' });
  const reaction = await react(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  await harness.github.unreact(REPO, approvalOf(harness, number).id, reaction);
  await countersign(harness, number, 'max');
  expect(harness.github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual([
    'in_progress: Waiting for maintainers to countersign: 1 of 2 did',
  ]);
  expect(approvalOf(harness, number).body).toContain('Given so far: `max`.');
});

test('an approval comment that somebody edits is void with all its reactions, and replaced', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked();
  const { github } = harness;
  const first = approvalOf(harness, number);
  await react(harness, number, 'mia');
  await github.editComment(REPO, first.id, 'will', first.body.replace('merged', 'discussed'));
  await harness.advance(A_RECHECK);

  expect(github.merges).toEqual([]);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  expect(
    readable(harness, approvals(harness, number)[0]?.body ?? '', { head: headSha }),
  ).toMatchInlineSnapshot(`
    "<!-- countersign:question id=apr_1 -->
    ⏭️ [A newer comment](https://github.test/octo/app/pull/1#issuecomment-3100000002) replaces this one.

    <sub>This comment was an approval request. It asked whether commit \`<head>\` may be squash-merged into \`main\`. Somebody edited the approval comment, so its reactions do not count. Reactions to it no longer count.</sub>"
  `);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});

test('an approval comment that somebody deletes is replaced', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked();
  const { github } = harness;
  await react(harness, number, 'mia');
  await github.deleteComment(REPO, approvalOf(harness, number).id, 'will');
  await harness.advance(A_RECHECK);

  expect(github.merges).toEqual([]);
  expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});

test('an interrupted update of the approval comment is not mistaken for somebody else’s edit', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await asked({ settings: 'countersign: { count: 2 }\n' });
  const { github } = harness;
  const isEdit = (request: { method: string; path: string }) =>
    request.method === 'PATCH' && request.path.endsWith(`/issues/comments/${approvalOf(harness, number).id}`);
  github.fail(isEdit, { after: 'reset' }, 1);
  await react(harness, number, 'mia');
  await github.comment(REPO, number, 'will', 'Looks good.');
  await harness.settle();
  await github.comment(REPO, number, 'will', 'Who else?');
  await harness.settle();
  await harness.advance(A_RECHECK);

  expect(approvals(harness, number)).toHaveLength(1);
  await countersign(harness, number, 'max');
  expect(github.merges).toHaveLength(1);
});

describe('the app polls an approval comment', () => {
  const MINUTE = 60_000;

  test('often at first, then less often, and only by GraphQL', {
    tags: 'slow',
  }, async () => {
    const { harness } = await asked();
    const { github, clock } = harness;
    await harness.advance(A_RECHECK);
    const polls: number[] = [];
    for (const age of [0, 10 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE]) {
      // One jump in time instead of all polls in between.
      clock.advance(age);
      await harness.advance(age > 0 ? 6 * MINUTE : 0);
      const before = github.requests.length;
      await harness.advance(age > 0 ? 10 * MINUTE : MINUTE);
      const sent = github.requests.slice(before);
      expect(sent.filter(({ path }) => path.includes('/issues/comments/'))).toEqual([]);
      polls.push(sent.filter(({ path }) => path === '/graphql').length);
    }
    expect(polls).toMatchInlineSnapshot(`
      [
        20,
        133,
        11,
        2,
      ]
    `);
  });

  eachFirstQuick([
    ['a comment', ({ github }: Harness, number: number) => github.comment(REPO, number, 'will', 'Nice.')],
    ['a label', ({ github }: Harness, number: number) => github.addLabel(REPO, number, 'will', 'docs')],
    [
      'a review',
      ({ github }: Harness, number: number) => github.review(REPO, number, 'will', 'COMMENTED', 'Hm.'),
    ],
    [
      'a title',
      ({ github }: Harness, number: number) => github.editPullRequest(REPO, number, 'ada', { title: 'Hi' }),
    ],
    [
      'a check',
      ({ github }: Harness, number: number) =>
        github.reportCheck(REPO, github.pullRequest(REPO, number).headSha, {
          name: 'late',
          status: 'completed',
          conclusion: 'success',
        }),
    ],
  ])('at once when the pull request gets %s', async (_, happen) => {
    const { harness, number } = await asked();
    await react(harness, number, 'mia');
    const then = harness.clock.now();
    await happen(harness, number);
    await harness.github.settle();
    await harness.app.queue.idle();
    expect(harness.clock.now()).toEqual(then);
    expect(harness.github.merges).toHaveLength(1);
  });
});

describe('an approval is blocked', () => {
  test('by CI that turns red after the maintainers were asked, until it is green again', {
    tags: 'slow',
  }, async () => {
    const { harness, number, headSha } = await asked({ chain: CI_AND_MERGE });
    const { github } = harness;
    await reportCi(harness, headSha, 'failure');
    await react(harness, number, 'mia');
    await harness.advance(A_RECHECK);

    expect(github.merges).toEqual([]);
    expect(checkLines(harness, headSha)).toMatchInlineSnapshot(`
      [
        "in_progress: Not merging: ci: 1 of 1 check failed: test",
      ]
    `);
    expect(approvalOf(harness, number).body).toContain('> **On hold:** ');
    expect(headline(statusOf(harness, number))).toMatchInlineSnapshot(`"✍️ Approve this merge?"`);

    await reportCi(harness, headSha, 'success');
    await harness.advance(A_RECHECK);
    expect(github.merges).toHaveLength(1);
    expect(approvals(harness, number).map(headline)).toEqual(['🎉 Countersigned and merged']);
  });

  test('by red CI, which the next poll shows before anybody has reacted', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await asked({ chain: CI_AND_MERGE });
    await reportCi(harness, headSha, 'failure');
    await harness.advance(A_RECHECK);
    const held = checkLines(harness, headSha);
    expect(held).toMatchInlineSnapshot(`
      [
        "in_progress: Not merging: ci: 1 of 1 check failed: test",
      ]
    `);
    await harness.advance(A_RECHECK);
    expect(checkLines(harness, headSha)).toEqual(held);
    expect(approvalOf(harness, number).body).toContain('> **On hold:** ');
  });

  test('by red CI, and after a push the comment says that the push voided it', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await asked({ chain: CI_AND_MERGE });
    await reportCi(harness, headSha, 'failure');
    await harness.advance(A_RECHECK);
    await pushAgain(harness);
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number)[0]?.body).toContain('A newer commit was pushed');
  });
});
