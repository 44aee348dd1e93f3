import { z } from 'zod';
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
const issueCreated = z.strictObject({
  kind: z.literal('issue.created'),
  ...location,
  issue: z.int(),
  title: z.string(),
  author: z.string(),
  labels: z.array(z.string()),
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
/** A person wrote to the app in a comment on a pull request, or pressed a button of its check run. */
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
  ]),
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
  /** The command that asked for it. Before its turn comes, people can give other commands and push. */
  asked_by: askedByCommandSchema.optional(),
  chain: z.string(),
  pull_request: z.int().nullable(),
  actor: z.string(),
  inputs: z.record(z.string(), z.string()),
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

/**
 * An event, as a closed union. Entry points make events, the engine reads them. `schedule.fired` and
 * `invocation.completed` will join it with the entry points that fire them.
 */
export const eventSchema = z.discriminatedUnion('kind', [
  prOpened,
  prUpdated,
  prMerged,
  prClosed,
  issueCreated,
  fileChanged,
  ciChanged,
  groupRequested,
  groupDestroyed,
  approvalChanged,
  commandIssued,
  manualFired,
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
