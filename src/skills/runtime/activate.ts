import { contentHash } from '../../core/canonical.ts';
import { formatDiagnostic } from '../../core/diagnostic.ts';
import { verify } from '../../domain/artifact/verification.ts';
import type { PackageReference, Step } from '../../domain/chain/chain.ts';
import { type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import { contractOf, filesOf, type SkillPackage } from '../../domain/skill/package.ts';
import { parsePackage } from '../../domain/skill/parse.ts';
import { pathOf } from '../../domain/skill/place.ts';
import type { Blob, StepContext, StepHandler, StepResult } from '../../engine/steps/step.ts';
import type { Skills } from '../../ports/storage.ts';
import type { AnyHandler, Waiting } from './handler.ts';
import { outcomeOf } from './outcome-of.ts';
import type { Owner, SkillContext } from './skill-context.ts';
import { type ExecuteArtifact, type ExecutedArtifact, saidIn } from './trace/execute-artifact.ts';
import { variantFor } from './variant.ts';

export interface ActivationDeps {
  skills: Pick<Skills, 'get'>;
  /** One for each kind of artifact that can be carried out here. */
  handlers: readonly AnyHandler<SkillContext>[];
  /** The family of the configured model; `null` when there is none. */
  modelFamily: string | null;
  executeArtifact: ExecuteArtifact;
}

/** A package to be carried out, as it was when that was decided. */
export interface PackageCall {
  name: string;
  /** Of its content; `undefined`: nobody kept it. */
  id: string | undefined;
  /** The path of one of its artifacts; the first after its SKILL.md when left out. */
  artifact?: string;
  owner: Owner;
  /**
   * Set when it was chosen after its session had begun, whose contract therefore knows nothing of the package: what it leaves
   * behind is then held against the package’s own word here.
   */
  contract?: 'package';
}

/** Carries out a stored package, with what its files were when it was stored. */
export type RunPackage = (call: PackageCall, step: StepContext) => Promise<StepResult>;

/** What the artifact said while it worked, as an artifact of its session. */
const LOG = 'skill.log';

/** Steps that name a skill package: they carry it out as the run began with it, never as its files became since. */
export function packageSkill(runPackage: RunPackage): (step: Step) => StepHandler {
  return ({ uses: { name, package: reference } }) => ({
    name,
    capability: capabilityOf(name, reference),
    cognitiveHints: { produces: reference?.produces ?? [] },
    run: (step) => runPackage({ name, id: reference?.id, owner: ownerOf(step) }, step),
  });
}

/** What it takes to carry a package out. */
export function capabilityOf(name: string, reference: PackageReference | undefined): Capability {
  // Unheard of without a reference; what is not known is not allowed.
  const minimumTrust = reference?.trust ?? 'privileged';
  return { name, minimumTrust, sideEffects: false, confirmation: 'none' };
}

export function ownerOf({ state, session }: StepContext): Owner {
  return { runId: state.run.id, sessionId: session.id };
}

/** The package's artifact that is carried out finds the others in its context. */
export function createRunPackage({
  skills,
  handlers,
  modelFamily,
  executeArtifact,
}: ActivationDeps): RunPackage {
  const byKind = new Map(handlers.map((handler) => [handler.kind, handler]));

  return async ({ name, id, artifact: wanted, owner, contract }, step) => {
    const stored = id === undefined ? undefined : await skills.get(id);
    if (!stored) return failed(`the skill ${name} is not there as this run began with it`);
    const { skill, diagnostics } = parsePackage(filesOf(stored), name);
    if (!skill) {
      const [first] = diagnostics.map(formatDiagnostic);
      return failed(`the skill ${name} cannot be used by this version of Countersign: ${first ?? ''}`);
    }
    if (skill.id !== id) return failed(`the skill ${name} is not what this run began with`);
    const { outcome } = skill;
    if (outcome === null) {
      return failed(`the skill ${name} says no outcome that it comes to, so no step can run it`);
    }
    const first = skill.artifacts.find(
      (one) => one.kind !== 'description' && (wanted ?? pathOf(one)) === pathOf(one),
    );
    const artifact = first && variantFor(skill.artifacts, first.name, modelFamily);
    if (!artifact) return failed(`the skill ${name} has nothing to carry out: only its SKILL.md`);
    const handler = byKind.get(artifact.kind);
    if (!handler) {
      return failed(
        `the skill ${name} cannot be carried out here: its ${pathOf(artifact)} is of the kind ${artifact.kind}, ${executableKinds([...byKind.keys()])}`,
      );
    }
    const output = await executeArtifact(handler, artifact, { step, skill, outcome, owner });
    if (output.kind === 'waits') return { ...output, for: 'ci' };
    const blobs = logOf(output);
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
      notes: output.warnings,
    });
    if ('because' in made)
      return failed(`the skill ${name} failed: ${made.because}`, { retryable: true, blobs });
    const missing = contract === undefined ? undefined : missingOf(skill, made.outcome, blobs, step);
    return missing === undefined
      ? { kind: 'done', outcome: made.outcome, blobs }
      : failed(`the skill ${name} ended without what it must leave behind: ${missing}`, {
          retryable: true,
          blobs,
        });
  };
}

const FAILED: ReasonCode = 'step.failed.error';

function failed(
  because: string,
  more: { retryable: boolean; blobs: Blob[] } | undefined = undefined,
): StepResult {
  return { kind: 'failed', reason: reason(FAILED, because), retryable: false, ...more };
}

function executableKinds(kinds: readonly string[]): string {
  return kinds.length === 0 ? 'and no kind can be' : `and only ${kinds.join(', ')} can be`;
}

function missingOf(
  skill: SkillPackage,
  outcome: Outcome,
  blobs: Blob[],
  { clock }: StepContext,
): string | undefined {
  const produced = blobs.map(({ name, data }) => ({ path: name, bytes: Buffer.from(data) }));
  const { missing_required } = verify({ expected: contractOf(skill) }, produced, [outcome], clock.now());
  const [first] = missing_required;
  return first && `${first.id} (${first.path}): ${first.because}`;
}

function logOf(output: Exclude<ExecutedArtifact, Waiting>): Blob[] {
  const data = saidIn(output);
  return data === '' ? [] : [{ kind: 'log', name: LOG, data }];
}
