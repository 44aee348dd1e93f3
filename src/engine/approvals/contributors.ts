import {
  type Contributors,
  type Push,
  pushersOf,
  unattributedCommits,
} from '../../domain/policy/authorship.ts';
import {
  type Commit,
  type CommitCredit,
  GitHubError,
  type GitHubReader,
  type Person,
  type PullRequest,
  type Repo,
} from '../../ports/github.ts';

/** The sources for who contributed to a pull request. */
export interface ContributorSource {
  reader: GitHubReader;
  repo: Repo;
  /** The pushes of these commits that webhooks reported. */
  pushesTold(repositoryIds: readonly number[], shas: readonly string[]): Promise<Push[]>;
}

const TRAILER = /^co-authored-by:([^<\n]*)<([^<>\n]+)>[ \t\r]*$/gim;
const NOREPLY = /^(?:(\d+)\+)?([a-z0-9-]+)@users\.noreply\./i;

/** A line that GitHub might read as a trailer, even if we do not: only GitHub knows all accepted forms. */
const PERHAPS_TRAILER = /^[ \t]*co-authored-by\b.*$/gim;
/**
 * A trailer that identifies an account by itself. GitHub assigns these addresses, so nobody can claim
 * another's.
 */
const NAMES_ACCOUNT = /^co-authored-by:[^<>]*<(?:\d+\+)?[a-z0-9-]+@users\.noreply\.github\.com>[ \t\r]*$/i;

const PUSHED_BY = /^pushed-by:((?:[ ,]*(?:\d{1,15}|unknown))+)[ \t\r]*$/gim;

/**
 * The line of a copy's message that names who pushed what it copies, by the numbers of their accounts: the app pushes the copy, and
 * they must not countersign it either. In anybody else's commit, it excludes as a trailer does.
 */
export function pushedBy({
  pushers,
  unattributed,
}: Pick<Contributors, 'pushers' | 'unattributed'>): string[] {
  const isUnknown = unattributed.some(({ lacks }) => lacks === 'pusher');
  const all = [...pushers, ...(isUnknown ? ['unknown'] : [])];
  return all.length === 0 ? [] : [`Pushed-by: ${all.join(', ')}`];
}

/** Without the lines that name who pushed. */
export function withoutPushers(message: string): string {
  return message.replaceAll(PUSHED_BY, '');
}

function saidPushers(commits: readonly Commit[]): Pick<Contributors, 'pushers' | 'unattributed'> {
  const said = commits.flatMap(({ sha, message }) =>
    [...message.matchAll(PUSHED_BY)].flatMap(([, names = '']) =>
      (names.match(/\w+/g) ?? []).map((name) => ({ sha, name })),
    ),
  );
  const isUnknown = ({ name }: { name: string }) => !/^\d/.test(name);
  return {
    pushers: said.filter((one) => !isUnknown(one)).map(({ name }) => Number(name)),
    unattributed: said.filter(isUnknown).map(({ sha }) => ({ lacks: 'pusher', sha })),
  };
}

/**
 * Everybody who wrote, committed, co-wrote or pushed the commits of a pull request, and what could not be
 * attributed to anybody. `undefined` if not even that is known, because GitHub lists too many commits or
 * answers for another head. GitHub is asked for the accounts behind trailers only if a trailer does not
 * identify one, because that costs a separate kind of request.
 */
export async function readContributors(
  source: ContributorSource,
  pullRequest: PullRequest,
  headSha: string,
): Promise<Contributors | undefined> {
  const { reader, repo } = source;
  const list = await reader.pullRequestCommits(repo, pullRequest.number);
  // The list does not say which head it is for. If it was read while the branch was elsewhere, or lags
  // behind, it lacks this head, and possibly an author.
  if (list.truncated || !list.commits.some(({ sha }) => sha === headSha)) return undefined;
  const { commits } = list;
  const unclear = commits.filter(({ message }) => !namesAccountsOnly(message));
  const credits = unclear.length === 0 ? [] : await creditsOf(reader, repo, pullRequest.number);
  const creditOf = ({ sha }: Commit) => credits.find((credit) => credit.sha === sha);
  if (unclear.some((commit) => creditOf(commit) === undefined)) return undefined;
  const named = namedBy(commits);
  const credited = unclear.flatMap((commit) => creditOf(commit)?.authors ?? []);
  const { pushers, unattributed } = await readPushers(source, pullRequest, headSha, commits);
  const said = saidPushers(commits);
  const withCredit = commits.map((commit) => ({ ...commit, unknownAuthors: creditOf(commit)?.unknown ?? 0 }));
  return {
    ids: [...named.ids, ...credited.map(({ id }) => id)],
    logins: [...named.logins, ...credited.map(({ login }) => login)],
    pushers: [...new Set([...pushers, ...said.pushers])],
    unattributed: [...unattributedCommits(withCredit), ...unattributed, ...said.unattributed],
  };
}

/**
 * Who pushed the commits: from webhooks, and if those do not suffice, from the head repository's activity.
 * The app may not have access to a fork, and some servers have no such list. What remains unknown counts as
 * unattributed.
 */
async function readPushers(
  { reader, repo, pushesTold }: ContributorSource,
  { repositoryId, headRepository, headRepositoryId, headRef }: PullRequest,
  headSha: string,
  commits: readonly Commit[],
): Promise<Pick<Contributors, 'pushers' | 'unattributed'>> {
  const shas = commits.map(({ sha }) => sha);
  const repositories = [...new Set([repositoryId, ...(headRepositoryId === null ? [] : [headRepositoryId])])];
  const reported = await pushesTold(repositories, shas);
  const known = pushersOf(headSha, new Set(shas), reported);
  if (known.unattributed.length === 0) return known;
  const [owner, name] = headRepository?.split('/') ?? [];
  if (owner === undefined || name === undefined) return known;
  const sameRepository = headRepositoryId === repositoryId;
  const listed = await listedPushes(reader, sameRepository ? repo : { owner, name }, headRef);
  return pushersOf(headSha, new Set(shas), [...reported, ...listed]);
}

/** Throws temporary failures of GitHub, so that they do not cost an extra countersign. */
async function listedPushes(reader: GitHubReader, repo: Repo, branch: string): Promise<Push[]> {
  try {
    return await reader.pushes(repo, branch);
  } catch (error) {
    if (error instanceof GitHubError && error.kind !== 'unavailable' && error.kind !== 'rate_limited')
      return [];
    throw error;
  }
}

function namesAccountsOnly(message: string): boolean {
  return [...message.matchAll(PERHAPS_TRAILER)].every(([line]) => NAMES_ACCOUNT.test(line));
}

/**
 * Empty if GitHub does not answer this request: the gate then says what is missing, and the next poll asks
 * again. Throwing the error, like others, would hide why nothing merges.
 */
async function creditsOf(reader: GitHubReader, repo: Repo, number: number): Promise<CommitCredit[]> {
  try {
    return await reader.commitCredits(repo, number);
  } catch (error) {
    if (error instanceof GitHubError && error.kind !== 'rate_limited') return [];
    throw error;
  }
}

/**
 * The authors, committers and co-authors that the commits name. For a co-author that is only a name and an
 * address: GitHub's no-reply addresses identify an account, and a name that equals a login counts as that
 * account.
 */
function namedBy(commits: readonly Commit[]): Pick<Contributors, 'ids' | 'logins'> {
  const people: Person[] = commits.flatMap((commit) =>
    [commit.author, commit.committer].filter((person) => person !== null),
  );
  const ids = people.map((person) => person.id);
  const logins = people.map((person) => person.login);
  const trailers = commits.flatMap((commit) => [...commit.message.matchAll(TRAILER)]);
  logins.push(...trailers.map((match) => (match[1] ?? '').trim()));
  const addresses = [
    ...commits.flatMap((commit) => [commit.authorEmail ?? '', commit.committerEmail ?? '']),
    ...trailers.map((match) => match[2] ?? ''),
  ];
  for (const address of addresses) {
    const noreply = NOREPLY.exec(address);
    if (noreply?.[1]) ids.push(Number(noreply[1]));
    if (noreply?.[2]) logins.push(noreply[2]);
  }
  return { ids, logins };
}
