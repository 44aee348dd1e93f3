import type { Step } from '../../chain/chain.ts';
import { contentHash } from '../../core/canonical.ts';
import { formatFault } from '../../core/fault.ts';
import { type ReasonCode, reason } from '../../run/reason.ts';
import type { Blob, StepContext, StepHandler, StepResult } from '../../session/step.ts';
import type { Skills } from '../../storage/storage.ts';
import type { AnyHandler } from '../handler.ts';
import type { SkillOutcome } from '../package/manifest.ts';
import { filesOf, type SkillPackage } from '../package/package.ts';
import { parsePackage } from '../package/parse.ts';
import { outcomeOf } from './outcome-of.ts';
import { variantFor } from './variant.ts';

/** What a handler may know: the step it works for, and the package its artifact belongs to. */
export interface SkillContext {
  step: StepContext;
  skill: SkillPackage;
  /** What the value it gives back must be. */
  outcome: SkillOutcome;
}

export interface ActivationDeps {
  skills: Pick<Skills, 'get'>;
  /** One for each kind of artifact that can be carried out here. */
  handlers: readonly AnyHandler<SkillContext>[];
  /** The family of the configured model; `null` when there is none. */
  modelFamily: string | null;
}

/** What the artifact said while it worked, as an artifact of its session. */
const LOG = 'skill.log';

/**
 * Carries out every step that names a skill package: with the package as the run began with it, never with what its files became
 * since. The package's first artifact after its SKILL.md is the one that is carried out; it finds the others in its context.
 */
export function packageSkill({ skills, handlers, modelFamily }: ActivationDeps): (step: Step) => StepHandler {
  const byKind = new Map(handlers.map((handler) => [handler.kind, handler]));

  return ({ uses: { name, package: reference } }) => ({
    name,
    capability: {
      name,
      // Unheard of without a reference; what is not known is not allowed.
      minimumTrust: reference?.trust ?? 'privileged',
      sideEffects: false,
      confirmation: 'none',
    },
    cognitiveHints: { produces: reference?.produces ?? [] },
    async run(step) {
      const id = reference?.id;
      const stored = id === undefined ? undefined : await skills.get(id);
      if (!stored) return failed(`the skill ${name} is not there as this run began with it`);
      const { skill, faults } = parsePackage(filesOf(stored), name);
      if (!skill) {
        const [first] = faults.map(formatFault);
        return failed(`the skill ${name} cannot be used by this version of Countersign: ${first ?? ''}`);
      }
      if (skill.id !== id) return failed(`the skill ${name} is not what this run began with`);
      const { outcome } = skill;
      if (outcome === null) {
        return failed(`the skill ${name} says no outcome that it comes to, so no step can run it`);
      }
      const first = skill.artifacts.find(({ kind }) => kind !== 'description');
      const artifact = first && variantFor(skill.artifacts, first.name, modelFamily);
      if (!artifact) return failed(`the skill ${name} has nothing to carry out: only its SKILL.md`);
      const handler = byKind.get(artifact.kind);
      if (!handler) {
        return failed(
          `the skill ${name} cannot be carried out here: its ${artifact.name} is of the kind ${artifact.kind}, ${carriedOut([...byKind.keys()])}`,
        );
      }
      const output = await handler.execute(artifact, { step, skill, outcome });
      if (output.kind === 'waits') return { ...output, for: 'ci' };
      const blobs = logOf(output.log);
      if (output.kind === 'failed') {
        return failed(`the skill ${name} failed: ${output.because}`, { retryable: output.retryable, blobs });
      }
      const { run } = step.state;
      const made = outcomeOf(output.value, outcome, {
        headSha: run.headSha,
        round: await step.round(),
        skill: name,
        step: step.step.id,
        inputsHash: contentHash({ skill: skill.id, artifact: artifact.name, inputs: step.inputs }),
      });
      return 'because' in made
        ? failed(`the skill ${name} failed: ${made.because}`, { retryable: true, blobs })
        : { kind: 'done', outcome: made.outcome, blobs };
    },
  });
}

const FAILED: ReasonCode = 'step.failed.error';

function failed(
  because: string,
  more: { retryable: boolean; blobs: Blob[] } | undefined = undefined,
): StepResult {
  return { kind: 'failed', reason: reason(FAILED, because), retryable: false, ...more };
}

function carriedOut(kinds: readonly string[]): string {
  return kinds.length === 0 ? 'and no kind can be' : `and only ${kinds.join(', ')} can be`;
}

function logOf(log: string): Blob[] {
  return log === '' ? [] : [{ kind: 'log', name: LOG, data: log }];
}
