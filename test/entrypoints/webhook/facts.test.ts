import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliveryFacts, queueKey } from '../../../src/entrypoints/webhook/delivery/facts.ts';

const repository = { id: 7 };

describe('the queue key of a delivery', () => {
  it.each<[string, object, string]>([
    ['a pull request', { repository, pull_request: { number: 3 } }, 'pr:7#3'],
    ['a comment on a pull request', { repository, issue: { number: 3, pull_request: {} } }, 'pr:7#3'],
    ['an issue', { repository, issue: { number: 3 } }, 'repo:7'],
    ['a check run', { repository, check_run: { id: 1 } }, 'repo:7'],
    ['a pull request without a repository', { pull_request: { number: 3 } }, 'delivery:a-guid'],
    ['an installation', { installation: { id: 1 } }, 'delivery:a-guid'],
    ['an unreadable payload', { repository: 'x', issue: [] }, 'delivery:a-guid'],
  ])('of %s is by its subject', (_what, payload, key) => {
    expect(queueKey(deliveryFacts(payload), 'a-guid')).toBe(key);
  });
});

describe('deliveryFacts', () => {
  it('reads the action and the installation', () => {
    const payload = { action: 'opened', installation: { id: 5 }, repository, pull_request: { number: 3 } };
    expect(deliveryFacts(payload)).toEqual({
      action: 'opened',
      installationId: 5,
      repositoryId: 7,
      pullRequest: 3,
    });
  });

  it('omits members of another type instead of throwing', () => {
    const odd = fc.oneof(fc.jsonValue(), fc.record({ id: fc.jsonValue(), number: fc.jsonValue() }));
    const payload = fc.record(
      { action: odd, installation: odd, repository: odd, pull_request: odd, issue: odd },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(payload, (value) => {
        const { action, ...numbers } = deliveryFacts(value);
        expect(action === null || typeof action === 'string').toBe(true);
        for (const number of Object.values(numbers)) {
          expect(number === null || Number.isSafeInteger(number)).toBe(true);
        }
      }),
    );
  });
});
