import { FOLDER } from '../../domain/chain/configuration-files.ts';
import type { ChainCase } from '../../domain/chain-case/case-file.ts';
import type { CheckRunFacts, GitHubReader, Person, Repo, TreeEntry } from '../../ports/github.ts';
import { GitHubError } from '../../ports/github.ts';
import { BASE_SHA, caseReader, HEAD_SHA } from './case-reader.ts';

/** The repository of every case. */
export const CASE_REPOSITORY: Repo = { owner: 'acme', name: 'shop' };
export const CASE_PULL_REQUEST = 1;
/** Who fires a chain by hand in a case, and who may countersign. */
export const CASE_MAINTAINER = 'mia';

const MOMENT = new Date(0);
const CI_APP = 1;
const MERGE_SHA = 'd'.repeat(40);
const MERGER: Person = { id: 2, login: CASE_MAINTAINER, type: 'User' };
const NOBODY = { owner: 'acme', name: '.github' };

/**
 * What GitHub would answer in a case: the pull request and its checks are the case's, and the base branch has the
 * configuration of the working folder.
 * @param configuration the files of `.github`, by path
 */
export function chainCaseReader(of: ChainCase, configuration: ReadonlyMap<string, string>): GitHubReader {
  const { pull_request: given = {}, files = { 'README.md': '# A change\n' }, checks = {} } = of;
  const about = caseReader({ files, title: given.title, body: given.body }, CASE_PULL_REQUEST);
  const base = given.base ?? 'main';
  const login = given.author ?? 'ada';
  const author: Person = { id: 1, login, type: login.endsWith('[bot]') ? 'Bot' : 'User' };
  const refuse = () => {
    throw new GitHubError('not_found', 404, 'a case has only its own repository');
  };
  const known = ({ owner, name }: Repo) => {
    if (owner !== CASE_REPOSITORY.owner || name !== CASE_REPOSITORY.name) refuse();
  };
  const entries = [...configuration].map(
    ([path, text]): TreeEntry => ({ path, type: 'file', sha: `here ${path}`, size: text.length }),
  );

  return {
    ...about,
    async repository(repo) {
      known(repo);
      return { id: 1, defaultBranch: base };
    },
    async pullRequest(repo, number) {
      const pullRequest = await about.pullRequest(repo, number);
      return {
        ...pullRequest,
        author,
        mergeable: true,
        rebaseable: true,
        mergeableState: 'clean',
        defaultBranch: base,
        baseRef: base,
        headRef: given.head ?? 'change',
        draft: given.draft ?? false,
        labels: given.labels ?? [],
        ...(isEnded(of) && { state: 'closed' as const, updatedAt: MOMENT }),
        ...(of.on === 'pr.merged' && { merged: true, mergeCommitSha: MERGE_SHA, mergedBy: MERGER }),
      };
    },
    pullRequestCommits: async () => ({
      commits: [
        {
          sha: HEAD_SHA,
          message: 'A change',
          author,
          committer: author,
          authorEmail: null,
          committerEmail: null,
          verified: false,
        },
      ],
      truncated: false,
    }),
    commitCredits: async () => [
      { sha: HEAD_SHA, authors: [{ id: author.id, login: author.login }], unknown: 0 },
    ],
    commit: async (_, sha) => ({
      sha,
      tree: sha,
      parents: [BASE_SHA],
      message: given.title ?? 'A change',
      author: {
        name: author.login,
        email: `${author.login}@users.noreply.github.com`,
        date: MOMENT.toISOString(),
      },
    }),
    // By the author: an unknown one would cost a countersign more.
    pushes: async () => [{ before: BASE_SHA, after: HEAD_SHA, actorId: author.id }],
    pullRequestReviews: async () => ({ reviews: [], truncated: false }),
    async branchTip(repo) {
      return repo.name === NOBODY.name ? refuse() : BASE_SHA;
    },
    async folder(_, path) {
      if (path !== '.github') return undefined;
      const isInside = (entry: TreeEntry) => entry.path.startsWith(`${FOLDER}/`);
      return [
        ...entries.filter((entry) => !isInside(entry)),
        ...(entries.some(isInside)
          ? [{ path: FOLDER, type: 'dir' as const, sha: `tree ${FOLDER}`, size: 0 }]
          : []),
      ];
    },
    async tree(repo, ref) {
      if (ref !== `tree ${FOLDER}`) return about.tree(repo, ref);
      return entries.flatMap((entry) =>
        entry.path.startsWith(`${FOLDER}/`) ? [{ ...entry, path: entry.path.slice(FOLDER.length + 1) }] : [],
      );
    },
    async blob(repo, sha, maxBytes) {
      const text = sha.startsWith('here ') ? configuration.get(sha.slice('here '.length)) : undefined;
      return text === undefined ? about.blob(repo, sha, maxBytes) : new TextEncoder().encode(text);
    },
    checkRuns: async () =>
      Object.entries(checks).map(
        ([name, conclusion], index): CheckRunFacts => ({
          id: index + 1,
          name,
          appId: CI_APP,
          status: conclusion === 'in_progress' ? 'in_progress' : 'completed',
          conclusion: conclusion === 'in_progress' ? null : conclusion,
          startedAt: MOMENT,
          completedAt: conclusion === 'in_progress' ? null : MOMENT,
          url: null,
          suiteId: CI_APP,
          workflowRunId: null,
          externalId: null,
          title: null,
          summary: null,
        }),
      ),
    checkSuites: async () => [
      {
        appId: CI_APP,
        appName: 'ci',
        status: Object.values(checks).includes('in_progress') ? 'in_progress' : 'completed',
        checkRuns: Object.keys(checks).length,
      },
    ],
    statuses: async () => [],
    requiredChecks: async () => [],
    branchRules: async () => [],
    mergeQueue: async () => [],
    workflowJobs: async () => [],
    workflowArtifacts: async () => [],
    role: async (_, login) => (login === CASE_MAINTAINER ? 'maintain' : 'write'),
    comment: async () => undefined,
    reactions: async () => [],
    polledComments: async (ids) => ids.map(() => undefined),
    writers: async () => ({ collaborators: [], truncated: false }),
    teamMembers: async () => undefined,
    isTeamMember: async () => false,
    isAssignable: async () => true,
    ownIssues: async () => [],
    ownReviewTexts: async () => ({ reviews: [], comments: [] }),
  };
}

function isEnded({ on }: ChainCase): boolean {
  return on === 'pr.merged' || on === 'pr.closed';
}
