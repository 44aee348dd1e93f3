import { expect, it } from 'vitest';
import type { Approval } from '../../src/domain/policy/approval.ts';
import { chatNotice } from '../../src/messages/comments/chat-notice.ts';
import { mentionComment, noticeLines, teamUnseen } from '../../src/messages/comments/notice.ts';

const approval = { id: 'apr_1' } as Approval;
const about = {
  repository: 'octo/app',
  number: 7,
  title: 'Greet people',
  url: 'https://github.com/octo/app/pull/7?a=1&b=2#issuecomment-1',
};

it('a mention names teams before people, and links to the question', () => {
  const question = 'https://github.com/octo/app/pull/7#issuecomment-1';
  const to = { people: ['mia', 'max'], teams: ['octo/core'] };
  expect(mentionComment(approval, to, { question, isMerge: true })).toMatchInlineSnapshot(`
    "<!-- countersign:mention id=apr_1 -->
    @octo/core, @mia and @max: [the approval comment](https://github.com/octo/app/pull/7#issuecomment-1) asks you to approve this merge. Answer there."
  `);
  expect(mentionComment(approval, to, { question: null, isMerge: false })).toMatchInlineSnapshot(`
    "<!-- countersign:mention id=apr_1 -->
    @octo/core, @mia and @max: the approval comment asks you to approve a step of this chain. Answer there."
  `);
});

it('the approval comment says whom the question notified, and whom it could not', () => {
  expect(noticeLines({})).toEqual([]);
  const notices = {
    sent: [],
    people: ['octo/core', 'mia'],
    webhooks: ['team'],
    problems: [teamUnseen('octo/away')],
  };
  expect(noticeLines({ notices }).join('\n\n')).toMatchInlineSnapshot(`
    "**Notified:** \`octo/core\`, \`mia\` and the webhook \`team\`.

    > **Not notified:** The team octo/away cannot be notified: GitHub does not show it to this app. The team may be secret, renamed or deleted, or the app may lack the permission to read members."
  `);
});

it('a message to a chat says what is needed, and how long it has waited', () => {
  expect(chatNotice(about, { isMerge: true, openForMs: undefined })).toMatchInlineSnapshot(
    `"<https://github.com/octo/app/pull/7?a=1&amp;b=2#issuecomment-1|octo/app#7> needs a countersign: Greet people"`,
  );
  expect(
    chatNotice({ ...about, url: null }, { isMerge: false, openForMs: 90_000_000 }),
  ).toMatchInlineSnapshot(`"octo/app#7 has waited 1 d for an approval: Greet people"`);
});

it.each([
  ['*bold* _it_ `code` ~gone~', '*\u200Bbold* _\u200Bit_ `\u200Bcode` ~\u200Bgone~'],
  ['www.evil.test', 'www\u200B.evil.test'],
  ['a\u202Eb\u200Bc\nd', 'abc d'],
  ['x'.repeat(200), `${'x'.repeat(149)}…`],
])('a title %o is plain text in a chat', (title, shown) => {
  expect(
    chatNotice({ ...about, title }, { isMerge: true, openForMs: undefined }).split('countersign: ')[1],
  ).toBe(shown);
});
