import { z } from 'zod';

/** An annotation of a check run. The code that makes one keeps within GitHub's limits. */
const annotationSchema = z.strictObject({
  path: z.string(),
  start_line: z.int().min(1),
  end_line: z.int().min(1),
  level: z.enum(['notice', 'warning', 'failure']),
  title: z.string(),
  message: z.string(),
});
export type Annotation = z.infer<typeof annotationSchema>;

const CHECK_CONCLUSIONS = [
  'success',
  'failure',
  'neutral',
  'cancelled',
  'skipped',
  'timed_out',
  'action_required',
] as const;

export const checkRunContentSchema = z.strictObject({
  name: z.string(),
  head_sha: z.string(),
  external_id: z.string(),
  state: z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('in_progress'), started_at: z.string() }),
    z.strictObject({
      status: z.literal('completed'),
      conclusion: z.enum(CHECK_CONCLUSIONS),
      completed_at: z.string(),
    }),
  ]),
  title: z.string(),
  summary: z.string(),
  text: z.string(),
  annotations: z.array(annotationSchema),
  actions: z
    .array(z.strictObject({ label: z.string(), description: z.string(), identifier: z.string() }))
    .max(3),
  /**
   * Rows of older versions name a page here that never existed. It is parsed, because the stored hash covers
   * it, but never sent.
   */
  details_url: z.string().nullable().optional(),
});
export type CheckRunContent = z.infer<typeof checkRunContentSchema>;

/**
 * The content of a stored gate check: that the gate is closed, for now or until a person acts. It cannot say
 * that the gate is open. GitHub treats `success`, `neutral` and `skipped` as passing, and a stored row could
 * be replayed long after its facts have changed. Only `passGate` turns the check green, and it requires a
 * fresh proof.
 */
const closedGateContentSchema = checkRunContentSchema.extend({
  state: z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('in_progress'), started_at: z.string() }),
    z.strictObject({
      status: z.literal('completed'),
      conclusion: z.enum(['failure', 'cancelled']),
      completed_at: z.string(),
    }),
  ]),
});
export type ClosedGateContent = z.infer<typeof closedGateContentSchema>;

/** The content of a green gate check. The sender adds the state, which is `success`. */
export type OpenGateContent = Pick<
  CheckRunContent,
  'name' | 'head_sha' | 'external_id' | 'title' | 'summary'
>;

export const CLOSING_REASONS = ['completed', 'not_planned'] as const;
export type ClosingReason = (typeof CLOSING_REASONS)[number];

const location = {
  installation_id: z.int(),
  owner: z.string(),
  repo: z.string(),
};

/**
 * Everything that this app may do to GitHub. An effect is stored as a desired effect ("this comment has this
 * text") with an idempotency key. Requesting it again with the same key replaces it; only the last version is
 * executed, and only once (I3).
 *
 * A merge is never executed from the outbox: it requires a proof that lives only for one attempt. Its row
 * only records it.
 *
 * Its schema is made when it is first used, because most commands load this file and read no effect.
 */
export const effectSchema = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('check_run'), ...location, content: checkRunContentSchema }),
    z.strictObject({
      kind: z.literal('gate_check'),
      ...location,
      repository_id: z.int(),
      /** `null` for a merge group, which can hold several. */
      pull_request: z.int().nullable(),
      base_ref: z.string(),
      content: closedGateContentSchema,
    }),
    z.strictObject({
      kind: z.literal('comment'),
      ...location,
      issue: z.int(),
      /** A line of the body by which a lost comment is found. The stored id takes precedence. */
      marker: z.string(),
      body: z.string(),
      /** It is only sent while this question is open. */
      approval_id: z.string().optional(),
      /** An approval comment that shows the state of the pull request by now. No reaction to it counts ever again. */
      shows: z.literal('status').optional(),
      /** What became of the question of an approval comment, as Markdown, for texts that show something else. */
      answered: z.string().optional(),
      /** The key of the comment that took its place. Also in the row of a status comment that was never written. */
      replaced_by: z.string().optional(),
    }),
    z.strictObject({
      kind: z.literal('webhook'),
      ...location,
      /** The operator's name for it. Its address is never stored. */
      webhook: z.string(),
      /** In Slack's format. */
      text: z.string(),
      /** What a signed webhook gets instead. Absent in notices of a question. */
      data: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).optional(),
      /** It is only sent while this question is open. Absent if it is about none. */
      approval_id: z.string().optional(),
    }),
    z.strictObject({
      kind: z.literal('review_request'),
      ...location,
      pull_request: z.int(),
      /** Logins. */
      people: z.array(z.string()),
      /** Slugs of the owner's teams. */
      teams: z.array(z.string()),
      /** It is only sent while this question is open. */
      approval_id: z.string().optional(),
    }),
    z.strictObject({
      kind: z.literal('reaction'),
      ...location,
      comment_id: z.int(),
      content: z.enum(['eyes', 'hooray', 'confused']),
    }),
    z.strictObject({
      kind: z.literal('label'),
      ...location,
      issue: z.int(),
      labels: z.array(z.string()).min(1),
    }),
    /** An issue that is open and has this text. */
    z.strictObject({
      kind: z.literal('issue'),
      ...location,
      /** Its first line, by which a lost issue is found. The stored number takes precedence. */
      marker: z.string(),
      /** The issue with the marker that GitHub showed when this was requested. */
      number: z.int().nullable(),
      /** When it was closed, if this reopens it. */
      closed_at: z.string().nullable(),
      title: z.string(),
      body: z.string(),
      /** Only for a new one, as are the assignees: people may change both later. */
      labels: z.array(z.string()),
      assignees: z.array(z.string()),
    }),
    /** A review of a pull request that neither approves nor requests changes. It is never changed. */
    z.strictObject({
      kind: z.literal('review'),
      ...location,
      pull_request: z.int(),
      /** It is only sent for this head. */
      head_sha: z.string(),
      /** Its first line, by which a lost review is found. */
      marker: z.string(),
      body: z.string(),
      /** The chain and step that reported the findings; absent in effects of older versions. */
      origin: z.string().optional(),
      /** Hashes of the findings that the body has. */
      listed: z.array(z.string()),
      comments: z.array(
        z.strictObject({
          path: z.string(),
          start_line: z.int().min(1),
          line: z.int().min(1),
          /** The hash of its finding. */
          finding: z.string(),
          body: z.string(),
        }),
      ),
      /** The body if GitHub refuses the comments: it takes all of them or none. */
      body_alone: z.string(),
    }),
    /** A comment of a review whose finding is gone: it says so, and its conversation is resolved. */
    z.strictObject({
      kind: z.literal('resolved_finding'),
      ...location,
      pull_request: z.int(),
      comment_id: z.int(),
      /** GitHub's global id of the conversation. */
      thread: z.string(),
      body: z.string(),
    }),
    /** An answer in a conversation on a line. Found again by its marker, so that it is written once. */
    z.strictObject({
      kind: z.literal('thread_reply'),
      ...location,
      pull_request: z.int(),
      /** The first comment of the conversation. */
      thread: z.int(),
      marker: z.string(),
      body: z.string(),
    }),
    z.strictObject({
      kind: z.literal('assignment'),
      ...location,
      issue: z.int(),
      /** Logins. Those who are assigned already stay. */
      people: z.array(z.string()).min(1),
    }),
    z.strictObject({
      kind: z.literal('milestone'),
      ...location,
      issue: z.int(),
      milestone: z.strictObject({ number: z.int(), title: z.string() }),
    }),
    /** It closes an issue or a pull request that is open. */
    z.strictObject({
      kind: z.literal('closing'),
      ...location,
      issue: z.int(),
      /** `null` for a pull request, which GitHub closes without a reason. */
      reason: z.enum(CLOSING_REASONS).nullable(),
    }),
    z.strictObject({
      kind: z.literal('branch_deletion'),
      ...location,
      branch: z.string(),
      /** It is only deleted at this commit. */
      sha: z.string(),
    }),
    /** A merged change, copied to another branch by a pull request of its own. */
    z.strictObject({
      kind: z.literal('backport'),
      ...location,
      pull_request: z.int(),
      onto: z.string(),
      /** The branch to create, which also identifies the backport. */
      branch: z.string(),
      /** The change is what turned `parent` into `picked`. */
      picked: z.string(),
      parent: z.string(),
      /** What `picked` is: for the commands with which a person does it. */
      how: z.enum(['commit', 'merge', 'commits']),
      author: z.strictObject({ name: z.string(), email: z.string(), date: z.string() }),
      message: z.string(),
      title: z.string(),
      body: z.string(),
    }),
    z.strictObject({
      kind: z.literal('release'),
      ...location,
      tag: z.string(),
      /** The commit that the tag names. */
      sha: z.string(),
      name: z.string(),
      body: z.string(),
      draft: z.boolean(),
      prerelease: z.boolean(),
    }),
    /** The base branch is merged into the head of a pull request. */
    z.strictObject({
      kind: z.literal('update_branch'),
      ...location,
      pull_request: z.int(),
      base_ref: z.string(),
      /** Only this head is updated. */
      head_sha: z.string(),
    }),
    z.strictObject({
      kind: z.literal('dispatch'),
      ...location,
      /** The file name of the workflow. */
      workflow: z.string(),
      branch: z.string(),
      inputs: z.record(z.string(), z.string()),
      /** No run that began before is the one that was started. */
      requested_at: z.iso.datetime(),
    }),
    z.strictObject({
      kind: z.literal('status'),
      ...location,
      sha: z.string(),
      context: z.string(),
      state: z.enum(['error', 'failure', 'pending', 'success']),
      description: z.string(),
      target_url: z.string().optional(),
    }),
    z.strictObject({
      kind: z.literal('merge'),
      ...location,
      pull_request: z.int(),
      head_sha: z.string(),
      base_ref: z.string(),
      method: z.enum(['merge', 'squash', 'rebase']),
      countersigned_by: z.array(z.string()),
      /** The step that merges; a run can have several. Absent in rows from before it was stored. */
      invocation_id: z.string().optional(),
    }),
    /** Records that a pull request was added to a merge queue. Like a merge, never executed from the outbox. */
    z.strictObject({
      kind: z.literal('enqueue'),
      ...location,
      pull_request: z.int(),
      head_sha: z.string(),
      base_ref: z.string(),
      countersigned_by: z.array(z.string()),
    }),
  ]),
);
export type Effect = z.infer<typeof effectSchema>;
type EffectKind = Effect['kind'];
export type EffectOf<K extends EffectKind> = Extract<Effect, { kind: K }>;

/** `withheld`: the rollout does not let it be written. */
export const EFFECT_STATUSES = ['pending', 'done', 'failed', 'withheld'] as const;
export type EffectStatus = (typeof EFFECT_STATUSES)[number];

/**
 * A gate check that was turned green. Green is a lease: at `until`, the outbox closes the gate again, unless
 * a new proof renewed it or the pull request was merged. This also holds if the process that opened it
 * crashed.
 */
const gatePassSchema = z.strictObject({
  /** The run whose proof it was; `null` for a merge group, which has no run of its own. */
  run_id: z.string().nullable(),
  /** The run's merge step; a run can have several. */
  invocation_id: z.string().nullable(),
  /** When the check turned green. It has been green since. */
  since: z.iso.datetime(),
  /** `null` after the merge, because nothing is left to protect. */
  until: z.iso.datetime().nullable(),
  /** Hash of the closed state that was requested at that time. A newer request closes the gate at once. */
  wished_hash: z.string(),
  /** GitHub confirmed that the check is green. */
  shown: z.boolean(),
});
export type GatePass = z.infer<typeof gatePassSchema>;

/** The progress of an effect: what has been executed so far. */
export const effectProgressSchema = z.strictObject({
  /** Hashes of the annotations already sent. GitHub appends annotations, so none may be sent twice. */
  annotations: z.array(z.string()).optional(),
  /**
   * Hashes of the annotations being sent, in order. After a crash, GitHub's count says how many of them
   * arrived.
   */
  annotating: z.array(z.string()).optional(),
  /** The check run is completed on GitHub, which never reopens one. */
  concluded: z.boolean().optional(),
  /** Id of the completed check run that a new one replaced; 0 if there was none. */
  replaces: z.int().optional(),
  /** Hash of the comment's body as last written. A different body on GitHub shows that somebody edited it. */
  body_hash: z.string().optional(),
  /** The bot account that GitHub named as the comment's author at its creation. */
  author_id: z.int().optional(),
  /** GitHub's global id of the comment or check run, which GraphQL uses. */
  node_id: z.string().optional(),
  /**
   * Until then, GitHub may still execute a request whose response was lost. Anything sent before could be
   * doubled or undone.
   */
  unsure_until: z.iso.datetime().optional(),
  /**
   * It failed for a reason that does not go away by itself. An unchanged request is not sent before this
   * time.
   */
  rests_until: z.iso.datetime().optional(),
  merge_sha: z.string().optional(),
  /** The gate check is green on GitHub, or is about to be: see `GatePass`. */
  passed: gatePassSchema.optional(),
  /** The page of what was created. */
  url: z.string().optional(),
  /** What came of it, for the step that waits for it. */
  result: z.string().optional(),
});
type EffectProgress = z.infer<typeof effectProgressSchema>;

/** One row of the outbox. */
export interface EffectRow {
  id: string;
  /** Idempotency key: one thing on GitHub, one key, one row. */
  key: string;
  effect: Effect;
  /** Hashes of the desired effect and of the one last executed. If they are equal, nothing is to be done. */
  desiredHash: string;
  appliedHash: string | null;
  status: EffectStatus;
  /** Id of what was created on GitHub. */
  githubId: number | null;
  /** A create request was begun. Before it is sent again, GitHub is asked whether the first one succeeded. */
  begun: boolean;
  progress: EffectProgress;
  attempts: number;
  error: string | null;
  runId: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** When GitHub last created content for it, which GitHub limits by the hour. */
  contentAt: Date | null;
}

/** What the rollout kept from being written. */
export function withheldOf(rows: readonly EffectRow[]): Effect[] {
  return rows.flatMap(({ status, effect }) => (status === 'withheld' ? [effect] : []));
}
