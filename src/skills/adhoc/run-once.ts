import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import type { StepContext, StepHandler } from '../../engine/steps/step.ts';
import type { Model } from '../../ports/model.ts';
import { executePackage, type PackageTools } from '../runtime/execute-package.ts';
import { outcomeOf } from '../runtime/outcome-of.ts';
import type { SkillContext } from '../runtime/skill-context.ts';
import { logWithWarnings } from '../runtime/trace/execute-artifact.ts';

export interface AdhocResult {
  outcome: Outcome | null;
  /** Why there is no outcome. */
  because: string | null;
  /** The skill's log. */
  log: string;
}

/** Executes a package as a step of a chain would. */
export async function runPackageOnce(
  skill: SkillPackage,
  tools: PackageTools,
  step: StepContext,
  packages: NonNullable<SkillContext['packages']>,
): Promise<AdhocResult> {
  const { outcome } = skill;
  if (outcome === null) return none('its SKILL.md has no outcome, so no step can run it');
  const owner = { callId: step.session.id };
  const output = await executePackage({ step, skill, outcome, owner, packages }, tools);
  if (output.kind === 'unusable') {
    return output.because === 'only_described'
      ? none('it has no file beside its SKILL.md, so no step can run it')
      : none(`its ${output.artifact.name} is of the kind ${output.artifact.kind}, which cannot be run here`);
  }
  if (output.kind === 'waits') return none(output.reason.summary);
  const log = logWithWarnings(output);
  if (output.kind === 'failed') return { ...none(output.because), log };
  const known = {
    headSha: step.state.run.headSha,
    round: 1,
    skill: skill.name,
    ownSchema: skill.outcomeSchema,
    step: step.step.id,
    inputsHash: '',
    notes: output.warnings,
  };
  const made = outcomeOf(output.value, outcome, known);
  return 'because' in made ? { ...none(made.because), log } : { outcome: made.outcome, because: null, log };
}

/** Executes a built-in skill. */
export async function runBuiltInOnce(handler: StepHandler, step: StepContext): Promise<AdhocResult> {
  const result = await handler.run(step);
  switch (result.kind) {
    case 'done': {
      const texts = (result.blobs ?? []).map(({ data }) => Buffer.from(data).toString('utf8'));
      return { outcome: result.outcome, because: null, log: texts.join('\n') };
    }
    case 'waits':
    case 'withheld':
    case 'failed':
    case 'superseded':
      return none(result.reason.summary);
  }
}

/** The model for calls without a run. The budgets of the pull request and of the day still apply. */
export function outsideOfRuns(model: Model): Model {
  return {
    name: model.name,
    ask: (question) =>
      model.ask({ ...question, purpose: { ...question.purpose, runId: null, sessionId: null } }),
  };
}

function none(because: string): AdhocResult {
  return { outcome: null, because, log: '' };
}
