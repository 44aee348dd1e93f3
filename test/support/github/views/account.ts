import type { State } from '../state.ts';
import type { Account, App, Installation, Permissions } from '../world.ts';

/** GitHub's opaque global id. */
export function nodeId(kind: string, id: number | string): string {
  return Buffer.from(`${kind}:${id}`).toString('base64');
}

/** GitHub's times have no fractions of a second. */
export function iso(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** A `simple-user`. */
export function viewAccount(state: State, account: Account) {
  const url = `${state.url}/users/${encodeURIComponent(account.login)}`;
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId(account.type, account.id),
    avatar_url: `${state.url}/avatars/${account.id}`,
    gravatar_id: '',
    url,
    html_url: `${state.url}/${account.login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.type,
    user_view_type: 'public',
    site_admin: false,
  };
}

/** A `team-simple`. */
export function viewTeam(state: State, org: string, slug: string) {
  const url = `${state.url}/orgs/${org}/teams/${slug}`;
  return {
    id: [...slug].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 1_000_000,
    node_id: nodeId('Team', slug),
    url,
    members_url: `${url}/members{/member}`,
    name: slug,
    description: null,
    permission: 'push',
    privacy: 'closed',
    html_url: url,
    repositories_url: `${url}/repos`,
    slug,
    parent: null,
  };
}

export function viewOrganization(state: State, account: Account) {
  const url = `${state.url}/orgs/${account.login}`;
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId('Organization', account.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${state.url}/avatars/${account.id}`,
    description: null,
  };
}

export function viewApp(state: State, app: App) {
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('Integration', app.id),
    client_id: `Iv1.${app.id.toString(16).padStart(16, '0')}`,
    owner: viewAccount(state, app.owner),
    name: app.name,
    description: '',
    external_url: `${state.url}/apps/${app.slug}`,
    html_url: `${state.url}/apps/${app.slug}`,
    created_at: iso(app.createdAt),
    updated_at: iso(app.createdAt),
    permissions: app.permissions,
    events: [...state.webhooks.subscribed],
  };
}

export function viewInstallation(
  state: State,
  installation: Installation,
  permissions: Permissions = state.app.permissions,
) {
  return {
    id: installation.id,
    node_id: nodeId('IntegrationInstallation', installation.id),
    account: viewAccount(state, installation.account),
    repository_selection: installation.selected ? 'selected' : 'all',
    access_tokens_url: `${state.url}/app/installations/${installation.id}/access_tokens`,
    repositories_url: `${state.url}/installation/repositories`,
    html_url: `${state.url}/settings/installations/${installation.id}`,
    app_id: state.app.id,
    app_slug: state.app.slug,
    target_id: installation.account.id,
    target_type: installation.account.type,
    permissions,
    events: [...state.webhooks.subscribed],
    created_at: iso(installation.createdAt),
    updated_at: iso(installation.createdAt),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: installation.suspendedAt ? iso(installation.suspendedAt) : null,
  };
}
