import { describe, expect, it } from 'vitest';
import { pushOf } from '../../../src/entrypoints/webhook/event/push-of.ts';

const before = 'b'.repeat(40);
const after = 'a'.repeat(40);
const moved = { before, after, repository: { id: 70 }, sender: { id: 7, login: 'mia', type: 'User' } };
const pushed = { ...moved, ref: 'refs/heads/greet', deleted: false };
const told = { repositoryId: 70, before, after, actorId: 7 };

describe('who pushed', () => {
  it.each([
    ['of a push to a branch', 'push', pushed],
    [
      'of a push to the head of a pull request, in any repository',
      'pull_request',
      { ...moved, action: 'synchronize' },
    ],
  ])('is read: %s', (_, name, payload) => {
    expect(pushOf(name, payload)).toEqual(told);
  });

  it.each([
    ['of a tag', 'push', { ...pushed, ref: 'refs/tags/v1' }],
    ['of a branch that was deleted', 'push', { ...pushed, after: '0'.repeat(40), deleted: true }],
    ['of a push without a sender, as with some deploy keys', 'push', { ...pushed, sender: null }],
    [
      'of the opening of a pull request, because its author need not have pushed it',
      'pull_request',
      { ...moved, action: 'opened' },
    ],
    ['of other webhooks', 'status', pushed],
    ['of an invalid commit', 'push', { ...pushed, after: 'main' }],
    ['of nothing', 'push', null],
  ])('is not read: %s', (_, name, payload) => {
    expect(pushOf(name, payload)).toBeUndefined();
  });
});
