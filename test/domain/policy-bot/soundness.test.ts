import fc from 'fast-check';
import { expect } from 'vitest';
import { compileExpression, evaluateCondition } from '../../../src/domain/expression/condition.ts';
import { readPolicy } from '../../../src/domain/policy-bot/policy.ts';
import {
  type Approval,
  type AskingStep,
  type Criterion,
  translate,
} from '../../../src/domain/policy-bot/translate.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { isActor, type PullRequest, policyBot, type World } from './reference.ts';

const LOGINS = ['ann', 'bob', 'cid', 'dan', 'eve'];
const TEAMS = ['o/red', 'o/blue'];
const PATTERNS = [
  '^docs/',
  '^docs/.*$',
  '\\.md$',
  '^src/[^/]+/x\\.go$',
  '^(docs|src)/',
  '^(.*/)?x\\.go$',
  'x',
  '^docs/.+\\.md$',
  '.*',
  '(?i)DOCS',
  '[a-z]+/a',
];
const PATHS = [
  'docs/a.md',
  'docs/b/a.md',
  'src/m/x.go',
  'src/x.go',
  'x.go',
  'a',
  'DOCS/a',
  'docs/a\nb',
  'docs.md',
];

const pattern = fc.constantFrom(...PATTERNS);
const patterns = fc.array(pattern, { minLength: 1, maxLength: 2 });
const some = <T>(from: readonly T[], minLength = 0) =>
  fc.uniqueArray(fc.constantFrom(...from), { minLength, maxLength: 2 });
const people = fc.record(
  {
    users: some(LOGINS),
    teams: some(TEAMS),
    organizations: some(['o']),
    permissions: some(['read', 'write', 'maintain', 'admin']),
  },
  { requiredKeys: [] },
);
const predicates = fc.record(
  {
    changed_files: fc.record({ paths: patterns, ignore: patterns }, { requiredKeys: ['paths'] }),
    no_changed_files: fc.record({ paths: patterns }),
    only_changed_files: fc.record({ paths: patterns }),
    targets_branch: fc.record({ pattern: fc.constantFrom('^main$', '^release/', 'm', '(?i)MAIN') }),
    from_branch: fc.record({ pattern: fc.constantFrom('^renovate/', '^ann', 'x', '^ann:x$') }),
    has_labels: some(['Bug', 'ship'], 1),
    has_author_in: people,
    has_contributor_in: people,
    has_valid_signatures: fc.constant(true),
    modified_lines: fc.record({ total: fc.constantFrom('> 10', '< 10', '= 5') }),
    has_status: fc.record(
      {
        statuses: some(['build', 'lint'], 1),
        conclusions: some(['success', 'neutral', 'skipped', 'failure'], 1),
      },
      { requiredKeys: ['statuses'] },
    ),
    has_successful_status: some(['build'], 1),
    title: fc.record({ matches: patterns }),
    repository: fc.record({ not_matches: fc.constant(['^o/']) }),
  },
  { requiredKeys: [] },
);
/** Few at a time, because more than three hardly ever hold together. */
const fewPredicates = fc.tuple(predicates, fc.nat(2), fc.nat(20)).map(([all, most, from]) => {
  const entries = Object.entries(all);
  return Object.fromEntries([...entries.slice(from % (entries.length + 1)), ...entries].slice(0, most));
});
const NAMES = ['r0', 'r1', 'r2', 'r3'];
const rule = fc.record(
  {
    if: fewPredicates,
    requires: fc
      .tuple(people, fc.constantFrom(0, 1, 1, 2), fewPredicates)
      .map(([who, count, conditions]) => ({ ...who, count, conditions })),
  },
  { requiredKeys: [] },
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...NAMES),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
  ),
}));
const policies = fc.record({
  policy: fc.record(
    {
      approval: fc.array(tree, { maxLength: 3 }),
      disapproval: fc.record({ if: fewPredicates }),
    },
    { requiredKeys: ['approval'] },
  ),
  approval_rules: fc
    .tuple(rule, rule, rule, rule)
    .map((rules) => rules.map((one, at) => ({ name: NAMES[at], ...one }))),
});
const pulls: fc.Arbitrary<PullRequest> = fc.record({
  files: fc.uniqueArray(
    fc.record(
      { name: fc.constantFrom(...PATHS), previous: fc.constantFrom(...PATHS) },
      { requiredKeys: ['name'] },
    ),
    { maxLength: 3, selector: ({ name }) => name },
  ),
  labels: some(['bug', 'Ship', 'other']),
  author: fc.constantFrom(...LOGINS),
  base: fc.constantFrom('main', 'release/1'),
  head: fc.constantFrom('renovate/x', 'x', 'annex'),
  fork: fc.constantFrom(undefined, undefined, 'ann', 'x'),
  repository: fc.constantFrom('o/app', 'p/app'),
  title: fc.constantFrom('docs/ more', 'fix'),
  additions: fc.constantFrom(0, 5, 20),
  deletions: fc.constantFrom(0, 5),
  signed: fc.boolean(),
  checks: fc.dictionary(
    fc.constantFrom('build', 'lint'),
    fc.constantFrom('success', 'neutral', 'skipped', 'failure', 'pending'),
  ),
  contributors: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, some(LOGINS)),
});
const worlds: fc.Arbitrary<World> = fc.record({
  teams: fc.record({ 'o/red': some(LOGINS, 1), 'o/blue': some(LOGINS, 1) }),
  organizations: fc.record({ o: some(LOGINS) }),
  permissions: fc.record(
    Object.fromEntries(
      LOGINS.map((login) => [
        login,
        fc.constantFrom('write', 'maintain', 'admin', 'write', 'triage', 'read'),
      ]),
    ),
  ),
});

/** The facts of the pull request as gates read them. */
function factsOf(pull: PullRequest): Record<string, unknown> {
  const named = (...results: string[]) =>
    Object.keys(pull.checks).filter((name) => results.includes(pull.checks[name] ?? ''));
  return {
    changed_paths: [
      ...new Set(
        pull.files.flatMap(({ name, previous }) => [name, ...(previous === undefined ? [] : [previous])]),
      ),
    ],
    changed_files: pull.files.length,
    additions: pull.additions,
    deletions: pull.deletions,
    labels: pull.labels,
    author: pull.author,
    head_branch: pull.head,
    base_branch: pull.base,
    fork: pull.fork !== undefined,
    signed: pull.signed,
    passed_checks: named('success', 'neutral', 'skipped'),
    successful_checks: named('success'),
    failed_checks: named('failure'),
    pending_checks: named('pending'),
  };
}

/** Pull requests and what people did, for one policy. */
const situations = fc.array(
  fc.record({
    pull: pulls,
    world: worlds,
    reacting: fc.uniqueArray(fc.constantFrom(...LOGINS), { maxLength: LOGINS.length }),
  }),
  { minLength: 40, maxLength: 40 },
);

type Named = Pick<Approval, 'teams' | 'users' | 'permission'>;

function belongs({ teams, users, permission }: Named, login: string, world: World): boolean {
  const isEmpty = teams.length + users.length === 0 && permission === undefined;
  const permissions = isEmpty ? ['maintain'] : permission === undefined ? [] : [permission];
  return isActor({ teams, users, permissions }, login, world);
}

const RUNS = process.env.COUNTERSIGN_LONG === '1' ? 6_000 : 400;

eachFirstQuick([100, RUNS])(
  'whatever an imported policy lets merge, policy-bot would have approved, in %i policies',
  async (runs) => {
    let merged = 0;
    fc.assert(
      fc.property(policies, situations, (policy, all) => {
        const read = readPolicy(policy as never);
        if ('errors' in read) throw new Error(read.errors[0]?.message);
        const { criteria, steps, people: settings } = translate(read);
        const compiled = new Map(
          [...criteria, ...steps.flatMap((step) => step.criteria)].map((one) => [
            one,
            compileExpression(one.if, ['pr', 'repo', 'steps', 'trigger']),
          ]),
        );
        for (const { pull, world, reacting } of all) {
          const isAnswered = ({ approval }: AskingStep) => {
            const may = (login: string) =>
              ['write', 'maintain', 'admin'].includes(world.permissions[login] ?? '') &&
              login !== pull.author &&
              !pull.contributors.includes(login) &&
              belongs(settings, login, world) &&
              (approval === undefined || belongs(approval, login, world));
            return reacting.filter(may).length >= (approval?.count ?? 1);
          };
          const context = {
            pr: factsOf(pull),
            repo: { full_name: pull.repository },
            steps: Object.fromEntries(
              steps.map((step) => [step.id, { status: isAnswered(step) ? 'completed' : 'skipped' }]),
            ),
          };
          const holds = (one: Criterion) => {
            const expression = compiled.get(one);
            return expression !== undefined && evaluateCondition(expression, context);
          };
          const isMerged = steps.some(
            (step) => step.merges && isAnswered(step) && [...criteria, ...step.criteria].every(holds),
          );
          if (!isMerged) continue;
          merged += 1;
          if (policyBot(policy, pull, world, reacting) !== 'approved')
            expect({ policy, pull, world, reacting }).toBe('approved by policy-bot');
        }
      }),
      { numRuns: runs },
    );
    // Otherwise it says nothing.
    expect(merged).toBeGreaterThan(runs);
  },
);
