import type { AskedAuthorship } from './approval.ts';
import type { CountersignRules } from './countersign-rules.ts';

/** What of a head nobody can be credited with. */
export interface Unattributed {
  /** `author`: GitHub names no account for an author, committer or co-author. `pusher`: nobody knows who pushed it. */
  lacks: 'author' | 'pusher';
  sha: string;
}

/** Everybody who had a hand in the commits of a pull request, as far as that can be known. */
export interface Contributors {
  /** Accounts that wrote, committed or co-wrote any of the commits. */
  ids: readonly number[];
  logins: readonly string[];
  /** Accounts that pushed any of them. A commit says of itself who wrote it; who pushed it, GitHub says. */
  pushers: readonly number[];
  unattributed: readonly Unattributed[];
}

export const NO_CONTRIBUTORS: Contributors = { ids: [], logins: [], pushers: [], unattributed: [] };

/** One move of a branch, as GitHub told of it. */
export interface Push {
  /** The tip before; zeros for a new branch. */
  before: string;
  after: string;
  actorId: number;
}

/** What is read of a commit to know whose it is. */
export interface CreditedCommit {
  sha: string;
  author: Account | null;
  committer: Account | null;
  /** How many of the people that GitHub counts as its authors have no account. */
  unknownAuthors: number;
}

interface Account {
  id: number;
  login: string;
}

/**
 * GitHub's own account, the committer of what is done on its pages (cla-assistant/cla-assistant#122). Its address is public, so anybody can
 * write it into a commit. As a committer it is fine beside a known author, and as an author it is nobody. Enterprise servers have
 * one by the same name with another id.
 */
const WEB_FLOW: Account = { id: 19_864_447, login: 'web-flow' };

function isWebFlow({ id, login }: Account): boolean {
  return id === WEB_FLOW.id || login === WEB_FLOW.login;
}

/** The commits that somebody had a hand in whom GitHub names no account for. */
export function unattributedCommits(commits: readonly CreditedCommit[]): Unattributed[] {
  return commits
    .filter(
      ({ author, committer, unknownAuthors }) =>
        author === null || isWebFlow(author) || committer === null || unknownAuthors > 0,
    )
    .map(({ sha }) => ({ lacks: 'author', sha }));
}

/**
 * Who pushed the commits. GitHub's rule "Require approval of the most recent reviewable push" is the model
 * (https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets):
 * whoever pushes may write any name into a commit, and must not approve it under their own. Here every push counts that brought
 * commits of the pull request: from the head back to a push that began outside of them, so that each is part of a known one.
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
    const brought = pushes.filter(({ after }) => after === sha);
    if (brought.length === 0) {
      unattributed.push({ lacks: 'pusher', sha });
      continue;
    }
    // One that began outside brought everything before it, too.
    if (brought.some(({ before }) => !commits.has(before))) continue;
    next.push(...brought.map(({ before }) => before));
  }
  const pushers = pushes.filter(({ after }) => commits.has(after)).map(({ actorId }) => actorId);
  return { pushers: [...new Set(pushers)], unattributed };
}

/**
 * How many countersigns are needed. One more than the settings ask for when somebody unknown had a hand in it, so that they alone
 * cannot make up the number. Whatever the settings say: nothing goes on without at least one.
 */
export function countersignsNeeded(
  { count, unattributed = 'one_more' }: Pick<CountersignRules, 'count' | 'unattributed'>,
  contributors: Pick<Contributors, 'unattributed'> | undefined,
): number {
  const isMore = unattributed === 'one_more' && (contributors?.unattributed.length ?? 0) > 0;
  return Math.max(1, count) + (isMore ? 1 : 0);
}

/** What a question to people keeps of it, for its words. */
export function askedAuthorship(
  rules: Pick<CountersignRules, 'count' | 'unattributed'>,
  contributors: Pick<Contributors, 'unattributed'>,
): AskedAuthorship {
  const shown = rules.unattributed === 'allow' ? [] : contributors.unattributed;
  return { needed: countersignsNeeded(rules, contributors), unattributed: [...shown] };
}

const SHOWN = 5;

/** The commits as a part of a sentence: `abc1234, def5678 and 3 more`. */
export function unattributedNamed(unattributed: readonly Unattributed[]): string {
  const shas = [...new Set(unattributed.map(({ sha }) => sha.slice(0, 7)))];
  const shown = shas.slice(0, SHOWN);
  const left = shas.length - shown.length;
  if (left > 0) return `${shown.join(', ')} and ${left} more`;
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`;
}

/** Which commits nobody can be credited with and why, as a sentence without a full stop; `undefined` when there are none. */
export function unattributedSaid(unattributed: readonly Unattributed[]): string | undefined {
  const lacking = (lacks: Unattributed['lacks']) => unattributed.filter((one) => one.lacks === lacks);
  const [authors, pushers] = [lacking('author'), lacking('pusher')];
  const said = [
    ...(authors.length > 0
      ? [`GitHub names no account for everybody who wrote or committed ${unattributedNamed(authors)}`]
      : []),
    ...(pushers.length > 0 ? [`nobody knows who pushed ${unattributedNamed(pushers)}`] : []),
  ];
  return said.length === 0 ? undefined : said.join(', and ');
}
