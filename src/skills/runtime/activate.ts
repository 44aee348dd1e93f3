import { contentHash } from '../../core/canonical.ts';
import { formatDiagnostic } from '../../core/diagnostic.ts';
import { OWN_FILES } from '../../domain/artifact/left-files.ts';
import { verify } from '../../domain/artifact/verification.ts';
import type { PackageReference, Step } from '../../domain/chain/chain.ts';
import { type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import { contractOf, filesOf, type SkillPackage } from '../../domain/skill/package.ts';
import { parsePackage } from '../../domain/skill/parse.ts';
import { pathOf } from '../../domain/skill/place.ts';
import type { Blob, StepContext, StepHandler, StepResult } from '../../engine/steps/step.ts';
import { executePackage, type PackageTools, type Unusable } from './execute-package.ts';
import type { Waiting } from './handler.ts';
import { outcomeOf } from './outcome-of.ts';
import type { Owner } from './skill-context.ts';
import { type ExecutedArtifact, logWithWarnings } from './trace/execute-artifact.ts';

export interface ActivationDeps extends PackageTools {
  skills: { get(id: string): Promise<Pick<SkillPackage, 'artifacts'> | undefined> };
}

/** A package to execute, as it was when that was decided. */
interface PackageCall {
  name: string;
  /** The hash of its content; `undefined` if it was not stored. */
  id: string | undefined;
  /** By name, the ids of the packages that its programs can run. */
  uses: { [name: string]: string } | undefined;
  /** The path of an artifact; the default is the first after the SKILL.md, or its sequence. */
  artifact?: string;
  owner: Owner;
  /**
   * Set if the package was chosen after its session began. The session's contract then does not cover it, so
   * its artifacts are checked here against the package's own declaration.
   */
  contract?: 'package';
}

/** Executes a stored package, with its files as they were when it was stored. */
export type RunPackage = (call: PackageCall, step: StepContext) => Promise<StepResult>;

/** The artifact's log, as an artifact of its session. */

/**
 * The handler of steps that name a package: it executes the package as it was when the run began, not as its
 * files are now.
 */
export function packageSkill(runPackage: RunPackage): (step: Step) => StepHandler {
  return ({ uses: { name, package: reference } }) => ({
    name,
    capability: capabilityOf(name, reference),
    isReview: true,
    cognitiveHints: { produces: reference?.produces ?? [] },
    run: (step) => runPackage({ name, id: reference?.id, uses: reference?.uses, owner: ownerOf(step) }, step),
  });
}

/** What executing a package requires. */
export function capabilityOf(name: string, reference: PackageReference | undefined): Capability {
  // Without a reference the package is unknown, so it requires the highest trust.
  const minimumTrust = reference?.trust ?? 'privileged';
  return { name, minimumTrust, sideEffects: false, confirmation: 'none' };
}

export function ownerOf({ state, session }: StepContext): Owner {
  return { runId: state.run.id, sessionId: session.id };
}

/** The executed artifact receives the whole package in its context. */
export function createRunPackage({ skills, ...tools }: ActivationDeps): RunPackage {
  async function load(name: string, id: string | undefined): Promise<SkillPackage | { because: string }> {
    const stored = id === undefined ? undefined : await skills.get(id);
    if (!stored) return { because: `the skill ${name} is not there as this run began with it` };
    const { skill, diagnostics } = parsePackage(filesOf(stored), name);
    if (!skill) {
      const [first] = diagnostics.map(formatDiagnostic);
      return { because: `the skill ${name} cannot be used by this version of Countersign: ${first ?? ''}` };
    }
    return skill.id === id ? skill : { because: `the skill ${name} is not what this run began with` };
  }

  return async ({ name, id, uses = {}, artifact: wanted, owner, contract }, step) => {
    const skill = await load(name, id);
    if ('because' in skill) return failed(skill.because);
    const packages = async (used: string) => {
      const found = await load(used, Object.hasOwn(uses, used) ? uses[used] : undefined);
      return 'because' in found ? undefined : found;
    };
    const { outcome } = skill;
    if (outcome === null) {
      return failed(`the SKILL.md of ${name} has no outcome, so no step can run it`);
    }
    const output = await executePackage({ step, skill, outcome, owner, packages }, tools, wanted);
    if (output.kind === 'unusable') return failed(describeUnusable(name, output, tools));
    if (output.kind === 'waits') return { ...output, for: 'ci' };
    const blobs = [...logOf(output), ...filesIn(output)];
    if (output.kind === 'failed') {
      return failed(`the skill ${name} failed: ${output.because}`, { retryable: output.retryable, blobs });
    }
    const { run } = step.state;
    const made = outcomeOf(output.value, outcome, {
      headSha: run.headSha,
      round: await step.round(),
      skill: name,
      ownSchema: skill.outcomeSchema,
      step: step.step.id,
      inputsHash: contentHash({ skill: skill.id, artifact: wanted ?? null, inputs: step.inputs }),
      notes: output.warnings,
    });
    if ('because' in made)
      return failed(`the skill ${name} failed: ${made.because}`, { retryable: true, blobs });
    const missing = contract === undefined ? undefined : missingOf(skill, made.outcome, blobs, step);
    return missing === undefined
      ? { kind: 'done', outcome: made.outcome, blobs }
      : failed(`the skill ${name} ended without a required file: ${missing}`, {
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

function describeUnusable(name: string, unusable: Unusable, { handlers }: PackageTools): string {
  if (unusable.because === 'only_described') return `the skill ${name} has nothing to run: only its SKILL.md`;
  const { artifact } = unusable;
  const kinds = handlers.map(({ kind }) => kind);
  const executable = kinds.length === 0 ? 'and no kind can be' : `and only ${kinds.join(', ')} can be`;
  return `the skill ${name} cannot be run here: its ${pathOf(artifact)} is of the kind ${artifact.kind}, ${executable}`;
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

function filesIn({ files = [] }: Exclude<ExecutedArtifact, Waiting>): Blob[] {
  return files.map(({ path, bytes }) => ({ kind: 'file', name: path, data: bytes }));
}

function logOf(output: Exclude<ExecutedArtifact, Waiting>): Blob[] {
  const data = logWithWarnings(output);
  return data === '' ? [] : [{ kind: 'log', name: OWN_FILES.package, data }];
}
