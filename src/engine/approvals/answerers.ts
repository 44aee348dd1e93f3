import type { SpokenAnswer } from '../../domain/policy/approval.ts';
import { type CountersignRules, teamsNamed } from '../../domain/policy/countersign-rules.ts';
import type { Answerer, Speaker } from '../../domain/policy/merge-gate.ts';
import type { GitHubReader, Repo } from '../../ports/github.ts';

/** A person with the facts for the gate: their role, and their teams among those of the rules, read now. */
export async function readAnswerer(
  reader: GitHubReader,
  repo: Repo,
  { id, login, type }: Pick<Answerer, 'id' | 'login' | 'type'>,
  rules: CountersignRules,
): Promise<Answerer> {
  const [role, teams] = await Promise.all([
    reader.role(repo, login),
    teamsOf(reader, login, teamsNamed(rules)),
  ]);
  return { id, login, type, role, teams };
}

/**
 * A person who answered by command or button, as they are now. Empty if the account is gone or its login
 * belongs to another account, because GitHub reports the role of the login.
 */
export async function readSpeaker(
  reader: GitHubReader,
  repo: Repo,
  { person: { id, login }, says }: Pick<SpokenAnswer, 'person' | 'says'>,
  rules: CountersignRules,
): Promise<Speaker[]> {
  const [now, teams] = await Promise.all([
    reader.collaborator(repo, login),
    teamsOf(reader, login, teamsNamed(rules)),
  ]);
  return now?.person.id === id ? [{ ...now.person, role: now.role, teams, says }] : [];
}

/** The teams (`org/slug`) of which the person is an active member. */
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
