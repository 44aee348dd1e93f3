import { posix } from 'node:path';
import { ApiError, notFound } from '../api-error.ts';
import type { Commit, FileEntry } from '../git/objects.ts';
import { json, type Reply, type RepositoryCall, type Router } from '../router.ts';
import { pageUrl, repositoryUrl } from '../views/repository.ts';

const MIB = 1024 * 1024;
/** Above this size the API omits the content; above the second it refuses. */
const LARGEST_INLINE = MIB;
const LARGEST = 100 * MIB;

/** Files and folders at a ref. */
export function contentRoutes(router: Router): void {
  router.repository('GET', '/contents', 'contents:read', (call) => contents(call, ''));
  router.repository('GET', '/contents/*path', 'contents:read', (call) =>
    contents(call, (call.params.path ?? '').replace(/\/+$/, '')),
  );
}

function contents(call: RepositoryCall, path: string): Reply {
  const { state, repository, query } = call;
  const ref = query.get('ref') ?? repository.defaultBranch;
  const commit = state.resolve(repository, ref);
  if (!commit) throw new ApiError(404, `No commit found for the ref ${ref}`);
  const entry = commit.files.get(path);
  if (entry) return file(call, ref, commit, path, entry);
  const listing = folder(call, ref, commit, path);
  if (listing.length === 0 && path !== '') throw notFound();
  return json(listing);
}

function file(call: RepositoryCall, ref: string, commit: Commit, path: string, entry: FileEntry): Reply {
  const { git } = call.repository;
  const data = git.blob(entry.sha) ?? Buffer.alloc(0);
  if (entry.mode === '120000') {
    const target = posix.join(posix.dirname(path), data.toString());
    const linked = commit.files.get(target);
    // GitHub follows a link to a file of the repository, and shows any other link itself.
    if (linked && linked.mode !== '120000') return file(call, ref, commit, target, linked);
    return json({ ...describe(call, ref, path, 'symlink', entry.sha, data.length), target: data.toString() });
  }
  if (data.length > LARGEST)
    throw new ApiError(
      403,
      'This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API.',
      [{ resource: 'Blob', field: 'data', code: 'too_large' }],
    );
  if (/\.raw\b/.test(call.accept)) return { status: 200, body: data.toString() };
  const inline = data.length <= LARGEST_INLINE;
  return json({
    ...describe(call, ref, path, 'file', entry.sha, data.length),
    content: inline ? wrapped(data) : '',
    encoding: inline ? 'base64' : 'none',
  });
}

function folder(call: RepositoryCall, ref: string, commit: Commit, path: string): object[] {
  const { git } = call.repository;
  let sha = commit.tree;
  for (const name of path === '' ? [] : path.split('/')) {
    const entry = git.tree(sha)?.find((one) => one.name === name && one.type === 'tree');
    if (!entry) return [];
    sha = entry.sha;
  }
  return (git.tree(sha) ?? []).map((entry) => {
    const inside = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.type === 'tree') return describe(call, ref, inside, 'dir', entry.sha, 0);
    const type = entry.mode === '120000' ? 'symlink' : 'file';
    return describe(call, ref, inside, type, entry.sha, git.blob(entry.sha)?.length ?? 0);
  });
}

function describe(
  { state, repository }: RepositoryCall,
  ref: string,
  path: string,
  type: 'file' | 'dir' | 'symlink',
  sha: string,
  size: number,
) {
  const encoded = encodeURI(path);
  const kind = type === 'dir' ? 'tree' : 'blob';
  const self = `${repositoryUrl(state, repository)}/contents/${encoded}?ref=${encodeURIComponent(ref)}`;
  const git = `${repositoryUrl(state, repository)}/git/${kind}s/${sha}`;
  const html = `${pageUrl(state, repository)}/${kind}/${ref}/${encoded}`;
  return {
    name: posix.basename(path),
    path,
    sha,
    size,
    url: self,
    html_url: html,
    git_url: git,
    download_url: type === 'dir' ? null : `${pageUrl(state, repository)}/raw/${ref}/${encoded}`,
    type,
    _links: { self, git, html },
  };
}

/** Base64 in lines of 60 characters, as GitHub sends it. */
function wrapped(data: Buffer): string {
  return data.toString('base64').replaceAll(/.{1,60}/g, '$&\n');
}
