import { expect, it } from 'vitest';
import { AT, REPO, startWorld } from './support.ts';

it.each([
  ['acme-admin', 'admin', 'admin'],
  ['maya', 'maintain', 'write'],
  ['walt', 'write', 'write'],
  ['rita', 'triage', 'read'],
  ['eve', 'read', 'read'],
])('on a public repository %s has the role %s, as permission %s', async (login, role, folded) => {
  const { github, octokit } = await startWorld();
  github.addUser('eve');
  github.setPermission(REPO, 'acme-admin', 'admin');
  const { data } = await octokit.repos.getCollaboratorPermissionLevel({ ...AT, username: login });
  expect([data.role_name, data.permission, data.user?.login]).toEqual([role, folded, login]);
});

it('somebody outside has no role on a private repository', async () => {
  const { github, octokit } = await startWorld({ private: true });
  github.addUser('eve');
  const { data } = await octokit.repos.getCollaboratorPermissionLevel({ ...AT, username: 'eve' });
  expect([data.role_name, data.permission]).toEqual(['none', 'none']);
});

it('a bot has no permission that can be read', async () => {
  const { github, octokit } = await startWorld();
  const call = octokit.repos.getCollaboratorPermissionLevel({ ...AT, username: github.app.botLogin });
  await expect(call).rejects.toMatchObject({ status: 404 });
});

it('a team knows only its members', async () => {
  const { github, octokit } = await startWorld();
  github.addTeam('acme', 'core', ['maya']);
  github.addUser('eve');
  const membership = (username: string) =>
    octokit.teams.getMembershipForUserInOrg({ org: 'acme', team_slug: 'core', username });
  expect((await membership('maya')).data.state).toBe('active');
  await expect(membership('eve')).rejects.toMatchObject({ status: 404 });
});

// https://docs.github.com/en/graphql/reference/queries#viewer
it('GraphQL names the account that an installation writes under', async () => {
  const { github, octokit } = await startWorld();
  const { viewer } = await octokit.graphql<{ viewer: { login: string } }>('{ viewer { login databaseId } }');
  expect(viewer.login).toBe(github.app.botLogin);
});

// https://docs.github.com/en/rest/collaborators/collaborators#list-repository-collaborators
it('the collaborators of a repository are listed by the least role', async () => {
  const { octokit } = await startWorld();
  const logins = async (permission: 'push' | 'maintain') =>
    (await octokit.repos.listCollaborators({ ...AT, permission })).data.map(
      ({ login, role_name }) => `${login}: ${role_name}`,
    );
  expect(await logins('push')).toEqual(['maya: maintain', 'walt: write']);
  expect(await logins('maintain')).toEqual(['maya: maintain']);
});

// https://docs.github.com/en/rest/teams/members#list-team-members
it('the members of a team are listed, and a team that the app cannot see does not exist', async () => {
  const { github, octokit } = await startWorld();
  github.addTeam('acme', 'core', ['maya', 'walt']);
  const members = async (team_slug: string) =>
    (await octokit.teams.listMembersInOrg({ org: 'acme', team_slug })).data.map(({ login }) => login);
  expect(await members('core')).toEqual(['maya', 'walt']);
  await expect(members('secret')).rejects.toMatchObject({ status: 404 });
});
