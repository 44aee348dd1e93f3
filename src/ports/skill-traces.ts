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

/** A skill called by a question in a comment; it belongs to no run. */
export interface SkillCall {
  id: string;
  installationId: number;
  repositoryId: number;
  /** `owner/name` at the time of the question. */
  repository: string;
  pullRequest: number;
  commentId: number;
  askedBy: string;
  question: string;
  /** `null` until the question was examined. */
  decision: Decision | null;
  createdAt: Date;
  /** `null` until it was answered, or its retries were exhausted. */
  finishedAt: Date | null;
}

export interface SkillCalls {
  insert(call: SkillCall): Promise<void>;
  get(id: string): Promise<SkillCall | undefined>;
  ofComment(commentId: number): Promise<SkillCall | undefined>;
  /** Writes the decision and the end. The other columns never change. */
  save(call: Pick<SkillCall, 'id' | 'decision' | 'finishedAt'>): Promise<void>;
}

/** One execution of a skill's artifact. */
export interface NewSkillTrace {
  /** The run and session, or the call, that it was executed for. */
  of: { runId: string; sessionId: string } | { callId: string };
  skill: string;
  skillId: string;
  /** Its path in the package. */
  artifact: string;
  kind: SkillArtifact['kind'];
  /** The blob with the inputs. */
  inputPath: string;
  /** The blob with the result; `null` if there is none. */
  outputPath: string | null;
  /** Why the result is unusable. */
  error: string | null;
  startedAt: Date;
  completedAt: Date;
  /** Of all models that it asked together; `null` if a provider did not report it. */
  tokens: Tokens | null;
  /** `provider/model`; `null` if no model was asked. */
  model: string | null;
  /** In millionths of a dollar; `null` if unknown. */
  cost: number | null;
  assertionsRun: number;
  assertionsPassed: number;
}

export interface SkillTrace extends NewSkillTrace {
  id: number;
}

export interface SkillTraces {
  insert(trace: NewSkillTrace): Promise<void>;
  /** In the order of their completion. */
  ofRun(runId: string): Promise<SkillTrace[]>;
  /**
   * Traces by id, after the given one (from 0): of one skill, of executions since a time, or of runs and
   * calls that ended before a time.
   */
  page(page: {
    after: number;
    limit: number;
    skill?: string;
    since?: Date;
    overBefore?: Date;
  }): Promise<SkillTrace[]>;
  /** Ids that no longer exist are ignored. */
  remove(ids: readonly number[]): Promise<void>;
}
