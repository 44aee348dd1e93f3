import type { SkillOutcome } from '../../domain/skill/manifest.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import type { StepContext } from '../../engine/steps/step.ts';

/** What a handler may know: the step it works for, and the package its artifact belongs to. */
export interface SkillContext {
  step: StepContext;
  skill: SkillPackage;
  /** What the value it gives back must be. */
  outcome: SkillOutcome;
  owner: Owner;
}

/** For whom something is executed. A call in a comment has neither run nor session that a row could name. */
export type Owner = { runId: string; sessionId: string } | { callId: string };
