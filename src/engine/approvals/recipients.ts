import { teamsNamed, tightened } from '../../domain/policy/countersign-rules.ts';
import { type Answerer, ineligibleBecause } from '../../domain/policy/merge-gate.ts';
import { manyMayAnswer, nobodyMayAnswer, onlySome, teamUnseen } from '../../messages/comments/notice.ts';
import type { Collaborator, GitHubReader, PullRequest } from '../../ports/github.ts';
import type { ApprovalContext } from './approval-context.ts';
import { readContributors } from './contributors.ts';

/** Who is notified of a question. */
export interface Recipients {
  /** Logins. */
  people: string[];
  /** `organisation/team-slug`; every member may answer. */
  teams: string[];
  /** Sentences about who cannot be notified. */
  problems: string[];
}

/** More would be a mailing list. To notify many people, use a team. */
const MAX_PEOPLE = 15;

/**
 * The people and teams that may answer this question: those that the settings name, otherwise those with the
 * needed role. Each person is judged by the rule of the merge gate, so nobody is notified whose answer would
 * not count. A team is named as a team only if that holds for each of its members, because GitHub notifies
 * them all; otherwise its members are named one by one.
 */
export async function readRecipients(
  context: ApprovalContext,
  pullRequest: PullRequest,
): Promise<Recipients> {
  const { reader, repo, state, step } = context;
  const rules = tightened(state.run.settings.countersign, step.approval);
  // If the step names people, only their countersigns count.
  const named = step.approval?.users || step.approval?.teams ? step.approval : rules;
  const contributors = await readContributors(context, pullRequest, state.run.headSha);
  const facts = { contributors, pullRequest };
  const roles = await readRoles(reader, repo);
  const mayAnswer = (person: Answerer) => ineligibleBecause(person, rules, facts) === undefined;
  const answererOf = async (person: Collaborator['person']): Promise<Answerer> => ({
    ...person,
    role: await roles.of(person),
    teams: teamsOf(person),
  });

  const people = new Set<string>();
  const teams: string[] = [];
  const problems: string[] = [];
  const membersOf = new Map(
    await Promise.all(
      teamsNamed(rules).map(async (team) => {
        const [organisation = '', slug = ''] = team.split('/');
        return [team, await reader.teamMembers(organisation, slug)] as const;
      }),
    ),
  );
  const teamsOf = ({ id }: Collaborator['person']) =>
    [...membersOf].flatMap(([team, members]) => (members?.people.some((one) => one.id === id) ? [team] : []));
  for (const login of named.users ?? []) {
    const found = await reader.collaborator(repo, login);
    if (found && mayAnswer({ ...found.person, role: found.role, teams: teamsOf(found.person) }))
      people.add(found.person.login);
  }
  for (const team of named.teams ?? []) {
    const [organisation = ''] = team.split('/');
    const members = membersOf.get(team);
    if (!members) {
      problems.push(teamUnseen(team));
      continue;
    }
    const answerers = await Promise.all(members.people.map(answererOf));
    const eligible = answerers.filter(mayAnswer);
    // GitHub takes a team only from the organisation that owns the repository.
    const isWhole = eligible.length === answerers.length && !members.truncated && answerers.length > 0;
    if (isWhole && organisation.toLowerCase() === repo.owner.toLowerCase()) teams.push(team);
    else for (const { login } of eligible) people.add(login);
  }
  if (people.size === 0 && teams.length === 0) {
    const byRole = roles.listed.map(({ person, role }) => ({ ...person, role, teams: [] })).filter(mayAnswer);
    if (byRole.length > MAX_PEOPLE || roles.truncated) problems.push(manyMayAnswer(MAX_PEOPLE));
    else if (byRole.length === 0) problems.push(nobodyMayAnswer());
    else for (const { login } of byRole) people.add(login);
  }
  if (people.size > MAX_PEOPLE) problems.push(onlySome(MAX_PEOPLE, people.size));
  return { people: [...people].slice(0, MAX_PEOPLE), teams, problems };
}

/** Nobody with less than write access may answer, so those need not be listed. */
async function readRoles(reader: GitHubReader, repo: ApprovalContext['repo']) {
  const { collaborators, truncated } = await reader.writers(repo);
  const byId = new Map(collaborators.map(({ person, role }) => [person.id, role]));
  return {
    listed: collaborators,
    truncated,
    async of({ id, login }: Collaborator['person']): Promise<string> {
      return byId.get(id) ?? (truncated ? await reader.role(repo, login) : 'none');
    },
  };
}
