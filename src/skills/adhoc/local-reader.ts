import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { unsafePathReason } from '../../core/path.ts';
import {
  GitHubError,
  type GitHubReader,
  type PullRequest,
  type PullRequestFile,
  type TreeEntry,
} from '../../ports/github.ts';
import { blobIdOf } from './diff.ts';

/** The pull request that a change in the working folder would be. */
export const LOCAL_PULL_REQUEST: PullRequest = {
  number: 1,
  repositoryId: 0,
  defaultBranch: 'main',
  title: 'A change in the working folder',
  body: '',
  author: { id: 0, login: 'you', type: 'User' },
  state: 'open',
  closedAt: null,
  merged: false,
  mergeCommitSha: null,
  mergeable: null,
  rebaseable: null,
  mergeableState: null,
  mergedBy: null,
  draft: false,
  headSha: '0'.repeat(40),
  headRef: 'change',
  headRepository: 'local/local',
  headRepositoryId: null,
  baseRef: 'main',
  baseSha: '0'.repeat(40),
  labels: [],
  changedFiles: 0,
  authorAssociation: 'OWNER',
  updatedAt: new Date(0),
};

type Reads = 'pullRequest' | 'pullRequestFiles' | 'blob' | 'file' | 'history';

/** Reads the working folder instead of GitHub: its files are those of the head. All other reads fail. */
export function localReader(folder: string, files: readonly PullRequestFile[]): GitHubReader {
  const paths = new Map<string, string>();
  const entryAt = (path: string): TreeEntry | undefined => {
    const file = fileAt(folder, path);
    if (file === undefined) return undefined;
    paths.set(blobIdOf(path), file);
    return { path, type: 'file', sha: blobIdOf(path), size: lstatSync(file).size };
  };
  for (const { path, status } of files) if (status !== 'removed') entryAt(path);

  const reads: Pick<GitHubReader, Reads> = {
    pullRequest: async () => ({ ...LOCAL_PULL_REQUEST, changedFiles: files.length }),
    pullRequestFiles: async () => ({ files: [...files], truncated: false }),
    async blob(_, sha, maxBytes) {
      const file = paths.get(sha);
      if (file === undefined) throw new GitHubError('not_found', 404, 'the working folder has no such file');
      return lstatSync(file).size > maxBytes ? undefined : readFileSync(file);
    },
    file: async (_, path) => entryAt(path),
    history: async () => [],
  };
  return new Proxy(reads as GitHubReader, {
    get(target, name) {
      const read = Reflect.get(target, name);
      if (read !== undefined) return read;
      return () => Promise.reject(new GitHubError('not_found', 404, 'there is no GitHub here'));
    },
  });
}

/** The regular file at a path of the folder, unless a symbolic link leads out of the folder. */
function fileAt(folder: string, path: string): string | undefined {
  if (unsafePathReason(path) !== undefined) return undefined;
  try {
    const root = realpathSync(folder);
    const file = realpathSync(join(root, path));
    return file.startsWith(root + sep) && lstatSync(file).isFile() ? file : undefined;
  } catch {
    return undefined;
  }
}
