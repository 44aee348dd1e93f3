import { ancestorsOf } from '../git/history.ts';
import type { State } from '../state.ts';
import type {
  Account,
  MergeQueueRule,
  PullRequest,
  Repository,
  Requirements,
  Review,
  Role,
  Ruleset,
} from '../world.ts';
import { requiredCheckState } from './checks.ts';

/** What prevents a merge, in GitHub's words. */
export interface Violation {
  /** Which of GitHub's two ways to protect a branch requires it. */
  readonly from: 'protection' | 'ruleset';
  readonly sentence: string;
}

/** Whether somebody may bypass what protection or rulesets require, if they ask to. */
export interface Bypass {
  readonly by: Account;
}

/** The rulesets that apply to a branch. */
export function rulesetsOf(repository: Repository, branch: string): Ruleset[] {
  return repository.rulesets.filter(({ branches }) =>
    branches.some((pattern) => matches(repository, pattern, branch)),
  );
}

function matches({ defaultBranch }: Repository, pattern: string, branch: string): boolean {
  if (pattern === '~ALL') return true;
  if (pattern === '~DEFAULT_BRANCH') return branch === defaultBranch;
  const source = pattern
    .split('*')
    .map((part) => part.replaceAll(/[^\w/-]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(branch);
}

/** Everything that protection and rulesets of the base branch require and that is not satisfied, in GitHub's order. */
export function violations(state: State, pr: PullRequest, bypass?: Bypass): Violation[] {
  const { repository, pull } = pr;
  const role = bypass && state.roleOf(repository, bypass.by);
  const protection = repository.protections.get(pull.base.ref);
  const goesAround = role === 'admin' && protection?.enforceAdmins === false;
  const rulesets = rulesetsOf(repository, pull.base.ref).filter((ruleset) => !mayPass(ruleset, role));
  return [
    ...(protection && !goesAround ? unmet(state, pr, protection, 'protection') : []),
    ...rulesets.flatMap((ruleset) => unmet(state, pr, ruleset, 'ruleset')),
  ];
}

/** The merge queue that the branch requires; none for people who may bypass its ruleset and want to. */
export function mergeQueueOf(
  state: State,
  repository: Repository,
  branch: string,
  bypass?: Bypass,
): MergeQueueRule | undefined {
  const role = bypass && state.roleOf(repository, bypass.by);
  return rulesetsOf(repository, branch).find((ruleset) => ruleset.mergeQueue && !mayPass(ruleset, role))
    ?.mergeQueue;
}

/** The states of the checks that a branch requires on the commit of a merge group. */
export function requiredChecksOfGroup(
  repository: Repository,
  branch: string,
  sha: string,
): 'green' | 'failing' | 'waiting' {
  const protection = repository.protections.get(branch);
  const all = [...(protection ? [protection] : []), ...rulesetsOf(repository, branch)];
  const standings = all
    .flatMap(({ checks }) => checks)
    .map((check) => requiredCheckState(repository, sha, check));
  if (standings.includes('failing')) return 'failing';
  return standings.every((standing) => standing === 'green') ? 'green' : 'waiting';
}

function mayPass({ bypass }: Ruleset, role: Role | undefined): boolean {
  return role !== undefined && bypass.includes(role);
}

function unmet(
  state: State,
  pr: PullRequest,
  requirements: Requirements,
  from: Violation['from'],
): Violation[] {
  return [
    ...missingApprovals(state, pr, requirements),
    ...openConversations(pr, requirements),
    ...unmetChecks(pr, requirements),
    ...outOfDate(pr, requirements),
  ].map((sentence) => ({ from, sentence }));
}

function latestVerdicts(state: State, pr: PullRequest): Map<number, Review['state']> {
  return new Map(
    pr.pull.reviews
      .filter((review) => review.state !== 'COMMENTED')
      .filter(({ author }) => author !== pr.author && canWrite(state, pr.repository, author))
      .map((review) => [review.author.id, review.state]),
  );
}

/** https://docs.github.com/en/rest/pulls/reviews: the newest approval or request of each reviewer counts, if they can write. */
function missingApprovals(state: State, pr: PullRequest, { approvals }: Requirements): string[] {
  if (approvals === 0) return [];
  const verdicts = [...latestVerdicts(state, pr).values()];
  const approved = verdicts.filter((verdict) => verdict === 'APPROVED').length;
  if (approved >= approvals && !verdicts.includes('CHANGES_REQUESTED')) return [];
  const reviews = approvals === 1 ? 'review is' : 'reviews are';
  return [`At least ${approvals} approving ${reviews} required by reviewers with write access.`];
}

/** https://github.com/chdsbd/kodiak/issues/690 */
function openConversations({ pull }: PullRequest, { conversations }: Requirements): string[] {
  const isOpen = pull.reviews.some(({ comments }) => comments.some(({ isResolved }) => !isResolved));
  return conversations && isOpen
    ? ['A conversation must be resolved before this pull request can be merged.']
    : [];
}

/**
 * https://docs.github.com/en/graphql/reference/enums#pullrequestreviewdecision: `null` where no review is required.
 */
export function reviewDecision(state: State, pr: PullRequest): string | null {
  const { repository, pull } = pr;
  const protection = repository.protections.get(pull.base.ref);
  const all = [...(protection ? [protection] : []), ...rulesetsOf(repository, pull.base.ref)];
  const approvals = Math.max(0, ...all.map((requirements) => requirements.approvals));
  if (approvals === 0) return null;
  const verdicts = [...latestVerdicts(state, pr).values()];
  if (verdicts.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  return verdicts.filter((verdict) => verdict === 'APPROVED').length >= approvals
    ? 'APPROVED'
    : 'REVIEW_REQUIRED';
}

/** `write` and everything above it. */
export function canWrite(state: State, repository: Repository, account: Account): boolean {
  const role = state.roleOf(repository, account);
  return role === 'write' || role === 'maintain' || role === 'admin';
}

/**
 * One check by its name, several by their number. A mixed number names those that are missing, red, or pending: `2 of 2 required
 * status checks have not succeeded: 1 expected and 1 pending.`
 * https://github.com/bors-ng/bors-ng/issues/1493, https://github.com/akuity/kargo/issues/6397
 */
function unmetChecks(pr: PullRequest, { checks }: Requirements): string[] {
  const open = checks
    .map((check) => ({ ...check, standing: requiredCheckState(pr.repository, pr.pull.head.sha, check) }))
    .filter(({ standing }) => standing !== 'green');
  const [first] = open;
  if (!first) return [];
  if (open.length === 1) return [`Required status check "${first.context}" is ${first.standing}.`];
  const many = `${open.length} of ${checks.length} required status checks`;
  if (open.every(({ standing }) => standing === first.standing)) return [`${many} are ${first.standing}.`];
  const counted = (['expected', 'pending', 'failing'] as const)
    .map((kind) => ({ kind, count: open.filter(({ standing }) => standing === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}`);
  return [`${many} have not succeeded${counted.length > 0 ? `: ${counted.join(' and ')}` : ''}.`];
}

function outOfDate(pr: PullRequest, { strict }: Requirements): string[] {
  return strict && isBehind(pr) ? ['Head branch is out of date. Review and try the merge again.'] : [];
}

/** Whether the base has commits that the head does not have. */
export function isBehind({ repository, pull }: PullRequest): boolean {
  const tip = repository.branches.get(pull.base.ref);
  return tip !== undefined && !ancestorsOf(repository.git, pull.head.sha).has(tip);
}
