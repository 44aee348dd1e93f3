import { FOLDER } from '../../domain/chain/configuration-files.ts';
import type { ChainCase } from '../../domain/chain-case/case-file.ts';
import type { Happening } from '../../domain/chain-case/happening.ts';
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

/** What of a case changes while things happen. */
interface CaseWorld {
  headSha: string;
  /** The newest commit of the base branch. */
  tip: string;
  /** The checks of the head. */
  checks: Readonly<Record<string, string>>;
  labels: readonly string[];
  ended: 'merged' | 'closed' | undefined;
  updatedAt: Date;
}

/**
 * What GitHub would answer in a case: the pull request and its checks are the case's, and the base branch has the
 * configuration of the working folder.
 * @param configuration the files of `.github`, by path
 */
export function chainCaseReader(
  of: ChainCase,
  configuration: ReadonlyMap<string, string>,
): {
  reader: GitHubReader;
  /** GitHub answers from then on as if this had happened. */
  happen(one: Happening, at: Date): Pick<CaseWorld, 'headSha' | 'tip' | 'updatedAt'>;
} {
  const { pull_request: given = {}, files = { 'README.md': '# A change\n' } } = of;
  const world: CaseWorld = {
    headSha: HEAD_SHA,
    tip: BASE_SHA,
    checks: of.checks ?? {},
    labels: given.labels ?? [],
    ended: of.on === 'pr.merged' ? 'merged' : of.on === 'pr.closed' ? 'closed' : undefined,
    updatedAt: MOMENT,
  };
  let commits = 0;
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

  const reader: GitHubReader = {
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
        labels: [...world.labels],
        headSha: world.headSha,
        updatedAt: world.updatedAt,
        ...(world.ended && { state: 'closed' as const, closedAt: world.updatedAt }),
        ...(world.ended === 'merged' && { merged: true, mergeCommitSha: MERGE_SHA, mergedBy: MERGER }),
      };
    },
    async pullRequestFiles(repo, number) {
      const listed = await about.pullRequestFiles(repo, number);
      return { ...listed, files: listed.files.map((file) => ({ ...file, headSha: world.headSha })) };
    },
    file: (repo, path, ref) => about.file(repo, path, ref === world.tip ? BASE_SHA : ref),
    pullRequestCommits: async () => ({
      commits: [
        {
          sha: world.headSha,
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
      { sha: world.headSha, authors: [{ id: author.id, login: author.login }], unknown: 0 },
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
    pushes: async () => [{ before: BASE_SHA, after: world.headSha, actorId: author.id }],
    pullRequestReviews: async () => ({ reviews: [], truncated: false }),
    async branchTip(repo) {
      return repo.name === NOBODY.name ? refuse() : world.tip;
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
      Object.entries(world.checks).map(
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
        status: Object.values(world.checks).includes('in_progress') ? 'in_progress' : 'completed',
        checkRuns: Object.keys(world.checks).length,
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
    pullRequestsUnchangedSince: async () => ({ pullRequests: [], truncated: false }),
    ownIssues: async () => [],
    ownThread: async () => undefined,
    ownReviewTexts: async () => ({ reviews: [], comments: [] }),
  };

  return {
    reader,
    happen(one, at) {
      commits += 1;
      const sha = (letter: string) => `${commits}`.padStart(HEAD_SHA.length, letter);
      world.updatedAt = at;
      switch (one.on) {
        case 'pr.opened':
          world.ended = undefined;
          break;
        case 'pr.updated':
          world.headSha = sha('c');
          world.checks = {};
          break;
        case 'pr.labeled':
          world.labels = [...new Set([...world.labels, one.label])];
          break;
        case 'pr.merged':
        case 'pr.closed':
          world.ended = one.on === 'pr.merged' ? 'merged' : 'closed';
          break;
        case 'file.changed':
          world.tip = sha('b');
          break;
        case 'ci.changed':
          if (one.branch === undefined) world.checks = { ...world.checks, [one.check]: one.conclusion };
          break;
      }
      return world;
    },
  };
}
