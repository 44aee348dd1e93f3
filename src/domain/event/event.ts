import { z } from 'zod';
import { askedByCommandSchema } from '../command/order.ts';

/** Where something happened, as GitHub names it at that moment; the id survives renames, the name does not. */
export const repositoryRefSchema = z.strictObject({
  id: z.int(),
  owner: z.string(),
  name: z.string(),
});
export type RepositoryRef = z.infer<typeof repositoryRefSchema>;

const place = {
  installation_id: z.int(),
  repository: repositoryRefSchema,
};

const onPullRequest = { ...place, pull_request: z.int() };

/** Why a pull request is looked at again; kept for people, the truth is re-read from GitHub. */
export const PULL_REQUEST_ACTIONS = [
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

/** When GitHub had last changed the pull request; its API may lag behind its own webhook. */
const asOf = { updated_at: z.string().optional() };

const prOpened = z.strictObject({
  kind: z.literal('pr.opened'),
  ...onPullRequest,
  action: z.enum(PULL_REQUEST_ACTIONS),
  ...asOf,
});
const prUpdated = z.strictObject({
  kind: z.literal('pr.updated'),
  ...onPullRequest,
  action: z.enum(PULL_REQUEST_ACTIONS),
  ...asOf,
});
const prMerged = z.strictObject({ kind: z.literal('pr.merged'), ...onPullRequest });
const prClosed = z.strictObject({ kind: z.literal('pr.closed'), ...onPullRequest });
const issueCreated = z.strictObject({
  kind: z.literal('issue.created'),
  ...place,
  issue: z.int(),
  title: z.string(),
  author: z.string(),
  labels: z.array(z.string()),
});
/** A push to a branch: the files that its commits name. */
const fileChanged = z.strictObject({
  kind: z.literal('file.changed'),
  ...place,
  branch: z.string(),
  default_branch: z.string(),
  before_sha: z.string(),
  /** History was rewritten: the paths do not name what the push took away. */
  forced: z.boolean(),
  head_sha: z.string(),
  pusher: z.string(),
  paths: z.array(z.string()),
});
const ciChanged = z.strictObject({
  kind: z.literal('ci.changed'),
  ...place,
  head_sha: z.string(),
});
/** GitHub's merge queue made a commit of one or more pull requests, and waits for its checks. */
const groupRequested = z.strictObject({
  kind: z.literal('group.requested'),
  ...place,
  head_sha: z.string(),
  base_ref: z.string(),
});
/** That commit landed on its branch, or the queue threw it away. */
const groupDestroyed = z.strictObject({
  kind: z.literal('group.destroyed'),
  ...place,
  head_sha: z.string(),
  base_ref: z.string(),
  reason: z.string(),
});
/** Something that may bear on an open approval: a review, an edited or deleted comment. */
const approvalChanged = z.strictObject({ kind: z.literal('approval.changed'), ...onPullRequest });
/** A person spoke to the app in a pull request's comment, or pressed a button of its check run. */
const commandIssued = z.strictObject({
  kind: z.literal('command.issued'),
  ...onPullRequest,
  actor: z.string(),
  /** The text that holds the command; a button's is written out as the command it stands for. */
  text: z.string(),
  via: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('comment'), comment_id: z.int(), created_at: z.string() }),
    z.strictObject({
      kind: z.literal('button'),
      head_sha: z.string(),
      /** The tag of the question that the button answers. */
      question: z.string().optional(),
    }),
  ]),
});
const manualFired = z.strictObject({
  kind: z.literal('manual.fired'),
  ...place,
  /**
   * Id of the run it begins, chosen by whoever fires it: a job that is done twice still begins one. Rows of before there was
   * one have none.
   */
  run_id: z.string().optional(),
  /** The run that is begun again: what began that one counts, and not who asked for it again. */
  again: z.string().optional(),
  /** The command that asked for it: others may be given, and somebody may push, before its turn comes. */
  asked_by: askedByCommandSchema.optional(),
  chain: z.string(),
  pull_request: z.int().nullable(),
  actor: z.string(),
  inputs: z.record(z.string(), z.string()),
});

/** Nothing of the installation is within reach any more, as of when GitHub said so. */
const installationGone = z.strictObject({
  kind: z.literal('installation.gone'),
  installation_id: z.int(),
  because: z.enum(['uninstalled', 'suspended']),
});
/** One repository is out of reach, or takes no writes. */
const repositoryGone = z.strictObject({
  kind: z.literal('repository.gone'),
  ...place,
  because: z.enum(['deleted', 'archived', 'taken_out', 'transferred']),
});
/** GitHub takes requests of this app again for all of the installation, or for one of its repositories. */
const installationBack = z.strictObject({
  kind: z.literal('installation.back'),
  installation_id: z.int(),
  because: z.enum(['unsuspended', 'unarchived', 'taken_in']),
});
/** The same repository has another name now. */
const repositoryRenamed = z.strictObject({ kind: z.literal('repository.renamed'), ...place });

/**
 * What happened, from a closed union. Doors make these and are done; the engine reads them.
 * `schedule.fired` and `invocation.completed` join with the doors that fire them.
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
export type EventKind = Event['kind'];
export type EventOf<K extends EventKind> = Extract<Event, { kind: K }>;
/** Every event but those of an installation as a whole: what a run can be fired by. */
export type RepositoryEvent = Extract<Event, { repository: RepositoryRef }>;
