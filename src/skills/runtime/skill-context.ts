import type { SkillOutcome } from '../../domain/skill/manifest.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import type { StepContext } from '../../engine/steps/step.ts';

/** What a handler receives: its step, and the package of its artifact. */
export interface SkillContext {
  step: StepContext;
  skill: SkillPackage;
  /** The kind of outcome that its result must be. */
  outcome: SkillOutcome;
  owner: Owner;
}

/** The owner of an execution. A call in a comment has neither run nor session. */
export type Owner = { runId: string; sessionId: string } | { callId: string };
