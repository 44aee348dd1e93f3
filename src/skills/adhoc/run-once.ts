import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import type { StepContext, StepHandler } from '../../engine/steps/step.ts';
import type { Model } from '../../ports/model.ts';
import type { ActivationDeps } from '../runtime/activate.ts';
import { outcomeOf } from '../runtime/outcome-of.ts';
import { logWithWarnings } from '../runtime/trace/execute-artifact.ts';
import { variantFor } from '../runtime/variant.ts';

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
  { handlers, modelFamily, executeArtifact }: Omit<ActivationDeps, 'skills'>,
  step: StepContext,
): Promise<AdhocResult> {
  const { outcome } = skill;
  const first = skill.artifacts.find(({ kind }) => kind !== 'description');
  const artifact = first && variantFor(skill.artifacts, first.name, modelFamily);
  if (outcome === null || !artifact) {
    return none('its SKILL.md says no outcome, or it has no file beside it, so no step can run it');
  }
  const handler = handlers.find(({ kind }) => kind === artifact.kind);
  if (!handler) return none(`its ${artifact.name} is of the kind ${artifact.kind}, which cannot be run here`);
  const owner = { callId: step.session.id };
  const output = await executeArtifact(handler, artifact, { step, skill, outcome, owner });
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
