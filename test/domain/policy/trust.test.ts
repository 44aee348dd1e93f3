// @module-tag security

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REPOSITORY_ROLES, type RepositoryRole } from '../../../src/domain/policy/role.ts';
import {
  isTrusted,
  LEAST_TRUST,
  type Membership,
  type Origin,
  TRUST_LEVELS,
  type TrustContext,
  type TrustLevel,
  trustOf,
} from '../../../src/domain/policy/trust.ts';

const HEAD = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const OURS = 'acme/shop';

const somebody = (login: string, role: RepositoryRole | undefined): Membership => ({ login, role });

function pullRequest({
  head = OURS,
  sha = HEAD,
  association = 'CONTRIBUTOR',
  role = 'write',
  isPerson = true,
}: {
  head?: string | null;
  sha?: string;
  association?: string;
  role?: RepositoryRole | undefined;
  isPerson?: boolean;
} = {}): Origin {
  return {
    kind: 'pull_request',
    headRepository: head,
    headSha: sha,
    author: { ...somebody('ada', role), association, isPerson },
  };
}

function context(more: Partial<TrustContext> = {}): TrustContext {
  return {
    repository: OURS,
    headSha: HEAD,
    origin: pullRequest(),
    dispatcher: undefined,
    countersign: undefined,
    ...more,
  };
}

const FORK = pullRequest({ head: 'otto/shop' });
const OUTSIDER = pullRequest({ role: 'read' });
const countersign = { headSha: HEAD, by: ['mia'] };

describe('trust', () => {
  test.each<[string, Partial<TrustContext>, TrustLevel]>([
    // Whose pull request it is.
    ['a writer’s pull request', {}, 'standard'],
    ['a triager’s pull request', { origin: pullRequest({ role: 'triage' }) }, 'standard'],
    [
      'a member’s pull request, without reading the role',
      { origin: pullRequest({ association: 'MEMBER', role: undefined }) },
      'standard',
    ],
    [
      'the owner’s pull request',
      { origin: pullRequest({ association: 'OWNER', role: undefined }) },
      'standard',
    ],
    [
      'a collaborator’s pull request',
      { origin: pullRequest({ association: 'COLLABORATOR', role: undefined }) },
      'standard',
    ],
    [
      'the pull request of a member who hides the membership, by role',
      { origin: pullRequest({ association: 'NONE', role: 'maintain' }) },
      'standard',
    ],
    ['a reader’s pull request, as anybody’s on a public repository', { origin: OUTSIDER }, 'sandbox'],
    ['the pull request of somebody without access', { origin: pullRequest({ role: 'none' }) }, 'sandbox'],
    [
      'a first contributor’s pull request',
      { origin: pullRequest({ association: 'FIRST_TIME_CONTRIBUTOR', role: 'read' }) },
      'sandbox',
    ],
    [
      'the pull request of a contributor with an unknown role',
      {
        origin: {
          kind: 'pull_request',
          headRepository: OURS,
          headSha: HEAD,
          author: { ...somebody('ada', undefined), association: 'CONTRIBUTOR', isPerson: true },
        },
      },
      'sandbox',
    ],
    [
      'a pull request with a future association',
      { origin: pullRequest({ association: 'BEST_FRIEND', role: 'read' }) },
      'sandbox',
    ],
    [
      'a bot’s pull request, whatever its role',
      { origin: pullRequest({ association: 'MEMBER', isPerson: false }) },
      'sandbox',
    ],
    // Where its head is.
    ['a pull request from a fork', { origin: FORK }, 'sandbox'],
    [
      'a member’s pull request from a fork',
      { origin: pullRequest({ head: 'ada/shop', association: 'MEMBER' }) },
      'sandbox',
    ],
    ['a pull request from a deleted fork', { origin: pullRequest({ head: null }) }, 'sandbox'],
    [
      'a pull request from a repository with a similar name',
      { origin: pullRequest({ head: `${OURS}2` }) },
      'sandbox',
    ],
    [
      'a pull request from our own repository in another case',
      { origin: pullRequest({ head: 'Acme/Shop' }) },
      'standard',
    ],
    // Who fired it.
    ['a pull request that a maintainer fired', { dispatcher: somebody('mia', 'maintain') }, 'elevated'],
    ['a pull request that an admin fired', { dispatcher: somebody('max', 'admin') }, 'elevated'],
    ['a pull request that a writer fired', { dispatcher: somebody('will', 'write') }, 'standard'],
    ['a pull request fired by somebody who lost access', { dispatcher: somebody('mia', 'none') }, 'standard'],
    [
      'a pull request fired by somebody with an unknown role',
      { dispatcher: somebody('mia', undefined) },
      'standard',
    ],
    [
      'a pull request fired by somebody with a name like “maintainer”',
      { dispatcher: somebody('admin', 'read') },
      'standard',
    ],
    [
      'a fork’s pull request that a maintainer fired: its text is still untrusted',
      { origin: FORK, dispatcher: somebody('mia', 'maintain') },
      'standard',
    ],
    [
      'an outsider’s pull request that an admin fired',
      { origin: OUTSIDER, dispatcher: somebody('max', 'admin') },
      'standard',
    ],
    [
      'a fork’s pull request that a writer fired',
      { origin: FORK, dispatcher: somebody('will', 'write') },
      'sandbox',
    ],
    // Whether it is countersigned.
    ['a pull request that is countersigned for this head', { countersign }, 'privileged'],
    [
      'a fork’s pull request that is countersigned for this head',
      { origin: FORK, countersign },
      'privileged',
    ],
    [
      'a pull request that is countersigned for another head',
      { countersign: { ...countersign, headSha: OTHER } },
      'standard',
    ],
    ['a pull request with an empty countersign', { countersign: { ...countersign, by: [] } }, 'standard'],
    [
      'a pull request that is countersigned for another head and fired by a maintainer',
      { countersign: { ...countersign, headSha: OTHER }, dispatcher: somebody('mia', 'maintain') },
      'elevated',
    ],
    // What has changed or is unknown.
    ['a pull request whose head moved', { origin: pullRequest({ sha: OTHER }) }, 'sandbox'],
    [
      'a pull request whose head moved, fired by an admin and countersigned for the old head',
      { origin: pullRequest({ sha: OTHER }), dispatcher: somebody('max', 'admin'), countersign },
      'sandbox',
    ],
    [
      'a pull request that cannot be read, whatever else is known',
      { origin: undefined, dispatcher: somebody('max', 'admin'), countersign },
      'sandbox',
    ],
    // Runs without a pull request.
    ['a writer’s issue', { origin: { kind: 'issue', author: somebody('ada', 'write') } }, 'standard'],
    ['anybody’s issue', { origin: { kind: 'issue', author: somebody('otto', 'read') } }, 'sandbox'],
    ['a writer’s push', { origin: { kind: 'push', author: somebody('will', 'write') } }, 'standard'],
    ['a push by a deploy key', { origin: { kind: 'push', author: somebody('key', 'none') } }, 'sandbox'],
  ])('has the expected level for %s', (_, more, level) => {
    expect(trustOf(context(more)).level).toBe(level);
  });

  test('says of each fact whether it raises the level', () => {
    const { facts } = trustOf(
      context({
        origin: FORK,
        dispatcher: somebody('mia', 'maintain'),
        countersign: { ...countersign, headSha: OTHER },
      }),
    );
    expect(facts.map(({ status, summary }) => `${status}: ${summary}`)).toEqual([
      'unmet: its head is in another repository, otto/shop',
      'met: ada, who opened the pull request, has write access',
      'met: mia, who fired it, has maintain access',
      'unmet: countersigned for bbbbbbb, not for aaaaaaa',
    ]);
  });

  test.each<[string, Origin, TrustLevel]>([
    ['a member’s pull request', pullRequest(), 'elevated'],
    ['a fork’s pull request', FORK, 'standard'],
  ])('says how far a maintainer’s dispatch would raise %s', (_, origin, ifDispatched) => {
    expect(trustOf(context({ origin })).ifDispatched).toBe(ifDispatched);
  });

  test('has levels in one order, and each level includes itself', () => {
    for (const [rank, level] of TRUST_LEVELS.entries()) {
      expect(TRUST_LEVELS.filter((needed) => isTrusted(level, needed))).toEqual(
        TRUST_LEVELS.slice(0, rank + 1),
      );
    }
  });
});

const role = fc.constantFrom(...REPOSITORY_ROLES, undefined);
const login = fc.constantFrom('ada', 'mia', 'admin', 'acme', 'countersign[bot]', 'maintain');
const membership = fc.record({ login, role });
const sha = fc.constantFrom(HEAD, OTHER);
const origin: fc.Arbitrary<Origin | undefined> = fc.oneof(
  fc.record({
    kind: fc.constant('pull_request' as const),
    headRepository: fc.constantFrom(OURS, 'otto/shop', null),
    headSha: sha,
    author: fc.record({
      login,
      role,
      association: fc.constantFrom('MEMBER', 'COLLABORATOR', 'CONTRIBUTOR', 'NONE'),
      isPerson: fc.boolean(),
    }),
  }),
  fc.record({ kind: fc.constantFrom('issue' as const, 'push' as const), author: membership }),
  fc.constant(undefined),
);
const anyContext: fc.Arbitrary<TrustContext> = fc.record({
  repository: fc.constant(OURS),
  headSha: sha,
  origin,
  dispatcher: fc.option(membership, { nil: undefined }),
  countersign: fc.option(fc.record({ headSha: sha, by: fc.array(login, { maxLength: 2 }) }), {
    nil: undefined,
  }),
});
const seed = Number(process.env.COUNTERSIGN_SEED ?? 4);
const numRuns = process.env.COUNTERSIGN_LONG === '1' ? 100_000 : 1_000;

/** The same facts about people with other names. */
function renamed(of: TrustContext): TrustContext {
  const other = <T extends Membership>(person: T): T => ({ ...person, login: 'somebody-else' });
  return {
    ...of,
    origin:
      of.origin && 'author' in of.origin
        ? ({ ...of.origin, author: other(of.origin.author) } as Origin)
        : of.origin,
    dispatcher: of.dispatcher && other(of.dispatcher),
  };
}

describe(`the trust level of any context (seed ${seed})`, () => {
  test('does not depend on names', () => {
    fc.assert(
      fc.property(anyContext, (of) => {
        expect(trustOf(renamed(of)).level).toBe(trustOf(of).level);
      }),
      { seed, numRuns },
    );
  });

  test('never rises when a fact is missing or unknown', () => {
    fc.assert(
      fc.property(anyContext, (of) => {
        const { level } = trustOf(of);
        const unknown = of.dispatcher && { ...of.dispatcher, role: undefined };
        for (const less of [
          { origin: undefined },
          { dispatcher: undefined },
          { dispatcher: unknown },
          { countersign: undefined },
        ]) {
          expect(isTrusted(level, trustOf({ ...of, ...less }).level)).toBe(true);
        }
      }),
      { seed, numRuns },
    );
  });

  test('is privileged only with a countersign for this very head, and at most standard for other origins without one', () => {
    fc.assert(
      fc.property(anyContext, (of) => {
        const { level } = trustOf(of);
        const isForHead = of.countersign?.headSha === of.headSha && of.countersign.by.length > 0;
        if (level === 'privileged') expect(isForHead).toBe(true);
        const pr = of.origin?.kind === 'pull_request' ? of.origin : undefined;
        if (pr && pr.headRepository !== OURS && !isForHead) expect(isTrusted('standard', level)).toBe(true);
        if (pr && pr.headSha !== of.headSha) expect(level).toBe(LEAST_TRUST.level);
      }),
      { seed, numRuns },
    );
  });
});
