import {
  type Commit,
  type CommitCredit,
  GitHubError,
  type GitHubReader,
  type Person,
  type Repo,
} from '../github/github.ts';
import type { SpokenAnswer } from '../policy/approval.ts';
import type { Answerer, CountersignRules, MergeFacts, Speaker } from '../policy/merge-gate.ts';

/** Somebody as the gate judges them: their role, and those of the rules' teams that they are in, read at this moment. */
export async function readAnswerer(
  reader: GitHubReader,
  repo: Repo,
  { id, login, type }: Person,
  rules: CountersignRules,
): Promise<Answerer> {
  const [role, teams] = await Promise.all([reader.role(repo, login), teamsOf(reader, login, rules.teams)]);
  return { id, login, type, role, teams };
}

/**
 * Whoever answered in words, as they are now; nobody when the account is gone or the login is another's by now, because the
 * role that GitHub tells is that of the login.
 */
export async function readSpeaker(
  reader: GitHubReader,
  repo: Repo,
  { person: { id, login }, says }: SpokenAnswer,
  rules: CountersignRules,
): Promise<Speaker[]> {
  const [now, teams] = await Promise.all([
    reader.collaborator(repo, login),
    teamsOf(reader, login, rules.teams),
  ]);
  return now?.person.id === id ? [{ ...now.person, role: now.role, teams, says }] : [];
}

/** Those of the teams (`org/slug`) that somebody is an active member of. */
export async function teamsOf(
  reader: GitHubReader,
  login: string,
  teams: readonly string[],
): Promise<string[]> {
  const memberOf = await Promise.all(
    teams.map(async (team) => {
      const [organisation = '', slug = ''] = team.split('/');
      return (await reader.isTeamMember(organisation, slug, login)) ? [team] : [];
    }),
  );
  return memberOf.flat();
}

const TRAILER = /^co-authored-by:([^<\n]*)<([^<>\n]+)>[ \t\r]*$/gim;
const NOREPLY = /^(?:(\d+)\+)?([a-z0-9-]+)@users\.noreply\./i;

/** What GitHub might read as a trailer, whether or not it is one that we read: which forms it takes is for GitHub to know. */
const PERHAPS_TRAILER = /^[ \t]*co-authored-by\b.*$/gim;
/** A trailer that says by itself which account it names. GitHub gives these addresses out, so nobody can make one theirs. */
const NAMES_ACCOUNT = /^co-authored-by:[^<>]*<(?:\d+\+)?[a-z0-9-]+@users\.noreply\.github\.com>[ \t\r]*$/i;

/**
 * Everybody who wrote, committed or co-wrote the commits of a pull request; `undefined` when they cannot all be known.
 * GitHub is asked whom trailers name only when one does not say so itself: that is a request more, of a kind of its own. An
 * address that is nobody's on GitHub is of nobody who could react.
 */
export async function readContributors(
  reader: GitHubReader,
  repo: Repo,
  number: number,
  headSha: string,
): Promise<MergeFacts['contributors']> {
  const list = await reader.pullRequestCommits(repo, number);
  const named = contributorsOf(list, headSha);
  const unclear = list.commits.filter(({ message }) => !namesAccountsOnly(message));
  if (!named || unclear.length === 0) return named;
  const credits = await creditsOf(reader, repo, number);
  const credited = unclear.map(({ sha }) => credits.find((credit) => credit.sha === sha)?.authors);
  if (credited.includes(undefined)) return undefined;
  const people = credited.flatMap((authors) => authors ?? []);
  return {
    ids: [...named.ids, ...people.map(({ id }) => id)],
    logins: [...named.logins, ...people.map(({ login }) => login)],
  };
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
 * The list names no head of its own. One that was read while the branch stood elsewhere for a moment, or that lags
 * behind, lacks the head in question, and with it perhaps whoever wrote it.
 */
function contributorsOf(
  list: { commits: Commit[]; truncated: boolean },
  headSha: string,
): MergeFacts['contributors'] {
  if (list.truncated || !list.commits.some((commit) => commit.sha === headSha)) return undefined;
  const people: Person[] = list.commits.flatMap((commit) =>
    [commit.author, commit.committer].filter((person) => person !== null),
  );
  const ids = people.map((person) => person.id);
  const logins = people.map((person) => person.login);
  const trailers = list.commits.flatMap((commit) => [...commit.message.matchAll(TRAILER)]);
  logins.push(...trailers.map((match) => (match[1] ?? '').trim()));
  const addresses = [
    ...list.commits.flatMap((commit) => [commit.authorEmail ?? '', commit.committerEmail ?? '']),
    ...trailers.map((match) => match[2] ?? ''),
  ];
  for (const address of addresses) {
    const noreply = NOREPLY.exec(address);
    if (noreply?.[1]) ids.push(Number(noreply[1]));
    if (noreply?.[2]) logins.push(noreply[2]);
  }
  return { ids, logins };
}
