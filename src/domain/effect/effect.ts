import { z } from 'zod';

/** Facts the words of a check run are made of; limits of GitHub are kept by whoever makes them. */
export const annotationSchema = z.strictObject({
  path: z.string(),
  start_line: z.int().min(1),
  end_line: z.int().min(1),
  level: z.enum(['notice', 'warning', 'failure']),
  title: z.string(),
  message: z.string(),
});
export type Annotation = z.infer<typeof annotationSchema>;

export const CHECK_CONCLUSIONS = [
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
   * Rows written by older versions name a page here that never existed. It is read, because the stored hash covers it, but never
   * sent.
   */
  details_url: z.string().nullable().optional(),
});
export type CheckRunContent = z.infer<typeof checkRunContentSchema>;

/**
 * What a stored gate check can say: that the gate is closed, for now or until somebody acts. It cannot say that the gate
 * is open. GitHub treats `success`, `neutral` and `skipped` as passing, and a stored row could be replayed long after the
 * facts it rested on have changed; only `passGate` turns the check green, and it takes a fresh proof.
 */
export const closedGateContentSchema = checkRunContentSchema.extend({
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

/** What a gate check says while it is green; who sends it adds the state, which is `success`. */
export type OpenGateContent = Pick<
  CheckRunContent,
  'name' | 'head_sha' | 'external_id' | 'title' | 'summary'
>;

const place = {
  installation_id: z.int(),
  owner: z.string(),
  repo: z.string(),
};

/**
 * Everything this app may do to GitHub. An effect is a wish: "this comment reads so", keyed by what it is about.
 * Asking again with the same key changes the wish; only the last one is carried out, and each only once (I3).
 * Merging is not in this list of wishes that can be stored and replayed: it takes a proof that lives only for one
 * attempt, and leaves a `merge` row behind as its ledger.
 */
export const effectSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('check_run'), ...place, content: checkRunContentSchema }),
  z.strictObject({
    kind: z.literal('gate_check'),
    ...place,
    repository_id: z.int(),
    /** `null` for a merge group, which can hold several. */
    pull_request: z.int().nullable(),
    base_ref: z.string(),
    content: closedGateContentSchema,
  }),
  z.strictObject({
    kind: z.literal('comment'),
    ...place,
    issue: z.int(),
    /** A line of the body by which the comment is found again; the truth is the stored id. */
    marker: z.string(),
    body: z.string(),
  }),
  z.strictObject({
    kind: z.literal('reaction'),
    ...place,
    comment_id: z.int(),
    content: z.enum(['eyes', 'hooray', 'confused']),
  }),
  z.strictObject({ kind: z.literal('label'), ...place, issue: z.int(), labels: z.array(z.string()).min(1) }),
  z.strictObject({
    kind: z.literal('merge'),
    ...place,
    pull_request: z.int(),
    head_sha: z.string(),
    base_ref: z.string(),
    method: z.enum(['merge', 'squash', 'rebase']),
    countersigned_by: z.array(z.string()),
    /** The step that merges: a run can have several. Rows of before it was kept have none. */
    invocation_id: z.string().optional(),
  }),
  /** The ledger of a pull request that was added to a merge queue: like a merge, never carried out from the outbox. */
  z.strictObject({
    kind: z.literal('enqueue'),
    ...place,
    pull_request: z.int(),
    head_sha: z.string(),
    base_ref: z.string(),
    countersigned_by: z.array(z.string()),
  }),
]);
export type Effect = z.infer<typeof effectSchema>;
export type EffectKind = Effect['kind'];
export type EffectOf<K extends EffectKind> = Extract<Effect, { kind: K }>;

export const EFFECT_STATUSES = ['pending', 'done', 'failed'] as const;
export type EffectStatus = (typeof EFFECT_STATUSES)[number];

/**
 * That a gate check was turned green. Green is a lease: unless somebody renews it with a new proof, or the pull request
 * is merged, the outbox closes the gate again at `until`, whatever became of the process that opened it.
 */
export const gatePassSchema = z.strictObject({
  /** The run whose proof it was; `null` for a merge group, which has no run of its own. */
  run_id: z.string().nullable(),
  /** The merge step of it; a run can have several. */
  invocation_id: z.string().nullable(),
  /** When the check turned green without falling back since. */
  since: z.iso.datetime(),
  /** `null` once the pull request is merged: nothing is left to protect for it. */
  until: z.iso.datetime().nullable(),
  /** The closed state that was requested at that time: a newer request closes the gate at once. */
  wished_hash: z.string(),
  /** GitHub answered that the check is green. */
  shown: z.boolean(),
});
export type GatePass = z.infer<typeof gatePassSchema>;

/** What is remembered of what was carried out so far. */
export const effectProgressSchema = z.strictObject({
  /** Hashes of the annotations already sent; GitHub appends, so they are never sent twice. */
  annotations: z.array(z.string()).optional(),
  /** Hashes of those under way, in their order; after a crash, GitHub's count tells how many of them arrived. */
  annotating: z.array(z.string()).optional(),
  /** The check run is completed on GitHub, which never takes one back to work. */
  concluded: z.boolean().optional(),
  /** Id of the completed check run in whose place a new one came; 0 when there was none. */
  replaces: z.int().optional(),
  /** Hash of the comment's body as last written, by which a later edit by somebody else shows. */
  body_hash: z.string().optional(),
  /** The bot account that GitHub named as the comment's author when it was created. */
  author_id: z.int().optional(),
  /** Until then GitHub may still carry out a request whose answer was lost: what is sent meanwhile could be doubled or undone by it. */
  unsure_until: z.iso.datetime().optional(),
  /** It failed for a reason that time alone does not mend: wished for again unchanged, it is not sent before then. */
  rests_until: z.iso.datetime().optional(),
  merge_sha: z.string().optional(),
  /** The gate check is green on GitHub, or is about to be: see `GatePass`. */
  passed: gatePassSchema.optional(),
  /** Where people find what was created. */
  url: z.string().optional(),
});
export type EffectProgress = z.infer<typeof effectProgressSchema>;

/** One row of the outbox. */
export interface EffectRow {
  id: string;
  /** Idempotency key: one thing on GitHub, one key, one row. */
  key: string;
  effect: Effect;
  /** Hash of the effect as wished for now, and as last carried out; equal means nothing to do. */
  desiredHash: string;
  appliedHash: string | null;
  status: EffectStatus;
  /** Id of what was created on GitHub. */
  githubId: number | null;
  /** A create was begun: before it is begun again, GitHub is asked whether it went through. */
  begun: boolean;
  progress: EffectProgress;
  attempts: number;
  error: string | null;
  runId: string | null;
  createdAt: Date;
  updatedAt: Date;
}
