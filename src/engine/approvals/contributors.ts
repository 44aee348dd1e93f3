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

/** Where it is read who had a hand in a pull request. */
export interface ContributorSource {
  reader: GitHubReader;
  repo: Repo;
  /** The pushes that webhooks told of. */
  pushesTold(repositoryIds: readonly number[], shas: readonly string[]): Promise<Push[]>;
}

const TRAILER = /^co-authored-by:([^<\n]*)<([^<>\n]+)>[ \t\r]*$/gim;
const NOREPLY = /^(?:(\d+)\+)?([a-z0-9-]+)@users\.noreply\./i;

/** What GitHub might read as a trailer, whether or not it is one that we read: which forms it takes is for GitHub to know. */
const PERHAPS_TRAILER = /^[ \t]*co-authored-by\b.*$/gim;
/** A trailer that says by itself which account it names. GitHub gives these addresses out, so nobody can make one theirs. */
const NAMES_ACCOUNT = /^co-authored-by:[^<>]*<(?:\d+\+)?[a-z0-9-]+@users\.noreply\.github\.com>[ \t\r]*$/i;

/**
 * Everybody who wrote, committed, co-wrote or pushed the commits of a pull request, and what of them nobody can be credited with;
 * `undefined` when not even that can be known: GitHub lists too many commits, or answers for another head.
 * GitHub is asked whom trailers name only when one does not say so itself: that is a request more, of a kind of its own.
 */
export async function readContributors(
  source: ContributorSource,
  pullRequest: PullRequest,
  headSha: string,
): Promise<Contributors | undefined> {
  const { reader, repo } = source;
  const list = await reader.pullRequestCommits(repo, pullRequest.number);
  // The list names no head of its own. One that was read while the branch stood elsewhere for a moment, or that lags behind,
  // lacks the head in question, and with it perhaps whoever wrote it.
  if (list.truncated || !list.commits.some(({ sha }) => sha === headSha)) return undefined;
  const { commits } = list;
  const unclear = commits.filter(({ message }) => !namesAccountsOnly(message));
  const credits = unclear.length === 0 ? [] : await creditsOf(reader, repo, pullRequest.number);
  const creditOf = ({ sha }: Commit) => credits.find((credit) => credit.sha === sha);
  if (unclear.some((commit) => creditOf(commit) === undefined)) return undefined;
  const named = namedBy(commits);
  const credited = unclear.flatMap((commit) => creditOf(commit)?.authors ?? []);
  const { pushers, unattributed } = await readPushers(source, pullRequest, headSha, commits);
  const withCredit = commits.map((commit) => ({ ...commit, unknownAuthors: creditOf(commit)?.unknown ?? 0 }));
  return {
    ids: [...named.ids, ...credited.map(({ id }) => id)],
    logins: [...named.logins, ...credited.map(({ login }) => login)],
    pushers,
    unattributed: [...unattributedCommits(withCredit), ...unattributed],
  };
}

/**
 * Who pushed the commits: by the webhooks that told of it, and where those are not enough, by the head repository's activity. A
 * fork may be out of the app's reach, and some servers keep no such list: what is then not known, nobody is credited with.
 */
async function readPushers(
  { reader, repo, pushesTold }: ContributorSource,
  { repositoryId, headRepository, headRepositoryId, headRef }: PullRequest,
  headSha: string,
  commits: readonly Commit[],
): Promise<Pick<Contributors, 'pushers' | 'unattributed'>> {
  const shas = commits.map(({ sha }) => sha);
  const repositories = [...new Set([repositoryId, ...(headRepositoryId === null ? [] : [headRepositoryId])])];
  const told = await pushesTold(repositories, shas);
  const known = pushersOf(headSha, new Set(shas), told);
  if (known.unattributed.length === 0) return known;
  const [owner, name] = headRepository?.split('/') ?? [];
  if (owner === undefined || name === undefined) return known;
  const sameRepository = headRepositoryId === repositoryId;
  const listed = await listedPushes(reader, sameRepository ? repo : { owner, name }, headRef);
  return pushersOf(headSha, new Set(shas), [...told, ...listed]);
}

/** What GitHub cannot answer for the moment is thrown, so that nobody is asked for one countersign more for a hiccup. */
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
 * None when GitHub does not answer this one question: the gate then says what is missing, and the next look asks again. Thrown,
 * as other failures are, it would keep everybody from hearing why nothing merges.
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
 * Who wrote, committed or co-wrote the commits, by what those say. Of co-authors that is only a name and an address: GitHub's own
 * no-reply addresses name an account, and a name that is somebody's login is taken to be theirs.
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
