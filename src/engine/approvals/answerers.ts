import type { SpokenAnswer } from '../../domain/policy/approval.ts';
import type { CountersignRules } from '../../domain/policy/countersign-rules.ts';
import type { Answerer, Speaker } from '../../domain/policy/merge-gate.ts';
import type { GitHubReader, Person, Repo } from '../../ports/github.ts';

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
