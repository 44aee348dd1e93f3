import { ApiError, notFound } from '../api-error.ts';
import { allows, reaches, type Token } from '../auth.ts';
import type { Commit, Signature } from '../git/objects.ts';
import { resolveConversation } from '../operations/pulls.ts';
import { dequeue, enqueue, entryOf } from '../operations/queue.ts';
import { associationOf } from '../rules/association.ts';
import { latestRuns, latestStatuses, suiteState } from '../rules/checks.ts';
import { mergeability } from '../rules/mergeability.ts';
import { mergeQueueOf, requiredChecksOfGroup, reviewDecision, rulesetsOf } from '../rules/requirements.ts';
import type { State } from '../state.ts';
import { iso, nodeId } from '../views/account.ts';
import { viewCheckRun } from '../views/check.ts';
import { accountOf } from '../views/commit.ts';
import { changesOf, commitsOf } from '../views/pull.ts';
import type {
  Account,
  CheckRun,
  CheckSuite,
  Comment,
  CommitStatus,
  PullRequest,
  QueueEntry,
  ReactionContent,
  Repository,
  ReviewComment,
  Ruleset,
} from '../world.ts';
import { fullName, isPullRequest } from '../world.ts';
import { connection, GraphqlError, type Node } from './node.ts';

// The part of GitHub's schema that this app's queries may use, with GitHub's names and nullability:
// https://docs.github.com/en/graphql/reference

/** @param errors of single nodes, which GitHub reports beside the data of the others */
export function queryNode(state: State, token: Token, errors: GraphqlError[] = []): Node {
  return {
    type: 'Query',
    fields: {
      nodes: ({ ids }) => nodesById(state, token, Array.isArray(ids) ? ids : [], errors),
      // For an installation's token it is the app's bot.
      viewer: () => ({
        type: 'Bot',
        fields: { ...actorNode(state.app.bot).fields, login: () => state.app.bot.login },
      }),
      repository: ({ owner, name }, alias) => {
        const repository = state.findRepository(String(owner), String(name));
        if (repository && reaches(state, token, repository)) return repositoryNode(state, token, repository);
        const message = `Could not resolve to a Repository with the name '${owner}/${name}'.`;
        errors.push(new GraphqlError('NOT_FOUND', message, [alias]));
        return null;
      },
    },
  };
}

/**
 * 100 at a time, in the order of their ids; one that does not exist, or is out of reach, is `null` beside an error:
 * https://github.com/sourcecred/sourcecred/pull/908
 */
function nodesById(
  state: State,
  token: Token,
  ids: readonly unknown[],
  errors: GraphqlError[],
): (Node | null)[] {
  if (ids.length > 100)
    throw new GraphqlError(
      'ARGUMENT_LIMIT',
      `You may not provide more than 100 node ids; you provided ${ids.length}.`,
      ['nodes'],
    );
  const comments = new Map(
    state
      .repositories()
      .flatMap((repository) => [...repository.issues.values()])
      .flatMap((issue) => issue.comments)
      .map((comment) => [nodeId('IssueComment', comment.id), comment]),
  );
  return ids.map((id, index) => {
    const comment = comments.get(String(id));
    const repository = comment?.issue.repository;
    if (comment && repository && reaches(state, token, repository) && mayReadComments(token))
      return commentNode(state, token, comment);
    const message = `Could not resolve to a node with the global id of '${String(id)}'.`;
    errors.push(new GraphqlError('NOT_FOUND', message, ['nodes', index]));
    return null;
  });
}

function mayReadComments({ permissions }: Token): boolean {
  return allows(permissions, 'issues', 'read') || allows(permissions, 'pull_requests', 'read');
}

/** https://docs.github.com/en/graphql/reference/objects#issuecomment */
function commentNode(state: State, token: Token, comment: Comment): Node {
  const { issue } = comment;
  return {
    type: 'IssueComment',
    fields: {
      id: () => nodeId('IssueComment', comment.id),
      databaseId: () => comment.id,
      // A `BigInt`, which is a string in JSON.
      fullDatabaseId: () => String(comment.id),
      body: () => comment.body,
      updatedAt: () => iso(comment.updatedAt),
      isMinimized: () => comment.minimizedReason !== null,
      minimizedReason: () => comment.minimizedReason,
      author: () => actorNode(comment.author),
      pullRequest: () => (isPullRequest(issue) ? pullRequestNode(state, token, issue) : null),
      repository: () => repositoryNode(state, token, issue.repository),
      reactions: (args) =>
        connection('Reaction', 'reactions', comment.reactions, args, (reaction) => ({
          type: 'Reaction',
          fields: {
            id: () => nodeId('Reaction', reaction.id),
            databaseId: () => reaction.id,
            content: () => REACTION_CONTENTS[reaction.content],
            createdAt: () => iso(reaction.createdAt),
            // GitHub's type is `User`, which is no bot.
            user: () => (reaction.author.type === 'User' ? actorNode(reaction.author) : null),
          },
        })),
    },
  };
}

/** https://docs.github.com/en/graphql/reference/enums#reactioncontent */
const REACTION_CONTENTS: Readonly<Record<ReactionContent, string>> = {
  '+1': 'THUMBS_UP',
  '-1': 'THUMBS_DOWN',
  laugh: 'LAUGH',
  confused: 'CONFUSED',
  heart: 'HEART',
  hooray: 'HOORAY',
  rocket: 'ROCKET',
  eyes: 'EYES',
};

/** https://docs.github.com/en/graphql/reference/enums#mergeablestate */
function mergeableState(mergeable: boolean | null): string {
  if (mergeable === null) return 'UNKNOWN';
  return mergeable ? 'MERGEABLE' : 'CONFLICTING';
}

export function mutationNode(state: State, token: Token): Node {
  return {
    type: 'Mutation',
    fields: {
      enqueuePullRequest: ({ input }) => {
        const { pullRequestId, expectedHeadOid, jump } = record(input);
        return queued('EnqueuePullRequestPayload', 'enqueuePullRequest', () => {
          const pr = pullRequestById(state, token, pullRequestId);
          const options = {
            expectedHeadOid: typeof expectedHeadOid === 'string' ? expectedHeadOid : undefined,
            jump: jump === true,
          };
          return enqueue(state, pr, state.app.bot, options);
        });
      },
      dequeuePullRequest: ({ input }) =>
        queued('DequeuePullRequestPayload', 'dequeuePullRequest', () =>
          dequeue(state, pullRequestById(state, token, record(input).id), state.app.bot),
        ),
      minimizeComment: ({ input }) => minimize(record(input)),
      resolveReviewThread: ({ input }) => resolve(record(input)),
    },
  };

  /**
   * https://docs.github.com/en/graphql/reference/mutations#resolvereviewthread. It needs `contents: write`, too:
   * https://github.com/github/gh-aw/issues/35726
   */
  function resolve({ threadId }: Readonly<Record<string, unknown>>): Node {
    const path = 'resolveReviewThread';
    const found = state
      .repositories()
      .flatMap(({ issues }) => [...issues.values()].filter(isPullRequest))
      .flatMap((pr) =>
        pr.pull.reviews.flatMap(({ comments }) => comments.map((comment) => ({ pr, comment }))),
      )
      .find(({ comment }) => nodeId('PullRequestReviewThread', comment.id) === threadId);
    if (!found)
      throw new GraphqlError('NOT_FOUND', 'Could not resolve to a node with the global id.', [path]);
    need(token, 'contents', 'write', path);
    need(token, 'pull_requests', 'write', path);
    resolveConversation(state, found.pr, found.comment.id, state.app.bot, true);
    return {
      type: 'ResolveReviewThreadPayload',
      fields: { clientMutationId: () => null, thread: () => threadNode(found.comment) },
    };
  }

  /** https://docs.github.com/en/graphql/reference/mutations#minimizecomment. It changes neither the text nor when it was updated. */
  function minimize({ subjectId, classifier }: Readonly<Record<string, unknown>>): Node {
    const path = ['minimizeComment'];
    const comment = state
      .repositories()
      .flatMap(({ issues }) => [...issues.values()].flatMap(({ comments }) => comments))
      .find(({ id }) => nodeId('IssueComment', id) === subjectId);
    if (!comment)
      throw new GraphqlError('NOT_FOUND', 'Could not resolve to a node with the global id.', path);
    need(token, isPullRequest(comment.issue) ? 'pull_requests' : 'issues', 'write', 'minimizeComment');
    comment.minimizedReason = String(classifier).toLowerCase();
    return {
      type: 'MinimizeCommentPayload',
      fields: {
        clientMutationId: () => null,
        minimizedComment: () => commentNode(state, token, comment),
      },
    };
  }

  /** Every refusal is `UNPROCESSABLE`; only the message differs. */
  function queued(type: string, path: string, act: () => QueueEntry): Node {
    // GitHub documents no permission for it. Workflows use a token that has these two, and cannot be given `merge_queues`.
    need(token, 'contents', 'write', path);
    need(token, 'pull_requests', 'write', path);
    try {
      const entry = act();
      return {
        type,
        fields: { clientMutationId: () => null, mergeQueueEntry: () => entryNode(state, token, entry) },
      };
    } catch (error) {
      if (error instanceof ApiError) throw new GraphqlError('UNPROCESSABLE', error.message, [path]);
      throw error;
    }
  }
}

/** The payload of a mutation that was carried out as a request of REST, with what that answered. */
export function writtenNode(state: State, token: Token, mutation: string, answer: unknown): Node {
  const { id } = record(answer);
  const repositories = state.repositories();
  const comment = () => {
    const found = repositories
      .flatMap(({ issues }) => [...issues.values()].flatMap(({ comments }) => comments))
      .find((one) => one.id === id);
    return found ? commentNode(state, token, found) : null;
  };
  const run = () => {
    const found = repositories
      .flatMap(({ checkSuites }) => checkSuites.flatMap(({ runs }) => runs))
      .find((one) => one.id === id);
    return found ? runNode(state, found) : null;
  };
  const payload: Node = {
    type: `${mutation}Payload`,
    fields: {
      clientMutationId: () => null,
      checkRun: run,
      issueComment: comment,
      commentEdge: () => ({ type: 'IssueCommentEdge', fields: { node: comment } }),
    },
  };
  return { type: 'Mutation', fields: { [mutation]: () => payload } };
}

function repositoryNode(state: State, token: Token, repository: Repository): Node {
  return {
    type: 'Repository',
    fields: {
      id: () => nodeId('Repository', repository.id),
      databaseId: () => repository.id,
      nameWithOwner: () => fullName(repository),
      defaultBranchRef: () => refNode(repository, repository.defaultBranch),
      object: ({ oid }) => {
        const sha = String(oid);
        return repository.git.commit(sha) ? commitNode(state, token, repository, sha) : null;
      },
      pullRequest: ({ number }) => {
        need(token, 'pull_requests', 'read', 'repository');
        const issue = repository.issues.get(Number(number));
        if (!issue || !isPullRequest(issue))
          throw new GraphqlError(
            'NOT_FOUND',
            `Could not resolve to a PullRequest with the number of ${number}.`,
            ['repository', 'pullRequest'],
          );
        return pullRequestNode(state, token, issue);
      },
      mergeQueue: ({ branch }) => {
        need(token, 'merge_queues', 'read', 'repository');
        const name = typeof branch === 'string' ? branch : repository.defaultBranch;
        return mergeQueueOf(state, repository, name) ? queueNode(state, token, repository, name) : null;
      },
    },
  };
}

function queueNode(state: State, token: Token, repository: Repository, branch: string): Node {
  return {
    type: 'MergeQueue',
    fields: {
      id: () => nodeId('MergeQueue', `${repository.id} ${branch}`),
      entries: (args) =>
        connection('MergeQueueEntry', 'entries', repository.queues.get(branch) ?? [], args, (entry) =>
          entryNode(state, token, entry),
        ),
    },
  };
}

function entryNode(state: State, token: Token, entry: QueueEntry): Node {
  const { pr } = entry;
  const { repository } = pr;
  const queue = repository.queues.get(pr.pull.base.ref) ?? [];
  return {
    type: 'MergeQueueEntry',
    fields: {
      id: () => nodeId('MergeQueueEntry', entry.id),
      position: () => queue.indexOf(entry) + 1,
      state: () => entryState(entry),
      enqueuedAt: () => iso(entry.enqueuedAt),
      enqueuer: () => actorNode(entry.by),
      jump: () => false,
      solo: () => false,
      headCommit: () => (entry.group ? commitNode(state, token, repository, entry.group.headSha) : null),
      baseCommit: () => (entry.group ? commitNode(state, token, repository, entry.group.baseSha) : null),
      pullRequest: () => pullRequestNode(state, token, pr),
    },
  };
}

/** https://docs.github.com/en/graphql/reference/enums#mergequeueentrystate */
function entryState({ group, pr }: QueueEntry): string {
  if (!group) return 'QUEUED';
  const standing = requiredChecksOfGroup(pr.repository, pr.pull.base.ref, group.headSha);
  if (standing === 'waiting') return 'AWAITING_CHECKS';
  return standing === 'green' ? 'MERGEABLE' : 'UNMERGEABLE';
}

function pullRequestNode(state: State, token: Token, pr: PullRequest): Node {
  const { pull, repository } = pr;
  const entry = entryOf(pr);
  return {
    type: 'PullRequest',
    fields: {
      id: () => nodeId('PullRequest', pull.id),
      databaseId: () => pull.id,
      number: () => pr.number,
      title: () => pr.title,
      body: () => pr.body ?? '',
      updatedAt: () => iso(pr.updatedAt),
      author: () => actorNode(pr.author),
      authorAssociation: () => associationOf(state, repository, pr.author, 'pull request'),
      changedFiles: () => changesOf(pr).length,
      labels: (args) =>
        connection('Label', 'labels', pr.labels, args, ({ name }) => ({
          type: 'Label',
          fields: { name: () => name },
        })),
      headRepository: () =>
        state.repositoryById(pull.head.repository.id)
          ? repositoryNode(state, token, pull.head.repository)
          : null,
      baseRefOid: () => pull.base.sha,
      baseRef: () => refNode(repository, pull.base.ref),
      canBeRebased: () => mergeability(state, pr).rebaseable === true,
      reviews: (args) =>
        connection('PullRequestReview', 'reviews', pull.reviews, args, (review) => ({
          type: 'PullRequestReview',
          fields: {
            fullDatabaseId: () => String(review.id),
            state: () => review.state,
            submittedAt: () => iso(review.submittedAt),
            commit: () => commitNode(state, token, repository, review.commitSha),
            author: () => actorNode(review.author),
          },
        })),
      reviewDecision: () => reviewDecision(state, pr),
      reviewThreads: (args) =>
        connection(
          'PullRequestReviewThread',
          'reviewThreads',
          pull.reviews.flatMap(({ comments }) => comments.filter(({ replyTo }) => !replyTo)),
          args,
          (comment) => threadNode(comment),
        ),
      state: () => (pull.merged ? 'MERGED' : pr.state === 'open' ? 'OPEN' : 'CLOSED'),
      merged: () => pull.merged !== undefined,
      isDraft: () => pull.draft,
      headRefOid: () => pull.head.sha,
      headRefName: () => pull.head.ref,
      baseRefName: () => pull.base.ref,
      mergeable: () => mergeableState(mergeability(state, pr).mergeable),
      mergeStateStatus: () => mergeability(state, pr).mergeable_state.toUpperCase(),
      isInMergeQueue: () => entry !== undefined,
      isMergeQueueEnabled: () => mergeQueueOf(state, repository, pull.base.ref) !== undefined,
      mergeQueueEntry: () => {
        need(token, 'merge_queues', 'read', 'mergeQueueEntry');
        return entry ? entryNode(state, token, entry) : null;
      },
      autoMergeRequest: () =>
        pull.autoMerge
          ? {
              type: 'AutoMergeRequest',
              fields: {
                enabledBy: () => (pull.autoMerge ? actorNode(pull.autoMerge.by) : null),
                mergeMethod: () => pull.autoMerge?.method.toUpperCase() ?? null,
              },
            }
          : null,
      commits: (args) =>
        connection('PullRequestCommit', 'commits', commitsOf(pr), args, ({ sha }) => ({
          type: 'PullRequestCommit',
          fields: { commit: () => commitNode(state, token, repository, sha) },
        })),
    },
  };
}

/** `null` for a branch that does not exist. */
function refNode(repository: Repository, name: string): Node | null {
  const sha = repository.branches.get(name);
  if (sha === undefined) return null;
  return {
    type: 'Ref',
    fields: {
      name: () => name,
      target: () => ({ type: 'Commit', fields: { oid: () => sha } }),
      refUpdateRule: () => updateRuleNode(repository, name),
      rules: (args) =>
        connection('RepositoryRule', 'rules', rulesetsOf(repository, name).flatMap(rulesOf), args, ruleNode),
    },
  };
}

/**
 * The part of a branch's protection that holds for the one who asks, and that everybody may read. `null` without a protection:
 * https://docs.github.com/en/graphql/reference/objects#refupdaterule, https://github.com/fpicalausa/remove-stale-branches/pull/76
 */
function updateRuleNode(repository: Repository, branch: string): Node | null {
  const protection = repository.protections.get(branch);
  if (!protection) return null;
  const { approvals, conversations } = protection;
  return {
    type: 'RefUpdateRule',
    fields: {
      requiredApprovingReviewCount: () => (approvals === 0 ? null : approvals),
      requiresConversationResolution: () => conversations,
    },
  };
}

interface Rule {
  type: string;
  parameters: Node | null;
}

/** https://docs.github.com/en/graphql/reference/unions#ruleparameters */
function rulesOf({ checks, approvals, conversations, mergeQueue }: Ruleset): Rule[] {
  const reviewed: Node = {
    type: 'PullRequestParameters',
    fields: {
      requiredApprovingReviewCount: () => approvals,
      requiredReviewThreadResolution: () => conversations,
    },
  };
  return [
    ...(checks.length > 0 ? [{ type: 'REQUIRED_STATUS_CHECKS', parameters: null }] : []),
    ...(approvals > 0 || conversations ? [{ type: 'PULL_REQUEST', parameters: reviewed }] : []),
    ...(mergeQueue ? [{ type: 'MERGE_QUEUE', parameters: null }] : []),
  ];
}

function ruleNode({ type, parameters }: Rule): Node {
  return { type: 'RepositoryRule', fields: { type: () => type, parameters: () => parameters } };
}

function commitNode(state: State, token: Token, repository: Repository, sha: string): Node {
  const commit = repository.git.commitAt(sha);
  // GitHub's type is `User`, which is no bot.
  const gitActor = (signature: Signature): Node => {
    const account = accountOf(state, signature);
    return {
      type: 'GitActor',
      fields: {
        email: () => signature.email,
        user: () => (account?.type === 'User' ? actorNode(account) : null),
      },
    };
  };
  return {
    type: 'Commit',
    fields: {
      oid: () => sha,
      message: () => commit.message,
      author: () => gitActor(commit.author),
      committer: () => gitActor(commit.committer),
      signature: () =>
        state.verified.has(sha) ? { type: 'GpgSignature', fields: { isValid: () => true } } : null,
      status: () => {
        need(token, 'statuses', 'read', 'repository');
        const statuses = latestStatuses(repository, sha);
        if (statuses.length === 0) return null;
        return { type: 'Status', fields: { contexts: () => statuses.map(statusNode) } };
      },
      checkSuites: (args) => {
        need(token, 'checks', 'read', 'repository');
        const suites = repository.checkSuites.filter((suite) => suite.headSha === sha);
        return connection('CheckSuite', 'checkSuites', suites, args, (suite) => suiteNode(state, suite));
      },
      authors: (args) =>
        connection('GitActor', 'authors', creditedBy(state, commit), args, (account) => ({
          type: 'GitActor',
          fields: { user: () => (account ? actorNode(account) : null) },
        })),
    },
  };
}

/** The author first, then the accounts whose addresses are in the trailers. */
function creditedBy(state: State, { author, message }: Commit): (Account | undefined)[] {
  const trailers = [...message.matchAll(/^co-authored-by:.*<([^<>]+)>\s*$/gim)];
  const emails = [author.email, ...trailers.map((match) => match[1] ?? '')];
  return emails.map((email) => accountOf(state, { ...author, email }));
}

/** https://docs.github.com/en/graphql/reference/objects#statuscontext */
function statusNode({ context, state, description, targetUrl, createdAt, creator }: CommitStatus): Node {
  return {
    type: 'StatusContext',
    fields: {
      context: () => context,
      state: () => state.toUpperCase(),
      description: () => description,
      targetUrl: () => targetUrl,
      creator: () => actorNode(creator),
      createdAt: () => iso(createdAt),
    },
  };
}

/** https://docs.github.com/en/graphql/reference/objects#checksuite */
function suiteNode(state: State, suite: CheckSuite): Node {
  const isWorkflow = suite.app.slug === 'github-actions';
  return {
    type: 'CheckSuite',
    fields: {
      databaseId: () => suite.id,
      status: () => suiteState(suite).status.toUpperCase(),
      app: () => ({
        type: 'App',
        fields: { databaseId: () => suite.app.id, name: () => suite.app.name, slug: () => suite.app.slug },
      }),
      workflowRun: () =>
        isWorkflow ? { type: 'WorkflowRun', fields: { databaseId: () => suite.id } } : null,
      checkRuns: (args) => {
        const { filterBy } = args;
        const isAll = record(filterBy).checkType === 'ALL';
        const runs = isAll ? suite.runs : latestRuns(suite);
        return connection('CheckRun', 'checkRuns', runs, args, (run) => runNode(state, run));
      },
    },
  };
}

/** https://docs.github.com/en/graphql/reference/objects#checkrun */
function runNode(state: State, run: CheckRun): Node {
  return {
    type: 'CheckRun',
    fields: {
      id: () => nodeId('CheckRun', run.id),
      databaseId: () => run.id,
      name: () => run.name,
      status: () => run.status.toUpperCase(),
      conclusion: () => run.conclusion?.toUpperCase() ?? null,
      startedAt: () => iso(run.startedAt),
      completedAt: () => (run.completedAt ? iso(run.completedAt) : null),
      permalink: () => viewCheckRun(state, run).html_url,
      externalId: () => run.externalId,
      title: () => run.title,
      summary: () => run.summary,
    },
  };
}

/** Without the suffix of a bot's login in REST: https://github.com/marcusquinn/aidevops/issues/29778 */
function actorNode({ id, login, type }: Account): Node {
  const name = type === 'Bot' ? login.replace(/\[bot\]$/, '') : login;
  return { type, fields: { login: () => name, databaseId: () => id } };
}

function pullRequestById(state: State, token: Token, id: unknown): PullRequest {
  const pr = state.pullRequests().find(({ pull }) => nodeId('PullRequest', pull.id) === id);
  if (!pr || !reaches(state, token, pr.repository)) throw notFound();
  return pr;
}

function need(token: Token, permission: string, level: 'read' | 'write', path: string): void {
  if (!allows(token.permissions, permission, level))
    throw new GraphqlError('FORBIDDEN', 'Resource not accessible by integration', [path]);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function threadNode(comment: ReviewComment): Node {
  return {
    type: 'PullRequestReviewThread',
    fields: {
      id: () => nodeId('PullRequestReviewThread', comment.id),
      isResolved: () => comment.isResolved,
      comments: (args) =>
        connection('PullRequestReviewComment', 'comments', [comment], args, ({ id }) => ({
          type: 'PullRequestReviewComment',
          fields: { fullDatabaseId: () => String(id) },
        })),
    },
  };
}
