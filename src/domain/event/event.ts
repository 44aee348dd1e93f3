import { z } from 'zod';
import { REVIEW_STATES } from '../chain/trigger-schema.ts';
import { askedByCommandSchema } from '../command/order.ts';

/** A repository under its name at that moment. The id survives a rename, the name does not. */
export const repositoryRefSchema = z.strictObject({
  id: z.int(),
  owner: z.string(),
  name: z.string(),
});
export type RepositoryRef = z.infer<typeof repositoryRefSchema>;

const location = {
  installation_id: z.int(),
  repository: repositoryRefSchema,
};

const onPullRequest = { ...location, pull_request: z.int() };

/** Why a pull request is read again. Shown to people; decisions use the state read from GitHub. */
const PULL_REQUEST_ACTIONS = [
  'opened',
  'reopened',
  'synchronize',
  'ready_for_review',
  'converted_to_draft',
  'edited',
  'labeled',
  'unlabeled',
  'reconciled',
] as const;

/** When GitHub last changed the pull request. Its API can lag behind its own webhook. */
const lastUpdated = { updated_at: z.string().optional() };

const prOpened = z.strictObject({
  kind: z.literal('pr.opened'),
  ...onPullRequest,
  action: z.enum(PULL_REQUEST_ACTIONS),
  ...lastUpdated,
});
const prUpdated = z.strictObject({
  kind: z.literal('pr.updated'),
  ...onPullRequest,
  action: z.enum(PULL_REQUEST_ACTIONS),
  ...lastUpdated,
});
const prMerged = z.strictObject({ kind: z.literal('pr.merged'), ...onPullRequest });
const prClosed = z.strictObject({ kind: z.literal('pr.closed'), ...onPullRequest });
/** The beginning of a description, which filters search. Events and runs do not keep more of it. */
export const KEPT_BODY = 4_096;
/** What GitHub's payload says of an issue. */
const issueFields = {
  title: z.string(),
  author: z.string(),
  labels: z.array(z.string()),
  /** Absent in older rows, as is the body. */
  association: z.string().optional(),
  body: z.string().max(KEPT_BODY).optional(),
};
/** A person added a label. `at` is GitHub's time of the change, which a redelivery repeats. */
const labelAdded = { label: z.string(), actor: z.string(), at: z.string() };
/**
 * The base and head of the pull request in the payload. The base only tells whether chains may wait; decisions read it
 * again. The head tells what a person spoke about; absent in older rows.
 */
const baseThen = { base_ref: z.string(), head_sha: z.string().optional() };
const prLabeled = z.strictObject({
  kind: z.literal('pr.labeled'),
  ...onPullRequest,
  ...baseThen,
  ...labelAdded,
});
const prReviewSubmitted = z.strictObject({
  kind: z.literal('pr.review_submitted'),
  ...onPullRequest,
  ...baseThen,
  review_id: z.int(),
  review: z.enum(REVIEW_STATES),
  reviewer: z.string(),
});
const issueLabeled = z.strictObject({
  kind: z.literal('issue.labeled'),
  ...location,
  issue: z.int(),
  ...issueFields,
  ...labelAdded,
});
const releasePublished = z.strictObject({
  kind: z.literal('release.published'),
  ...location,
  release_id: z.int(),
  tag: z.string(),
  title: z.string(),
  body: z.string().max(KEPT_BODY),
  prerelease: z.boolean(),
  author: z.string(),
});
/** A step of a run completed, and some chain of the repository waits for that. */
const invocationCompleted = z.strictObject({
  kind: z.literal('invocation.completed'),
  ...location,
  pull_request: z.int().nullable(),
  /** The branch whose configuration governs the run. */
  branch: z.string(),
  default_branch: z.string(),
  base_ref: z.string(),
  head_sha: z.string(),
  run_id: z.string(),
  /** The first of the runs that started one another; absent in events of older versions. */
  root: z.string().optional(),
  chain: z.string(),
  step: z.string(),
  /** The artifact of the outcome. A step that runs again has another. */
  artifact_id: z.string(),
  outcome_kind: z.string(),
  verdict: z.string().nullable(),
  passed: z.boolean().nullable(),
  summary: z.string(),
  /** How many runs started one another until this one; 1 for the first. */
  depth: z.int().positive(),
  /** Whose activity began the first of the runs, where that could be anybody's; `null` stands for somebody unknown. */
  brought_by: z.array(z.string().nullable()).optional(),
});
const issueCreated = z.strictObject({
  kind: z.literal('issue.created'),
  ...location,
  issue: z.int(),
  ...issueFields,
});
/** A push to a branch, with the files that its commits name. */
const fileChanged = z.strictObject({
  kind: z.literal('file.changed'),
  ...location,
  branch: z.string(),
  default_branch: z.string(),
  before_sha: z.string(),
  /** The push rewrote history, so the paths do not include what it removed. */
  forced: z.boolean(),
  head_sha: z.string(),
  pusher: z.string(),
  paths: z.array(z.string()),
});
const ciChanged = z.strictObject({
  kind: z.literal('ci.changed'),
  ...location,
  head_sha: z.string(),
  /** The check or commit status that ended; absent if none did. */
  ended: z
    .strictObject({
      id: z.int(),
      name: z.string(),
      conclusion: z.string(),
      /** The branch of which GitHub says that the commit is its head. */
      branch: z.string().optional(),
      default_branch: z.string(),
      /** The run of a workflow whose job the check is. */
      workflow_run: z.int().optional(),
    })
    .optional(),
});
/** GitHub's merge queue made a commit of one or more pull requests and waits for its checks. */
const groupRequested = z.strictObject({
  kind: z.literal('group.requested'),
  ...location,
  head_sha: z.string(),
  base_ref: z.string(),
});
/** That commit was merged into its branch, or the queue discarded it. */
const groupDestroyed = z.strictObject({
  kind: z.literal('group.destroyed'),
  ...location,
  head_sha: z.string(),
  base_ref: z.string(),
  reason: z.string(),
});
/** A change that may affect an open approval comment: a review, an edited or deleted comment. */
const approvalChanged = z.strictObject({ kind: z.literal('approval.changed'), ...onPullRequest });
/** A person wrote to the app in a comment on a pull request, or pressed a button of its check run or in Studio. */
const commandIssued = z.strictObject({
  kind: z.literal('command.issued'),
  ...onPullRequest,
  actor: z.string(),
  /** The text that contains the command. A button's is the command that it stands for. */
  text: z.string(),
  via: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('comment'), comment_id: z.int(), created_at: z.string() }),
    z.strictObject({
      kind: z.literal('button'),
      head_sha: z.string(),
      /** The tag of the approval comment that the button answers. */
      question: z.string().optional(),
    }),
    z.strictObject({
      kind: z.literal('studio'),
      /** The row that gets the reply. */
      command: z.string(),
      /** What the person saw. */
      head_sha: z.string(),
      at: z.iso.datetime(),
      /** Of the run that the command fires. The person waits for it. */
      run_id: z.string().optional(),
    }),
  ]),
});
/**
 * A person replied in a conversation on a line of a pull request, and asks or mentions somebody. The text is read from GitHub when it
 * is answered, because it can be edited or deleted until then.
 */
const threadReplied = z.strictObject({
  kind: z.literal('thread.replied'),
  ...onPullRequest,
  actor: z.string(),
  comment_id: z.int(),
  /** The comment with which the conversation began. */
  thread: z.int(),
});
const manualFired = z.strictObject({
  kind: z.literal('manual.fired'),
  ...location,
  /**
   * Id of the run to begin, chosen by the event's creator, so that a job that runs twice begins only one run.
   * Absent in older rows.
   */
  run_id: z.string().optional(),
  /** The run to begin again. What triggered that run counts, and not who asked for it again. */
  again: z.string().optional(),
  /** A `repository_dispatch` asked for it, which anybody who can write may send. */
  dispatched: z.literal(true).optional(),
  /** The command that asked for it. Before its turn comes, people can give other commands and push. */
  asked_by: askedByCommandSchema.optional(),
  chain: z.string(),
  /** `null`: fired for a branch. */
  pull_request: z.int().nullable(),
  /** The branch that it is fired for. Absent for a pull request, and for the default branch. */
  ref: z.string().optional(),
  actor: z.string(),
  /** As given: texts of people, or what a payload has. They are read when the run begins. */
  inputs: z.record(z.string(), z.json()),
});

/**
 * A person pressed a button of a run that is about no pull request: GitHub's or this app's of its check run, or in
 * Studio.
 */
const runRequested = z.strictObject({
  kind: z.literal('run.requested'),
  ...location,
  asks: z.enum(['rerun', 'cancel']),
  /** `null`: all such runs of the commit. */
  run_id: z.string().nullable(),
  head_sha: z.string(),
  actor: z.string(),
  /** The row of Studio that gets the reply. */
  studio: z.string().optional(),
});

/** A person asked in Studio to fire a chain for the default branch. */
const fireRequested = z.strictObject({
  kind: z.literal('fire.requested'),
  ...location,
  chain: z.string(),
  inputs: z.record(z.string(), z.string()),
  actor: z.string(),
  /** The run to begin, and the row of Studio that gets the reply. */
  run_id: z.string(),
  at: z.iso.datetime(),
});

/** A schedule of a chain came due. */
const scheduleFired = z.strictObject({
  kind: z.literal('schedule.fired'),
  ...location,
  firing_id: z.string(),
  run_id: z.string(),
  chain: z.string(),
  /** The schedule's key. */
  schedule: z.string(),
  due_at: z.string(),
});

/** GitHub said that the whole installation is out of reach. */
const installationGone = z.strictObject({
  kind: z.literal('installation.gone'),
  installation_id: z.int(),
  because: z.enum(['uninstalled', 'suspended']),
});
/** One repository is out of reach, or accepts no writes. */
const repositoryGone = z.strictObject({
  kind: z.literal('repository.gone'),
  ...location,
  because: z.enum(['deleted', 'archived', 'taken_out', 'transferred']),
});
/** GitHub accepts requests of this app again, for the whole installation or for one of its repositories. */
const installationBack = z.strictObject({
  kind: z.literal('installation.back'),
  installation_id: z.int(),
  because: z.enum(['unsuspended', 'unarchived', 'taken_in']),
});
/** The repository has a new name. */
const repositoryRenamed = z.strictObject({ kind: z.literal('repository.renamed'), ...location });

/** An event, as a closed union. Entry points make events, the engine reads them. */
export const eventSchema = z.discriminatedUnion('kind', [
  prOpened,
  prUpdated,
  prMerged,
  prClosed,
  prLabeled,
  prReviewSubmitted,
  issueCreated,
  issueLabeled,
  releasePublished,
  invocationCompleted,
  fileChanged,
  ciChanged,
  groupRequested,
  groupDestroyed,
  approvalChanged,
  commandIssued,
  threadReplied,
  manualFired,
  runRequested,
  fireRequested,
  scheduleFired,
  installationGone,
  installationBack,
  repositoryGone,
  repositoryRenamed,
]);
export type Event = z.infer<typeof eventSchema>;
type EventKind = Event['kind'];
export type EventOf<K extends EventKind> = Extract<Event, { kind: K }>;
/** Events of one repository, which can trigger a run. Events of a whole installation cannot. */
export type RepositoryEvent = Extract<Event, { repository: RepositoryRef }>;

/**
 * Whose activity an event was, where that can be anybody's: reviews and issues need no more than read access. `null` stands for
 * somebody unknown. Empty where only people with access can cause it.
 * @param pullRequest the one that it counts for, whose author answers for its head and its checks
 */
export function broughtBy(event: Event, pullRequest: number | null): readonly (string | null)[] {
  switch (event.kind) {
    case 'pr.review_submitted':
      return [event.reviewer];
    case 'invocation.completed':
      return event.brought_by ?? [];
    case 'issue.created':
    case 'issue.labeled':
      return [event.author];
    case 'ci.changed': {
      // A commit of another branch can come from anybody who may push, and one without a branch from a fork.
      const { branch, default_branch: byDefault } = event.ended ?? {};
      return pullRequest !== null || (branch !== undefined && branch === byDefault) ? [] : [null];
    }
    default:
      return [];
  }
}
