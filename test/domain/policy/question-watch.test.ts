import { describe, expect, test } from 'vitest';
import { bodyHash } from '../../../src/domain/effect/body-hash.ts';
import {
  changeOf,
  type PolledComment,
  type QuestionWatch,
  reactionsSeen,
} from '../../../src/domain/policy/question-watch.ts';

const BODY = 'Approve this merge?';
const mia = { id: 11, content: 'rocket' };
const max = { id: 12, content: 'rocket' };

const watch = (over: Partial<QuestionWatch> = {}): QuestionWatch => ({
  node_id: 'IC_1',
  counted: ['rocket', '-1'],
  reactions: '',
  body: bodyHash(BODY),
  pull_request: { open: true, draft: false, head_sha: 'a', base_ref: 'main', conflicts: false },
  ...over,
});
const shown = (over: Partial<PolledComment> = {}): PolledComment => ({
  body: BODY,
  reactions: [],
  pullRequest: { open: true, draft: false, headSha: 'a', baseRef: 'main', conflicts: false },
  ...over,
});
const pull = (over: Partial<PolledComment['pullRequest']>) =>
  shown({ pullRequest: { ...shown().pullRequest, ...over } });

describe('a question has changed', () => {
  test.each([
    ['with a reaction', shown({ reactions: [mia] })],
    ['with a rejection', shown({ reactions: [{ id: 11, content: '-1' }] })],
    ['with another text', shown({ body: `${BODY} Or not?` })],
    ['with a push', pull({ headSha: 'b' })],
    ['with another base', pull({ baseRef: 'next' })],
    ['with a return to draft', pull({ draft: true })],
    ['with the end of its pull request', pull({ open: false })],
    ['with a conflict', pull({ conflicts: true })],
  ])('%s', (_, now) => {
    expect(changeOf(watch(), now)).not.toBe('');
    expect(changeOf(watch(), now)).toBeDefined();
  });

  test('with a reaction that another person’s replaces, although their number stays the same', () => {
    const before = watch({ reactions: reactionsSeen([mia], ['rocket', '-1']) });
    expect(changeOf(before, shown({ reactions: [mia] }))).toBe('');
    expect(changeOf(before, shown({ reactions: [max] }))).toContain('reactions');
    expect(changeOf(before, shown())).toContain('reactions');
  });

  test('with the end of a conflict', () => {
    const before = watch();
    before.pull_request.conflicts = true;
    expect(changeOf(before, shown())).toContain('conflicts');
  });
});

describe('a question has not changed', () => {
  test.each([
    ['while nothing happens', shown()],
    ['with a reaction that does not count', shown({ reactions: [{ id: 13, content: 'heart' }] })],
    ['with other line ends', shown({ body: `${BODY}\r\n` })],
    ['while GitHub works out whether there is a conflict', pull({ conflicts: undefined })],
  ])('%s', (_, now) => {
    expect(changeOf(watch(), now)).toBe('');
  });

  test('with the same reactions in another order', () => {
    const before = watch({ reactions: reactionsSeen([mia, max], ['rocket']) });
    expect(changeOf(before, shown({ reactions: [max, mia] }))).toBe('');
  });
});

test.each([
  ['GitHub does not show the comment', undefined],
  ['there are more reactions than were read', shown({ reactions: undefined })],
])('it is unknown whether a question has changed if %s', (_, now) => {
  expect(changeOf(watch(), now)).toBeUndefined();
});
