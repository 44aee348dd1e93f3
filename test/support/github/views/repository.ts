import type { State } from '../state.ts';
import { fullName, type Repository } from '../world.ts';
import { iso, nodeId, viewAccount } from './account.ts';

export function repositoryUrl(state: State, repository: Repository): string {
  return `${state.url}/repos/${fullName(repository)}`;
}

export function pageUrl(state: State, repository: Repository): string {
  return `${state.url}/${fullName(repository)}`;
}

/** A repository as inside other objects. */
export function viewRepository(state: State, repository: Repository) {
  const url = repositoryUrl(state, repository);
  const page = pageUrl(state, repository);
  const open = [...repository.issues.values()].filter((issue) => issue.state === 'open').length;
  return {
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: fullName(repository),
    private: repository.private,
    owner: viewAccount(state, repository.owner),
    html_url: page,
    description: null,
    fork: repository.parent !== undefined,
    url,
    ...linksOf(url),
    svn_url: page,
    clone_url: `${page}.git`,
    git_url: `${page.replace(/^http:/, 'git:')}.git`,
    ssh_url: `git@127.0.0.1:${fullName(repository)}.git`,
    created_at: iso(repository.createdAt),
    updated_at: iso(repository.updatedAt),
    pushed_at: iso(repository.pushedAt),
    homepage: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    forks_count: 0,
    mirror_url: null,
    archived: repository.archived === true,
    disabled: false,
    open_issues_count: open,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.private ? 'private' : 'public',
    forks: 0,
    open_issues: open,
    watchers: 0,
    default_branch: repository.defaultBranch,
  };
}

/** The fields that `GET /repos/{owner}/{repo}` adds: its settings only for those who can write. */
export function viewFullRepository(state: State, repository: Repository, canWrite: boolean) {
  return {
    ...viewRepository(state, repository),
    permissions: { admin: false, maintain: false, push: canWrite, triage: canWrite, pull: true },
    ...(canWrite ? mergeSettings(repository) : {}),
    network_count: 0,
    subscribers_count: 0,
    ...(repository.parent
      ? {
          parent: viewRepository(state, repository.parent),
          source: viewRepository(state, repository.parent),
        }
      : {}),
  };
}

function mergeSettings({ mergeMethods, autoMergeAllowed }: Repository) {
  return {
    allow_squash_merge: mergeMethods.has('squash'),
    allow_merge_commit: mergeMethods.has('merge'),
    allow_rebase_merge: mergeMethods.has('rebase'),
    allow_auto_merge: autoMergeAllowed,
    delete_branch_on_merge: false,
    allow_update_branch: false,
    use_squash_pr_title_as_default: false,
    squash_merge_commit_title: 'COMMIT_OR_PR_TITLE',
    squash_merge_commit_message: 'COMMIT_MESSAGES',
    merge_commit_title: 'MERGE_MESSAGE',
    merge_commit_message: 'PR_TITLE',
  };
}

/** URL templates of what belongs to a repository. */
function linksOf(url: string) {
  return {
    archive_url: `${url}/{archive_format}{/ref}`,
    assignees_url: `${url}/assignees{/user}`,
    blobs_url: `${url}/git/blobs{/sha}`,
    branches_url: `${url}/branches{/branch}`,
    collaborators_url: `${url}/collaborators{/collaborator}`,
    comments_url: `${url}/comments{/number}`,
    commits_url: `${url}/commits{/sha}`,
    compare_url: `${url}/compare/{base}...{head}`,
    contents_url: `${url}/contents/{+path}`,
    contributors_url: `${url}/contributors`,
    deployments_url: `${url}/deployments`,
    downloads_url: `${url}/downloads`,
    events_url: `${url}/events`,
    forks_url: `${url}/forks`,
    git_commits_url: `${url}/git/commits{/sha}`,
    git_refs_url: `${url}/git/refs{/sha}`,
    git_tags_url: `${url}/git/tags{/sha}`,
    hooks_url: `${url}/hooks`,
    issue_comment_url: `${url}/issues/comments{/number}`,
    issue_events_url: `${url}/issues/events{/number}`,
    issues_url: `${url}/issues{/number}`,
    keys_url: `${url}/keys{/key_id}`,
    labels_url: `${url}/labels{/name}`,
    languages_url: `${url}/languages`,
    merges_url: `${url}/merges`,
    milestones_url: `${url}/milestones{/number}`,
    notifications_url: `${url}/notifications{?since,all,participating}`,
    pulls_url: `${url}/pulls{/number}`,
    releases_url: `${url}/releases{/id}`,
    stargazers_url: `${url}/stargazers`,
    statuses_url: `${url}/statuses/{sha}`,
    subscribers_url: `${url}/subscribers`,
    subscription_url: `${url}/subscription`,
    tags_url: `${url}/tags`,
    teams_url: `${url}/teams`,
    trees_url: `${url}/git/trees{/sha}`,
  };
}
