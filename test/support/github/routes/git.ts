import { ApiError, notFound } from '../api-error.ts';
import { changesBetween, renderDiff } from '../git/changes.ts';
import { ancestorsOf, commitsBetween, mergeBase } from '../git/history.ts';
import type { Commit, GitObjects, TreeEntry } from '../git/objects.ts';
import { paginate } from '../pages.ts';
import { json, type Reply, type RepositoryCall, type Router } from '../router.ts';
import { nodeId } from '../views/account.ts';
import { viewChange, viewCommit, viewFullCommit, viewSignature } from '../views/commit.ts';
import { repositoryUrl } from '../views/repository.ts';

/** Commits, comparisons and the raw git objects. */
export function gitRoutes(router: Router): void {
  router.repository('GET', '/commits', 'contents:read', (call) => {
    const { state, repository } = call;
    const tip = commitIn(call, call.query.get('sha') ?? repository.defaultBranch);
    const path = call.query.get('path');
    const commits = [...ancestorsOf(repository.git, tip.sha)]
      .map((sha) => repository.git.commitAt(sha))
      .filter((commit) => path === null || changesPath(repository.git, commit, path));
    return paginate(call, pathOf(call, '/commits'), commits, (commit) =>
      viewCommit(state, repository, commit),
    );
  });

  router.repository('GET', '/compare/*basehead', 'contents:read', compare);
  router.repository('GET', '/git/trees/*sha', 'contents:read', tree);

  router.repository('GET', '/git/blobs/:sha', 'contents:read', ({ state, repository, params }) => {
    const sha = params.sha ?? '';
    const data = repository.git.blob(sha);
    if (!data) throw notFound();
    const url = `${repositoryUrl(state, repository)}/git/blobs/${sha}`;
    return json({
      sha,
      node_id: nodeId('Blob', sha),
      size: data.length,
      url,
      content: data.toString('base64'),
      encoding: 'base64',
    });
  });

  router.repository('GET', '/git/ref/*ref', 'contents:read', ({ state, repository, params }) => {
    const ref = params.ref ?? '';
    const [, kind, name = ''] = /^(heads|tags)\/(.+)$/.exec(ref) ?? [];
    const sha = kind && (kind === 'tags' ? repository.tags : repository.branches).get(name);
    if (sha === undefined) throw notFound();
    return json({
      ref: `refs/${ref}`,
      node_id: nodeId('Ref', ref),
      url: `${repositoryUrl(state, repository)}/git/refs/${ref}`,
      object: { sha, type: 'commit', url: `${repositoryUrl(state, repository)}/git/commits/${sha}` },
    });
  });

  router.repository('GET', '/git/commits/:sha', 'contents:read', ({ state, repository, params }) => {
    const commit = repository.git.commit(params.sha ?? '');
    if (!commit) throw notFound();
    const url = `${repositoryUrl(state, repository)}/git`;
    return json({
      sha: commit.sha,
      node_id: nodeId('Commit', commit.sha),
      url: `${url}/commits/${commit.sha}`,
      author: viewSignature(commit.author),
      committer: viewSignature(commit.committer),
      message: commit.message,
      tree: { sha: commit.tree, url: `${url}/trees/${commit.tree}` },
      parents: commit.parents.map((sha) => ({ sha, url: `${url}/commits/${sha}` })),
    });
  });

  // After every route that continues after a ref, because a ref can contain slashes.
  router.repository('GET', '/commits/*ref', 'contents:read', (call) =>
    json(viewFullCommit(call.state, call.repository, commitIn(call, call.params.ref ?? ''))),
  );
}

/** The commit that a `ref` names. @throws ApiError 422 for what could be a commit, else 404, as on GitHub. */
export function commitIn({ state, repository }: RepositoryCall, ref: string): Commit {
  const commit = state.resolve(repository, ref);
  if (commit) return commit;
  throw new ApiError(422, `No commit found for SHA: ${ref}`);
}

export function pathOf({ params }: RepositoryCall, rest: string): string {
  return `/repos/${params.owner}/${params.repo}${rest}`;
}

/** Against its first parent, as GitHub simplifies a history. */
function changesPath(git: GitObjects, { files, parents: [parent] }: Commit, path: string): boolean {
  const before = parent === undefined ? new Map() : git.commitAt(parent).files;
  return changesBetween(git, before, files).some(({ path: changed, previousPath }) =>
    [changed, previousPath].some((one) => one === path || one?.startsWith(`${path}/`)),
  );
}

function compare(call: RepositoryCall): Reply {
  const { state, repository } = call;
  const { git } = repository;
  const [baseName = '', headName = ''] = (call.params.basehead ?? '').split('...');
  const [base, head] = [baseName, headName].map((name) => resolveAcross(call, name));
  if (!base || !head) throw notFound();
  const common = mergeBase(git, base.sha, head.sha);
  if (common === undefined)
    throw new ApiError(404, `No common ancestor between ${baseName} and ${headName}.`);
  const ahead = commitsBetween(git, base.sha, head.sha);
  const behind = commitsBetween(git, head.sha, base.sha).length;
  const changes = changesBetween(git, git.commitAt(common).files, head.files);
  if (/\.diff\b/.test(call.accept)) return { status: 200, body: renderDiff(changes) };
  const status =
    ahead.length === 0 ? (behind === 0 ? 'identical' : 'behind') : behind === 0 ? 'ahead' : 'diverged';
  const url = `${repositoryUrl(state, repository)}/compare/${baseName}...${headName}`;
  return paginate(
    call,
    pathOf(call, `/compare/${baseName}...${headName}`),
    ahead,
    (commit) => viewCommit(state, repository, commit),
    (commits) => ({
      url,
      html_url: url,
      permalink_url: url,
      diff_url: `${url}.diff`,
      patch_url: `${url}.patch`,
      base_commit: viewCommit(state, repository, base),
      merge_base_commit: viewCommit(state, repository, git.commitAt(common)),
      status,
      ahead_by: ahead.length,
      behind_by: behind,
      total_commits: ahead.length,
      commits,
      // The files come complete with the first page and never with a later one.
      ...(Number(call.query.get('page') ?? 1) <= 1
        ? { files: changes.slice(0, 300).map((change) => viewChange(state, repository, head.sha, change)) }
        : {}),
    }),
  );
}

/** A ref of this repository, or `owner:ref` of a fork. */
function resolveAcross({ state, repository }: RepositoryCall, name: string): Commit | undefined {
  const colon = name.indexOf(':');
  if (colon < 0) return state.resolve(repository, name);
  const owner = name.slice(0, colon).toLowerCase();
  const fork = state
    .repositories()
    .find((one) => one.git === repository.git && one.owner.login.toLowerCase() === owner);
  return fork && state.resolve(fork, name.slice(colon + 1));
}

function tree(call: RepositoryCall): Reply {
  const { state, repository } = call;
  const wanted = call.params.sha ?? '';
  const sha = repository.git.tree(wanted) ? wanted : state.resolve(repository, wanted)?.tree;
  if (sha === undefined) throw notFound();
  const url = `${repositoryUrl(state, repository)}/git`;
  // Any value turns recursion on, even `0` and `false`.
  const entries = walk(repository.git, sha, '', call.query.has('recursive'));
  return json({
    sha,
    url: `${url}/trees/${sha}`,
    tree: entries.map(({ path, entry }) => ({
      path,
      mode: entry.mode,
      type: entry.type,
      sha: entry.sha,
      ...(entry.type === 'blob' ? { size: repository.git.blob(entry.sha)?.length ?? 0 } : {}),
      url: `${url}/${entry.type}s/${entry.sha}`,
    })),
    truncated: false,
  });
}

function walk(
  git: GitObjects,
  sha: string,
  folder: string,
  recursive: boolean,
): { path: string; entry: TreeEntry }[] {
  return (git.tree(sha) ?? []).flatMap((entry) => {
    const path = folder + entry.name;
    const inside = recursive && entry.type === 'tree' ? walk(git, entry.sha, `${path}/`, true) : [];
    return [{ path, entry }, ...inside];
  });
}
