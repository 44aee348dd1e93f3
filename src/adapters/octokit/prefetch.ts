import { z } from 'zod';
import type { Discussion } from '../../domain/policy/discussion.ts';
import type { Review } from '../../domain/policy/facts/reviews.ts';
import type {
  CheckRunFacts,
  CheckSuiteFacts,
  CommentFacts,
  Commit,
  GitHubReader,
  Person,
  Prefetched,
  PullRequest,
  Reaction,
  Repo,
  StatusFacts,
} from '../../ports/github.ts';
import { GitHubError, SignInRefused } from '../../ports/github.ts';
import { dateOrNull, REVIEW_STATES } from './answers.ts';
import { beginning } from './check-answers.ts';
import type { Client } from './client.ts';
import { bigId, type NodeIds } from './node-ids.ts';
import { CONTENTS } from './polled-comments.ts';
import type { RecentAnswers } from './recent-answers.ts';

/** Where GitHub keeps an organisation's own files. */
const ORGANISATION_REPOSITORY = '.github';

const ACCOUNTS = ['User', 'Bot', 'Organization', 'Mannequin'] as const;

const CHECKS = `
      status { contexts { context state description targetUrl createdAt creator { ...Person } } }
      checkSuites(first: 50) {
        pageInfo { hasNextPage }
        nodes {
          databaseId status app { databaseId name slug } workflowRun { databaseId }
          checkRuns(first: 50, filterBy: { checkType: ALL }) {
            pageInfo { hasNextPage }
            nodes { databaseId name status conclusion startedAt completedAt permalink externalId title summary }
          }
        }
      }`;

/**
 * The state of a pull request in one query. Reference: https://docs.github.com/en/graphql/reference/objects
 *
 * `checkType: ALL`, because GitHub does not say which of several runs `LATEST` is. REST's `filter=latest` leaves out
 * only runs of the same name in the same suite (https://github.com/lewagon/wait-on-check-action/pull/156), so without
 * such runs, ALL is what REST lists. The lists have no second page: what does not fit is read by REST.
 */
const query = ({ knowsHead }: { knowsHead: boolean }) =>
  `query ($owner: String!, $name: String!, $number: Int!, $comments: [ID!]!${knowsHead ? ', $head: GitObjectID!' : ''}) {
  repository(owner: $owner, name: $name) {
    id databaseId
    defaultBranchRef { name target { oid } }
    pullRequest(number: $number) {
      id title body state merged isDraft mergeable canBeRebased mergeStateStatus updatedAt changedFiles authorAssociation
      author { ...Person } headRefOid headRefName headRepository { databaseId nameWithOwner }
      baseRefName baseRefOid baseRef {
        name target { oid }
        refUpdateRule { requiredApprovingReviewCount requiresConversationResolution }
        rules(first: 100) { nodes { type parameters { ... on PullRequestParameters {
          requiredApprovingReviewCount requiredReviewThreadResolution
        } } } }
      }
      reviewDecision
      reviewThreads(first: 100) { pageInfo { hasNextPage } nodes { isResolved } }
      labels(first: 100) { pageInfo { hasNextPage } nodes { name } }
      reviews(first: 100) {
        pageInfo { hasNextPage }
        nodes { fullDatabaseId state submittedAt commit { oid } author { ...Person } }
      }
      commits(first: 100) {
        pageInfo { hasNextPage }
        nodes { commit {
          oid message signature { isValid }
          author { email user { databaseId login } } committer { email user { databaseId login } }
        } }
      }
      ${knowsHead ? '' : `newest: commits(last: 1) { nodes { commit { oid ${CHECKS} } } }`}
    }
    ${knowsHead ? `object(oid: $head) { ... on Commit { ${CHECKS} } }` : ''}
  }
  viewer { databaseId }
  organisation: repository(owner: $owner, name: "${ORGANISATION_REPOSITORY}") { databaseId defaultBranchRef { name target { oid } } }
  nodes(ids: $comments) { ... on IssueComment {
    id fullDatabaseId body repository { databaseId } author { ...Person }
    reactions(first: 100) {
      pageInfo { hasNextPage }
      nodes { databaseId content createdAt user { databaseId login } }
    }
  } }
}`.replaceAll(
    '...Person',
    `__typename login ${ACCOUNTS.map((type) => `... on ${type} { databaseId }`).join(' ')}`,
  );

const OF_KNOWN_HEAD = query({ knowsHead: true });
const OF_NEWEST_HEAD = query({ knowsHead: false });

/** GraphQL gives a bot's login without the suffix of REST: https://github.com/marcusquinn/aidevops/issues/29778 */
const person = z
  .object({
    __typename: z.enum(ACCOUNTS),
    login: z.string(),
    databaseId: z.int(),
  })
  .transform(
    ({ __typename: type, login, databaseId: id }): Person => ({
      id,
      login: type === 'Bot' && !login.endsWith('[bot]') ? `${login}[bot]` : login,
      type,
    }),
  );

/** GraphQL names only people here: REST also shows bots. So without an account, REST is asked. */
const user = z
  .object({ databaseId: z.int(), login: z.string() })
  .transform(({ databaseId: id, login }): Person => ({ id, login, type: 'User' }));

/** A list that fits into one page. Every other one does not match, and is read by REST. */
const wholeList = <T extends z.ZodType>(node: T) =>
  z
    .object({ pageInfo: z.object({ hasNextPage: z.literal(false) }), nodes: z.array(node) })
    .transform(({ nodes }) => nodes);

const tipSchema = z.object({ name: z.string(), target: z.object({ oid: z.string() }) });
const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

const reviewsSchema = wholeList(
  z
    .object({
      fullDatabaseId: bigId,
      state: z.string(),
      submittedAt: dateOrNull,
      commit: z.object({ oid: z.string() }).nullable(),
      author: person,
    })
    .transform(
      ({ fullDatabaseId: id, state, submittedAt, commit, author }): Review => ({
        id,
        person: author,
        state: REVIEW_STATES[state] ?? 'unknown',
        commitSha: commit?.oid ?? null,
        submittedAt,
      }),
    ),
);

const discussionSchema = z
  .object({
    reviewDecision: z.string().nullable(),
    reviewThreads: z.object({
      pageInfo: z.object({ hasNextPage: z.boolean() }),
      nodes: z.array(z.object({ isResolved: z.boolean() })),
    }),
    baseRef: z.object({
      refUpdateRule: z
        .object({
          requiredApprovingReviewCount: z.int().nullable(),
          requiresConversationResolution: z.boolean(),
        })
        .nullable(),
      rules: z
        .object({
          nodes: z.array(
            z.object({
              parameters: z
                .object({
                  requiredApprovingReviewCount: z.int().optional(),
                  requiredReviewThreadResolution: z.boolean().optional(),
                })
                .nullable(),
            }),
          ),
        })
        .nullable(),
    }),
  })
  .transform(({ reviewDecision, reviewThreads, baseRef: { refUpdateRule, rules } }): Discussion => {
    const parameters = rules?.nodes.flatMap((rule) => rule.parameters ?? []) ?? [];
    return {
      lacks_reviews: reviewDecision === 'REVIEW_REQUIRED',
      needed_reviews: Math.max(
        refUpdateRule?.requiredApprovingReviewCount ?? 0,
        ...parameters.map(({ requiredApprovingReviewCount: count = 0 }) => count),
      ),
      unresolved: reviewThreads.nodes.filter(({ isResolved }) => !isResolved).length,
      more: reviewThreads.pageInfo.hasNextPage,
      must_resolve:
        refUpdateRule?.requiresConversationResolution === true ||
        parameters.some((one) => one.requiredReviewThreadResolution === true),
    };
  });

const signed = z.object({ email: z.string().nullable(), user });
const commitsSchema = wholeList(
  z
    .object({
      commit: z.object({
        oid: z.string(),
        message: z.string(),
        signature: z.object({ isValid: z.boolean() }).nullable(),
        author: signed,
        committer: signed,
      }),
    })
    .transform(
      ({ commit }): Commit => ({
        sha: commit.oid,
        message: commit.message,
        author: commit.author.user,
        committer: commit.committer.user,
        authorEmail: commit.author.email,
        committerEmail: commit.committer.email,
        verified: commit.signature?.isValid ?? false,
      }),
    ),
);

const lower = z.string().transform((text) => text.toLowerCase());

/**
 * Without `expected`, a status that the branch requires and nobody has reported
 * (https://docs.github.com/en/graphql/reference/enums#statusstate). REST lists none, and the app may be the one to report it.
 */
const statusSchema = z
  .object({
    context: z.string(),
    state: lower.pipe(z.enum(['error', 'failure', 'pending', 'success'])),
    description: z.string().nullable(),
    targetUrl: z.string().nullable(),
    createdAt: dateOrNull,
    creator: person.nullable(),
  })
  .transform(({ targetUrl: url, ...status }) => ({ ...status, url }));

/** @param own - the account of this app's bot */
function statusesOf(contexts: readonly z.infer<typeof statusSchema>[], own: number): StatusFacts[] {
  return contexts.map(({ creator, ...status }) => ({ ...status, isOwn: creator?.id === own }));
}

const suiteSchema = z.object({
  databaseId: z.int(),
  status: lower,
  app: z.object({ databaseId: z.int(), name: z.string(), slug: z.string() }).nullable(),
  workflowRun: z.object({ databaseId: z.int() }).nullable(),
  checkRuns: wholeList(
    z.object({
      databaseId: z.int(),
      name: z.string(),
      status: lower,
      conclusion: lower.nullable(),
      startedAt: dateOrNull,
      completedAt: dateOrNull,
      permalink: z.string(),
      externalId: z.string().nullable(),
      title: beginning,
      summary: beginning,
    }),
  ),
});

const headSchema = z.object({
  status: z.object({ contexts: z.array(statusSchema) }).nullable(),
  checkSuites: wholeList(suiteSchema),
});

const newestSchema = z.object({ oid: z.string() }).and(headSchema);

const pullRequestSchema = z
  .object({
    title: z.string(),
    body: z.string(),
    // Of a closed one, REST shows more.
    state: z.literal('OPEN'),
    merged: z.literal(false),
    isDraft: z.boolean(),
    mergeable: z.enum(['MERGEABLE', 'CONFLICTING', 'UNKNOWN']),
    canBeRebased: z.boolean(),
    mergeStateStatus: lower,
    updatedAt: moment,
    changedFiles: z.int(),
    authorAssociation: z.string(),
    author: person,
    headRefOid: z.string(),
    headRefName: z.string(),
    headRepository: z.object({ databaseId: z.int(), nameWithOwner: z.string() }).nullable(),
    baseRefName: z.string(),
    baseRefOid: z.string(),
    labels: wholeList(z.object({ name: z.string() })),
  })
  .transform(
    (pull): Omit<PullRequest, 'number' | 'repositoryId' | 'defaultBranch'> => ({
      title: pull.title,
      body: pull.body,
      author: pull.author,
      state: 'open',
      closedAt: null,
      merged: false,
      mergeCommitSha: null,
      mergeable: pull.mergeable === 'UNKNOWN' ? null : pull.mergeable === 'MERGEABLE',
      rebaseable: pull.mergeable === 'UNKNOWN' ? null : pull.canBeRebased,
      mergeableState: pull.mergeStateStatus,
      mergedBy: null,
      draft: pull.isDraft,
      headSha: pull.headRefOid,
      headRef: pull.headRefName,
      headRepository: pull.headRepository?.nameWithOwner ?? null,
      headRepositoryId: pull.headRepository?.databaseId ?? null,
      baseRef: pull.baseRefName,
      baseSha: pull.baseRefOid,
      labels: pull.labels.map(({ name }) => name),
      changedFiles: pull.changedFiles,
      authorAssociation: pull.authorAssociation,
      updatedAt: pull.updatedAt,
    }),
  );

const commentSchema = z.object({
  id: z.string(),
  fullDatabaseId: bigId,
  body: z.string(),
  repository: z.object({ databaseId: z.int() }),
  author: person,
  reactions: wholeList(
    z.object({ databaseId: z.int(), content: z.string(), createdAt: moment, user }).transform(
      ({ databaseId: id, content, createdAt, user }): Reaction => ({
        id,
        person: user,
        content: CONTENTS[content] ?? content,
        createdAt,
      }),
    ),
  ),
});

const unlessOdd = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

const answerSchema = z.object({
  viewer: z.object({ databaseId: z.int() }),
  repository: z.object({
    id: z.string(),
    databaseId: z.int(),
    defaultBranchRef: tipSchema,
    pullRequest: z
      .object({
        id: z.string(),
        baseRef: unlessOdd(tipSchema),
        reviews: unlessOdd(reviewsSchema),
        commits: unlessOdd(commitsSchema),
        newest: unlessOdd(z.object({ nodes: z.tuple([z.object({ commit: newestSchema })]) })),
      })
      .and(
        z.unknown().transform((whole) => ({
          whole: pullRequestSchema.safeParse(whole).data,
          discussion: discussionSchema.safeParse(whole).data,
        })),
      ),
    object: unlessOdd(headSchema),
  }),
  organisation: z.object({ databaseId: z.int(), defaultBranchRef: unlessOdd(tipSchema) }).nullable(),
  nodes: z.array(unlessOdd(commentSchema)),
});
type Answer = z.infer<typeof answerSchema>;

/** What the queries of one installation share. */
export interface Shared {
  ownAppId: number;
  nodeIds: NodeIds;
  recent: RecentAnswers;
}

/**
 * What one query shows completely; nothing if GraphQL does not answer, or does not show the pull request itself: then
 * nobody could notice that the answer is outdated.
 */
export async function prefetch(
  client: Pick<Client, 'queryEach'>,
  { ownAppId, nodeIds, recent }: Shared,
  repo: Repo,
  number: number,
  about: Parameters<GitHubReader['prefetched']>[2],
): Promise<Prefetched> {
  const { commentNodeId } = about;
  if (about.recent !== undefined && about.headSha !== undefined) {
    const known = recent.find(repo, number, {
      headSha: about.headSha,
      checks: about.recent === 'with checks',
    });
    if (known) return known;
  }
  const keep = recent.ask(repo, number);
  const answer = await ask(client, repo, number, about.headSha, commentNodeId);
  const whole = answer?.repository.pullRequest.whole;
  if (!answer || !whole) return { over: (rest) => rest, pullRequest: undefined };
  const { repository, organisation, nodes, viewer } = answer;
  nodeIds.learn(repo, number, { repository: repository.id, pullRequest: repository.pullRequest.id });
  const { reviews, commits, baseRef, newest, discussion } = repository.pullRequest;
  const ofNewest = newest?.nodes[0].commit;
  const headSha = about.headSha ?? whole.headSha;
  const head = about.headSha === undefined && ofNewest?.oid === headSha ? ofNewest : repository.object;
  const runs = head && checkRunsOf(head.checkSuites, ownAppId);
  // Ids are global. After a transfer, another repository may have this name, where REST does not find the comment.
  const comment = nodes.find((node) => node?.repository.databaseId === repository.databaseId);
  const tips = new Map(
    [repository.defaultBranchRef, ...(baseRef ? [baseRef] : [])].map((tip) => [tip.name, tip.target.oid]),
  );
  const ofOrganisation = (other: Repo) =>
    other.owner === repo.owner &&
    other.name === ORGANISATION_REPOSITORY &&
    repo.name !== ORGANISATION_REPOSITORY;
  const isHere = (other: Repo) => other.owner === repo.owner && other.name === repo.name;
  const isHead = (other: Repo, sha: string) => isHere(other) && sha === headSha;
  const isThis = (other: Repo, of: number) => isHere(other) && of === number;
  const isAsked = (other: Repo, id: number) => isHere(other) && comment?.fullDatabaseId === id;

  const pullRequest: PullRequest = {
    ...whole,
    number,
    repositoryId: repository.databaseId,
    defaultBranch: repository.defaultBranchRef.name,
  };
  const over = (rest: GitHubReader): GitHubReader => ({
    ...rest,
    async pullRequestReviews(other, of) {
      return reviews && isThis(other, of)
        ? { reviews: reviews.toSorted(inOrder), truncated: false }
        : rest.pullRequestReviews(other, of);
    },
    async pullRequestCommits(other, of) {
      return commits && isThis(other, of)
        ? { commits, truncated: false }
        : rest.pullRequestCommits(other, of);
    },
    async checkRuns(other, sha) {
      return runs && isHead(other, sha) ? runs : rest.checkRuns(other, sha);
    },
    async checkSuites(other, sha, appId) {
      if (!head || !isHead(other, sha)) return rest.checkSuites(other, sha, appId);
      return suitesOf(head.checkSuites).filter((suite) => suite.appId === appId);
    },
    async statuses(other, sha) {
      return head && isHead(other, sha)
        ? statusesOf(head.status?.contexts ?? [], viewer.databaseId)
        : rest.statuses(other, sha);
    },
    async comment(other, id) {
      return comment && isAsked(other, id) ? commentOf(comment) : rest.comment(other, id);
    },
    async reactions(other, id) {
      return comment && isAsked(other, id) ? comment.reactions : rest.reactions(other, id);
    },
    async branchTip(other, branch) {
      const organisationTip = ofOrganisation(other) ? organisation?.defaultBranchRef : undefined;
      if (organisationTip?.name === branch) return organisationTip.target.oid;
      return (isHere(other) ? tips.get(branch) : undefined) ?? rest.branchTip(other, branch);
    },
    async repository(other) {
      if (!ofOrganisation(other) || (organisation?.defaultBranchRef === undefined && organisation !== null))
        return rest.repository(other);
      if (organisation?.defaultBranchRef)
        return { id: organisation.databaseId, defaultBranch: organisation.defaultBranchRef.name };
      throw new GitHubError('not_found', 404, `GitHub knows no repository ${other.owner}/${other.name}`);
    },
    prefetched: async (other, of, asked) => {
      const isSame = isThis(other, of) && asked.headSha === headSha && asked.commentNodeId === undefined;
      return isSame ? found : rest.prefetched(other, of, asked);
    },
  });
  const found: Prefetched = { over, pullRequest, discussion };
  if (commentNodeId === undefined) keep(headSha, found);
  return found;
}

const ASIDE =
  /^repository\.pullRequest\.(reviewDecision|reviewThreads|baseRef\.refUpdateRule|baseRef\.rules)\b/;

async function ask(
  client: Pick<Client, 'queryEach'>,
  { owner, name }: Repo,
  number: number,
  head: string | undefined,
  comment: string | undefined,
): Promise<Answer | undefined> {
  try {
    const text = head === undefined ? OF_NEWEST_HEAD : OF_KNOWN_HEAD;
    const variables = {
      owner,
      name,
      number,
      comments: comment === undefined ? [] : [comment],
      ...(head === undefined ? {} : { head }),
    };
    const { data, errors } = await client.queryEach(text, variables, answerSchema);
    const isAbsence = ({ type, path }: (typeof errors)[number]) =>
      type === 'NOT_FOUND' && path?.join() === 'organisation';
    // Only shown to people, so that everything else still counts if GitHub hides it.
    const isAside = ({ path }: (typeof errors)[number]) => ASIDE.test(path?.join('.') ?? '');
    // Anything else that GitHub does not show could look like an empty list.
    const isExplained = data.organisation !== null || errors.some(isAbsence);
    return isExplained && errors.every((error) => isAbsence(error) || isAside(error)) ? data : undefined;
  } catch (error) {
    if (!(error instanceof GitHubError) || error instanceof SignInRefused) throw error;
    return undefined;
  }
}

function inOrder(one: Review, other: Review): number {
  return (
    (one.submittedAt?.getTime() ?? Number.POSITIVE_INFINITY) -
      (other.submittedAt?.getTime() ?? Number.POSITIVE_INFINITY) || one.id - other.id
  );
}

type Suite = z.infer<typeof suiteSchema>;

/**
 * All check runs; `undefined` if two of another app have the same name in one suite. Which of them REST's
 * `filter=latest` leaves out is then for REST to say.
 */
function checkRunsOf(suites: readonly Suite[], ownAppId: number): CheckRunFacts[] | undefined {
  for (const { app, checkRuns } of suites) {
    const names = new Set(checkRuns.map(({ name }) => name));
    if (app?.databaseId !== ownAppId && names.size < checkRuns.length) return undefined;
  }
  return suites.flatMap(({ databaseId: suiteId, app, workflowRun, checkRuns }) =>
    checkRuns.map(({ databaseId: id, permalink: url, ...run }) => ({
      ...run,
      id,
      url,
      suiteId,
      appId: app?.databaseId ?? null,
      workflowRunId: workflowRun?.databaseId ?? null,
    })),
  );
}

function suitesOf(suites: readonly Suite[]): CheckSuiteFacts[] {
  return suites.map(({ app, status, checkRuns }) => ({
    appId: app?.databaseId ?? null,
    appName: app?.name ?? 'another app',
    status,
    checkRuns: checkRuns.length,
  }));
}

/** GraphQL does not name the app that a comment was written through. Its author is the app's own account. */
function commentOf({
  id: nodeId,
  fullDatabaseId: id,
  body,
  author,
  reactions,
}: z.infer<typeof commentSchema>): CommentFacts {
  const counts: Record<string, number> = {};
  for (const { content } of reactions) counts[content] = (counts[content] ?? 0) + 1;
  return { id, nodeId, body, author, viaAppId: null, reactions: counts };
}
