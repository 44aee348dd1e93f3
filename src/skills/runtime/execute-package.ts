import type { Json } from '../../core/canonical.ts';
import { LeftFiles } from '../../domain/artifact/left-files.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import { pathOf } from '../../domain/skill/place.ts';
import type { SkillArtifact } from '../../domain/skill/skill.ts';
import { fileRefused } from '../../messages/skills/left-files.ts';
import {
  hasGates,
  isNoSkill,
  notInUses,
  notRunByPrograms,
  notThere,
  saysNoOutcome,
  TOO_DEEP,
} from '../../messages/skills/run-skill.ts';
import type { AnyHandler } from './handler.ts';
import { outcomeOf } from './outcome-of.ts';
import type { SkillCalls, SkillContext } from './skill-context.ts';
import type { ExecuteArtifact, ExecutedArtifact } from './trace/execute-artifact.ts';
import { variantFor } from './variant.ts';

/** What executing a package needs. */
export interface PackageTools {
  /** One handler for each kind of artifact that can be executed here. */
  handlers: readonly AnyHandler<SkillContext>[];
  /** The family of the configured model; `null` if there is none. */
  modelFamily: string | null;
  executeArtifact: ExecuteArtifact;
}

/** Why nothing of a package was executed. */
export type Unusable =
  | { kind: 'unusable'; because: 'only_described' }
  | { kind: 'unusable'; because: 'no_handler'; artifact: SkillArtifact };

/** How deep programs can call skills whose programs call skills. */
const MAX_DEPTH = 2;

/**
 * Executes a package: the wanted file, the package's sequence, or its first file after the SKILL.md. Each
 * file of a sequence gets the result of the one before it. The first that fails or waits ends it.
 * @param wanted the path of a file
 */
export async function executePackage(
  context: SkillContext,
  tools: PackageTools,
  wanted?: string,
): Promise<ExecutedArtifact | Unusable> {
  const { skill, calledAt } = context;
  const files = filesToExecute(skill, tools.modelFamily, wanted);
  if (files.length === 0) return { kind: 'unusable', because: 'only_described' };
  // Checked for all files first, so that nothing runs in vain.
  const steps: { artifact: SkillArtifact; handler: AnyHandler<SkillContext> }[] = [];
  for (const artifact of files) {
    const handler = tools.handlers.find(({ kind }) => kind === artifact.kind);
    if (!handler) return { kind: 'unusable', because: 'no_handler', artifact };
    steps.push({ artifact, handler });
  }

  const logs: string[] = [];
  const warnings: string[] = [];
  const left = new LeftFiles();
  // Shared by all files of a sequence, too.
  const { depth, root } = calledAt ?? { depth: 0, root: {} };
  let last: ExecutedArtifact | undefined;
  for (const [index, { artifact, handler }] of steps.entries()) {
    const isIntermediate = index < steps.length - 1;
    const output = await tools.executeArtifact(handler, artifact, {
      ...context,
      ...(last?.kind === 'done' ? { previous: last.value } : {}),
      isIntermediate,
      calls: { depth, root, run: callable(context, tools, { depth, root }) },
    });
    if (output.kind === 'waits') return output;
    logs.push(output.log);
    warnings.push(...output.warnings);
    for (const { path, bytes } of output.files ?? []) {
      const refused = left.add(path, bytes);
      if (refused !== undefined) warnings.push(fileRefused(path, refused));
    }
    last = { ...output, log: logs.join(''), warnings, files: left.all() };
    if (output.kind === 'failed') break;
  }
  return last ?? { kind: 'unusable', because: 'only_described' };
}

function filesToExecute(
  { artifacts, sequence }: SkillPackage,
  modelFamily: string | null,
  wanted: string | undefined,
): SkillArtifact[] {
  // A choice of the first file of a sequence is a choice of the sequence.
  const isSequence = sequence.length > 0 && (wanted === undefined || wanted === sequence[0]);
  const executable = artifacts.filter(({ kind }) => kind !== 'description');
  const paths = isSequence ? sequence : [wanted ?? executable.map(pathOf)[0]];
  return paths.flatMap((path) => {
    const found = executable.find((one) => pathOf(one) === path);
    return (found && variantFor(artifacts, found.name, modelFamily)) ?? [];
  });
}

/** What the programs of this package can run: its own files, and the skills that its SKILL.md lists. */
function callable(
  context: SkillContext,
  tools: PackageTools,
  { depth, root }: Pick<SkillCalls, 'depth' | 'root'>,
): SkillCalls['run'] {
  const { step, skill } = context;

  return async (target, inputs, signal) => {
    if (depth >= MAX_DEPTH) return { because: TOO_DEEP };
    const isFile = target.includes('/');
    const found = isFile ? ownFile(skill, target) : await usedSkill(target, context);
    if (!('name' in found)) return found;
    const { outcome } = found;
    if (outcome === null) return { because: saysNoOutcome(target) };
    const { packages, owner } = context;
    const nested: SkillContext = {
      step: { ...step, inputs, signal: AbortSignal.any([step.signal, signal]) },
      skill: found,
      outcome,
      owner,
      ...(packages ? { packages } : {}),
      calledAt: { depth: depth + 1, root },
    };
    // An agent takes longer than a program may.
    const handlers = tools.handlers.filter(({ kind }) => kind !== 'agent');
    const output = await executePackage(nested, { ...tools, handlers }, isFile ? target : undefined);
    switch (output.kind) {
      case 'unusable':
        return {
          because:
            output.because === 'only_described' ? isNoSkill(target) : notRunByPrograms(output.artifact.kind),
        };
      case 'waits':
        return { because: output.reason.summary };
      case 'failed':
        return { because: output.because };
      case 'done': {
        const made = outcomeOf(output.value, outcome, {
          headSha: step.state.run.headSha,
          round: await step.round(),
          skill: found.name,
          ownSchema: found.outcomeSchema,
          step: step.step.id,
          inputsHash: '',
          notes: output.warnings,
        });
        return 'because' in made ? made : { outcome: made.outcome as unknown as Json };
      }
    }
  };
}

function ownFile(skill: SkillPackage, path: string): SkillPackage | { because: string } {
  const found = skill.artifacts.some((one) => one.kind !== 'description' && pathOf(one) === path);
  return found ? { ...skill, sequence: [] } : { because: notThere(path) };
}

async function usedSkill(
  name: string,
  { skill, step, packages }: SkillContext,
): Promise<SkillPackage | { because: string }> {
  if (!skill.uses.includes(name)) return { because: notInUses(name) };
  // The gates of a step were fixed when the run began, so nothing would judge this one.
  const gates = step.state.run.settings.gates ?? [];
  if (gates.some(({ uses }) => uses === name)) return { because: hasGates(name) };
  return (await packages?.(name)) ?? { because: isNoSkill(name) };
}
