import type { AskedAuthorship } from './approval.ts';
import type { CountersignRules } from './countersign-rules.ts';

/** A commit for which an account is missing. */
export interface Unattributed {
  /**
   * `author`: GitHub names no account for an author, committer or co-author. `pusher`: it is unknown who
   * pushed it.
   */
  lacks: 'author' | 'pusher';
  sha: string;
}

/** All known contributors to a pull request. */
export interface Contributors {
  /** Accounts that wrote, committed or co-wrote any of the commits. */
  ids: readonly number[];
  logins: readonly string[];
  /** Accounts that pushed any of the commits. A commit claims its author; the pusher comes from GitHub. */
  pushers: readonly number[];
  unattributed: readonly Unattributed[];
}

export const NO_CONTRIBUTORS: Contributors = { ids: [], logins: [], pushers: [], unattributed: [] };

/** One push to a branch, as GitHub reported it. */
export interface Push {
  /** The previous head of the branch; zeros for a new branch. */
  before: string;
  after: string;
  actorId: number;
}

/** The parts of a commit that say who made it. */
export interface CreditedCommit {
  sha: string;
  author: Account | null;
  committer: Account | null;
  /** How many of the commit's authors, as GitHub counts them, have no account. */
  unknownAuthors: number;
}

interface Account {
  id: number;
  login: string;
}

/**
 * GitHub's own account, the committer of changes made on its pages (cla-assistant/cla-assistant#122). Its
 * email address is public, so anybody can write it into a commit. As committer it is fine beside a known
 * author; as author it counts as unknown. Enterprise servers have one with the same name and another id.
 */
const WEB_FLOW: Account = { id: 19_864_447, login: 'web-flow' };

export function isWebFlow({ id, login }: Account): boolean {
  return id === WEB_FLOW.id || login === WEB_FLOW.login;
}

/** The commits for which GitHub names no account for an author, committer or co-author. */
export function unattributedCommits(commits: readonly CreditedCommit[]): Unattributed[] {
  return commits
    .filter(
      ({ author, committer, unknownAuthors }) =>
        author === null || isWebFlow(author) || committer === null || unknownAuthors > 0,
    )
    .map(({ sha }) => ({ lacks: 'author', sha }));
}

/**
 * Who pushed the commits. The model is GitHub's rule "Require approval of the most recent reviewable push"
 * (https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets):
 * a pusher can write any name into a commit, and must not approve it as themselves. Here, all pushes that
 * brought commits of the pull request count: from the head back to a push that began outside the pull
 * request, so that every commit belongs to a known push.
 */
export function pushersOf(
  headSha: string,
  commits: ReadonlySet<string>,
  pushes: readonly Push[],
): Pick<Contributors, 'pushers' | 'unattributed'> {
  const unattributed: Unattributed[] = [];
  const seen = new Set<string>();
  const next = [headSha];
  for (let sha = next.pop(); sha !== undefined; sha = next.pop()) {
    if (seen.has(sha)) continue;
    seen.add(sha);
    const pushesOfCommit = pushes.filter(({ after }) => after === sha);
    if (pushesOfCommit.length === 0) {
      unattributed.push({ lacks: 'pusher', sha });
      continue;
    }
    // A push that began outside also brought all commits before it.
    if (pushesOfCommit.some(({ before }) => !commits.has(before))) continue;
    next.push(...pushesOfCommit.map(({ before }) => before));
  }
  const pushers = pushes.filter(({ after }) => commits.has(after)).map(({ actorId }) => actorId);
  return { pushers: [...new Set(pushers)], unattributed };
}

/**
 * How many countersigns are needed: one more than the settings require if a contributor is unknown, so that
 * this person alone cannot provide them all. Always at least one, whatever the settings say.
 */
export function countersignsNeeded(
  { count, unattributed = 'one_more' }: Pick<CountersignRules, 'count' | 'unattributed'>,
  contributors: Pick<Contributors, 'unattributed'> | undefined,
): number {
  const needsOneMore = unattributed === 'one_more' && (contributors?.unattributed.length ?? 0) > 0;
  return Math.max(1, count) + (needsOneMore ? 1 : 0);
}

/** The approval comment's data about authorship. */
export function askedAuthorship(
  rules: Pick<CountersignRules, 'count' | 'unattributed'>,
  contributors: Pick<Contributors, 'unattributed'>,
): AskedAuthorship {
  const shown = rules.unattributed === 'allow' ? [] : contributors.unattributed;
  return { needed: countersignsNeeded(rules, contributors), unattributed: [...shown] };
}

const SHOWN = 5;

/** The commits as a part of a sentence: `abc1234, def5678 and 3 more`. */
export function unattributedList(unattributed: readonly Unattributed[]): string {
  const shas = [...new Set(unattributed.map(({ sha }) => sha.slice(0, 7)))];
  const shown = shas.slice(0, SHOWN);
  const left = shas.length - shown.length;
  if (left > 0) return `${shown.join(', ')} and ${left} more`;
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`;
}

/**
 * Which commits are unattributed and why, as a sentence without a full stop; `undefined` if there are none.
 */
export function unattributedSentence(unattributed: readonly Unattributed[]): string | undefined {
  const lacking = (lacks: Unattributed['lacks']) => unattributed.filter((one) => one.lacks === lacks);
  const [authors, pushers] = [lacking('author'), lacking('pusher')];
  const clauses = [
    ...(authors.length > 0
      ? [`GitHub names no account for everybody who wrote or committed ${unattributedList(authors)}`]
      : []),
    ...(pushers.length > 0 ? [`nobody knows who pushed ${unattributedList(pushers)}`] : []),
  ];
  return clauses.length === 0 ? undefined : clauses.join(', and ');
}
