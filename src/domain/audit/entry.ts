import { z } from 'zod';
import { type Actor, actorSchema } from '../run/actor.ts';
import type { Run } from '../run/run.ts';

/**
 * Commands of people and operators that change something. Commands that only show something are not recorded.
 */
export const AUDITED_VERBS = [
  'review',
  'rerun',
  'ci',
  'approve',
  'reject',
  'cancel',
  'pause',
  'resume',
  'fire',
  'define',
  'disable',
  'replay',
  'prune',
] as const;
export type AuditedVerb = (typeof AUDITED_VERBS)[number];

/** The common fields: who did it, and to what. A field that does not apply is `null`. */
const common = {
  by: actorSchema,
  repository: z.strictObject({ id: z.int().nullable(), name: z.string() }).nullable(),
  pull_request: z.int().nullable(),
  head_sha: z.string().nullable(),
  base_ref: z.string().nullable(),
  /** The commit whose configuration applied. */
  configuration_sha: z.string().nullable(),
  run_id: z.string().nullable(),
};

/** The approval comment of a step; `merges` says whether it was about a merge. */
const question = { step: z.string(), merges: z.boolean(), people: z.array(z.string()) };

/**
 * Everything that the audit log records. The union is closed: a new fact is a new kind with its own fields.
 * Kinds are never renamed and fields never removed, because people read lines that they exported years ago
 * together with new ones. Most programs load it and never record an entry, so its schema is made when it is first used.
 */
export const auditEntrySchema = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('run.begun'), ...common, chain: z.string(), event: z.string() }),
    /** A run that had ended continues: CI turned green, or a person asked for it. */
    z.strictObject({ kind: z.literal('run.continued'), ...common, chain: z.string() }),
    z.strictObject({
      kind: z.literal('run.ended'),
      ...common,
      chain: z.string(),
      status: z.string(),
      reason: z.string().nullable(),
      summary: z.string().nullable(),
    }),
    z.strictObject({ kind: z.literal('question.countersigned'), ...common, ...question }),
    z.strictObject({ kind: z.literal('question.rejected'), ...common, ...question }),
    /** Countersign merged the pull request. */
    z.strictObject({
      kind: z.literal('merge.made'),
      ...common,
      people: z.array(z.string()),
      method: z.enum(['merge', 'squash', 'rebase']),
      merge_sha: z.string(),
    }),
    /** A person or another tool merged it. GitHub names them in the pull request. */
    z.strictObject({
      kind: z.literal('merge.made_elsewhere'),
      ...common,
      merge_sha: z.string().nullable(),
      /**
       * Who had countersigned, if the gate check was green for this merge; absent if the merge bypassed the
       * gate.
       */
      people: z.array(z.string()).optional(),
    }),
    /** The gate check of a head and base turned green. For a merge group, `members` has its pull requests. */
    z.strictObject({
      kind: z.literal('gate.opened'),
      ...common,
      people: z.array(z.string()),
      members: z.array(z.int()).optional(),
    }),
    /** The gate check turned red or pending again without a merge. */
    z.strictObject({
      kind: z.literal('gate.closed'),
      ...common,
      because: z.enum(['withdrawn', 'not_renewed']),
    }),
    z.strictObject({
      kind: z.literal('command.carried_out'),
      ...common,
      verb: z.enum(AUDITED_VERBS),
      via: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('comment'), comment_id: z.int() }),
        z.strictObject({ kind: z.literal('button') }),
        z.strictObject({ kind: z.literal('command_line') }),
        z.strictObject({ kind: z.literal('studio') }),
      ]),
      step: z.string().optional(),
      /** The only file of `review` that is reviewed again; absent for all. */
      file: z.string().optional(),
      chain: z.string().optional(),
      inputs: z.record(z.string(), z.json()).optional(),
      /** The GUID of the delivery to process again. */
      delivery: z.string().optional(),
    }),
    /** A person accepted a finding of a review for a head. */
    z.strictObject({
      kind: z.literal('finding.accepted'),
      ...common,
      finding: z.string(),
      rule: z.string(),
      severity: z.string(),
      place: z.string(),
      because: z.string(),
    }),
    /** A person took back that a finding was accepted for a head. `accepted_by` is who had accepted it. */
    z.strictObject({
      kind: z.literal('acceptance.withdrawn'),
      ...common,
      finding: z.string(),
      rule: z.string(),
      place: z.string(),
      accepted_by: z.string(),
    }),
    /** What was learned from acceptances of a rule does not count any more, in the whole repository. */
    z.strictObject({
      kind: z.literal('rule.forgotten'),
      ...common,
      rule: z.string(),
      pull_requests: z.int(),
    }),
    /** A command that was accepted, and that the app could not execute when its turn came. */
    z.strictObject({
      kind: z.literal('command.refused'),
      ...common,
      verb: z.enum(AUDITED_VERBS),
      chain: z.string(),
      because: z.string(),
      /** What was wrong, if other inputs would help. */
      of: z.literal('inputs').optional(),
    }),
    /** The first run under a configuration that differs from that of the previous run on the same base. */
    z.strictObject({ kind: z.literal('configuration.changed'), ...common, digest: z.string() }),
    /** A push changed configuration files. */
    z.strictObject({ kind: z.literal('configuration.pushed'), ...common, paths: z.array(z.string()) }),
    z.strictObject({
      kind: z.literal('retention.pass'),
      ...common,
      /** Deleted rows by table or kind. */
      deleted: z.record(z.string(), z.int()),
    }),
  ]),
);
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** An entry as the log stores it. */
export interface AuditLine {
  id: number;
  at: Date;
  kind: string;
  /** The fields as recorded, possibly by another version of Countersign. */
  entry: Readonly<Record<string, unknown>>;
}

type About = Pick<
  AuditEntry,
  'by' | 'repository' | 'pull_request' | 'head_sha' | 'base_ref' | 'configuration_sha' | 'run_id'
>;

/** The common fields of an entry about a run. */
export function aboutRun(run: Run, by: Actor): About {
  return {
    by,
    repository: { id: run.repositoryId, name: run.repository },
    pull_request: run.pullRequest,
    head_sha: run.headSha === '' ? null : run.headSha,
    base_ref: run.baseRef,
    configuration_sha: run.baseSha,
    run_id: run.id,
  };
}

/** The common fields of an entry about neither a pull request nor a run. */
export function aboutNothing(by: Actor): About {
  return {
    by,
    repository: null,
    pull_request: null,
    head_sha: null,
    base_ref: null,
    configuration_sha: null,
    run_id: null,
  };
}

/** The idempotency key of a merge. A pull request is merged only once, so the first entry counts. */
export function mergedOnce(repositoryId: number, pullRequest: number): string {
  return `merged:${repositoryId}#${pullRequest}`;
}
