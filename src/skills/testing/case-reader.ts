import type { SkillCase } from '../../domain/skill/case-file.ts';
import { GitHubError, type GitHubReader, type PullRequestFile, type TreeEntry } from '../../ports/github.ts';
import { patchBetween } from './patch.ts';

export const HEAD_SHA = 'c'.repeat(40);
export const BASE_SHA = 'b'.repeat(40);
const MOMENT = new Date(0);
const AUTHOR = { id: 1, login: 'ada', type: 'User' } as const;

interface CaseFile {
  path: string;
  before: string | undefined;
  after: string | undefined;
}

/** A GitHub reader for the case. Anything that a case cannot describe fails. */
export function caseReader(
  of: Pick<SkillCase, 'files' | 'others' | 'title' | 'body'>,
  pullRequest: number,
): GitHubReader {
  const files = filesOf(of);
  const blobs = new Map(
    files.flatMap(({ path, before, after }) => [
      [`before ${path}`, before],
      [`after ${path}`, after],
    ]),
  );
  const here = [
    ...files.filter(({ after }) => after !== undefined).map(({ path }) => path),
    ...(of.others ?? []),
  ];
  return refusingOthers({
    pullRequest: async () => ({
      number: pullRequest,
      repositoryId: 1,
      defaultBranch: 'main',
      title: of.title ?? 'A change',
      body: of.body ?? '',
      author: AUTHOR,
      state: 'open',
      closedAt: null,
      merged: false,
      mergeCommitSha: null,
      mergeable: null,
      rebaseable: null,
      mergeableState: null,
      mergedBy: null,
      draft: false,
      headSha: HEAD_SHA,
      headRef: 'change',
      headRepository: 'acme/shop',
      headRepositoryId: null,
      baseRef: 'main',
      baseSha: BASE_SHA,
      labels: [],
      changedFiles: files.length,
      authorAssociation: 'CONTRIBUTOR',
      updatedAt: MOMENT,
    }),
    pullRequestFiles: async () => ({ files: files.map(listed), truncated: false }),
    blob: async (_, sha, maxBytes) => {
      const bytes = new TextEncoder().encode(blobs.get(sha) ?? '');
      return bytes.byteLength > maxBytes ? undefined : bytes;
    },
    file: async (_, path, ref) => {
      const moment = ref === BASE_SHA ? 'before' : 'after';
      return blobs.get(`${moment} ${path}`) === undefined ? undefined : entry(path, `${moment} ${path}`);
    },
    history: () =>
      Promise.reject(new GitHubError('invalid', 422, 'a case has no commits, so nobody knows a history')),
    tree: async () => here.map((path) => entry(path, `after ${path}`)),
  });
}

function filesOf({ files }: Pick<SkillCase, 'files'>): CaseFile[] {
  return Object.entries(files).map(([path, file]) =>
    typeof file === 'string'
      ? { path, before: undefined, after: file }
      : { path, before: file.before, after: file.after },
  );
}

function listed({ path, before, after }: CaseFile): PullRequestFile {
  const { text, additions, deletions } = patchBetween(before ?? '', after ?? '');
  return {
    path,
    status: before === undefined ? 'added' : after === undefined ? 'removed' : 'modified',
    patch: text,
    blobSha: `${after === undefined ? 'before' : 'after'} ${path}`,
    additions,
    deletions,
    headSha: HEAD_SHA,
  };
}

function entry(path: string, sha: string): TreeEntry {
  return { path, type: 'file', sha, size: 0 };
}

function refusingOthers(known: Partial<GitHubReader>): GitHubReader {
  return new Proxy(known, {
    get: (reader, name) =>
      Reflect.get(reader, name) ??
      (() => Promise.reject(new Error(`a case cannot say what GitHub answers to ${String(name)}`))),
  }) as GitHubReader;
}
