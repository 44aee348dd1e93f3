import type { Tokens } from '../domain/model/price.ts';
import type { Decision } from '../domain/skill/decision.ts';
import type { SkillArtifact } from '../domain/skill/skill.ts';

/** A skill before it is chosen. */
export interface SkillOutline {
  id: string;
  name: string;
  /** Its SKILL.md. */
  description: string;
  /** All of its artifacts by ordinal, without their content. */
  artifacts: Pick<SkillArtifact, 'kind' | 'name' | 'modelVariant'>[];
}

/** A skill called by a question in a comment: it belongs to no run. */
export interface SkillCall {
  id: string;
  installationId: number;
  repositoryId: number;
  /** `owner/name` as of the question. */
  repository: string;
  pullRequest: number;
  commentId: number;
  askedBy: string;
  question: string;
  /** `null` until it was decided what to do about the question. */
  decision: Decision | null;
  createdAt: Date;
  /** `null` until it was answered, or given up. */
  finishedAt: Date | null;
}

export interface SkillCalls {
  insert(call: SkillCall): Promise<void>;
  get(id: string): Promise<SkillCall | undefined>;
  ofComment(commentId: number): Promise<SkillCall | undefined>;
  /** Writes the decision and the end; the rest never changes. */
  save(call: Pick<SkillCall, 'id' | 'decision' | 'finishedAt'>): Promise<void>;
}

/** One execution of an artifact of a skill. */
export interface NewSkillTrace {
  /** The run and session it was executed for, or the call. */
  of: { runId: string; sessionId: string } | { callId: string };
  skill: string;
  skillId: string;
  /** Its path in the package. */
  artifact: string;
  kind: SkillArtifact['kind'];
  /** Where the blob store keeps what it was given. */
  inputPath: string;
  /** The same of what it gave back; `null` when that was nothing. */
  outputPath: string | null;
  /** Why that was of no use. */
  error: string | null;
  startedAt: Date;
  completedAt: Date;
  /** Of all models it asked together; `null` when a provider did not tell. */
  tokens: Tokens | null;
  /** `provider/model`; `null` when none was asked. */
  model: string | null;
  /** In millionths of a dollar; `null` when it is not known. */
  cost: number | null;
  assertionsRun: number;
  assertionsPassed: number;
}

export interface SkillTrace extends NewSkillTrace {
  id: number;
}

export interface SkillTraces {
  insert(trace: NewSkillTrace): Promise<void>;
  /** In the order in which they were completed. */
  ofRun(runId: string): Promise<SkillTrace[]>;
  /**
   * Traces in the order of their ids, beginning after the given one (from 0): of one skill, of executions since a moment, of
   * runs that were over and calls that were answered before one.
   */
  page(page: {
    after: number;
    limit: number;
    skill?: string;
    since?: Date;
    overBefore?: Date;
  }): Promise<SkillTrace[]>;
  /** Those that are gone already are no error. */
  remove(ids: readonly number[]): Promise<void>;
}
