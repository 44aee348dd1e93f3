import type { Commit, GitHubReader, Person, Repo } from '../github/github.ts';
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

/**
 * Who wrote, committed or co-wrote the commits. Of co-authors GitHub tells only a name and an address: its own
 * no-reply addresses name an account, and a name that is somebody's login is taken to be theirs.
 * The list names no head of its own. One that was read while the branch stood elsewhere for a moment, or that lags
 * behind, lacks the head in question, and with it perhaps whoever wrote it.
 */
export function contributorsOf(
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
