import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '../../../core/canonical.ts';
import { redact } from '../../../core/redact/redact.ts';
import { pathOf } from '../../../domain/skill/place.ts';
import type { SkillArtifact } from '../../../domain/skill/skill.ts';
import type { Blobs } from '../../../ports/blobs.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { Asserted } from '../assertion/assert.ts';
import type { Owner, SkillContext } from '../skill-context.ts';
import { moduleInput } from './module-input.ts';
import type { Asked } from './watch-model.ts';

/** One finished execution. */
export interface Executed {
  owner: Owner;
  artifact: SkillArtifact;
  context: {
    step: Pick<SkillContext['step'], 'inputs'>;
    skill: Pick<SkillContext['skill'], 'id' | 'name'>;
  };
  asked: Asked;
  /** The inputs of a module. */
  inputs?: { [name: string]: Json } | undefined;
  /** The artifact's result; `undefined` if it failed. */
  value: Json | undefined;
  log: string;
  error: string | null;
  asserted: Asserted;
  startedAt: Date;
  completedAt: Date;
}

export type Recorder = (executed: Executed) => Promise<void>;

/**
 * Writes the trace of an execution, its texts before its row: an orphaned text does no harm, but a row
 * without texts would be a loss. A trace is no verdict, so it is written apart from the session's result,
 * which may be refused.
 */
export function createRecorder({
  storage,
  blobs,
}: {
  storage: Pick<Storage, 'transaction'>;
  blobs: Pick<Blobs, 'put'>;
}): Recorder {
  return async (executed) => {
    const { owner, artifact, context, asked, asserted, error, startedAt, completedAt } = executed;
    const { skill } = context;
    const keep = async (text: string): Promise<string> => {
      const shown = redact(text);
      const path = `${folderOf(owner)}${createHash('sha256').update(shown).digest('hex')}`;
      await blobs.put(path, shown);
      return path;
    };
    const output = outputOf(executed);
    const trace = {
      of: owner,
      skill: skill.name,
      skillId: skill.id,
      artifact: pathOf(artifact),
      kind: artifact.kind,
      inputPath: await keep(inputOf(executed)),
      outputPath: output === undefined ? null : await keep(output),
      error: error === null ? null : redact(error),
      startedAt,
      completedAt,
      tokens: asked.tokens,
      model: asked.model,
      cost: asked.cost,
      assertionsRun: asserted.run,
      assertionsPassed: asserted.passed,
    };
    await storage.transaction((tx) => tx.skillTraces.insert(trace));
  };
}

/** A folder per run or call, so that pruning needs no reference counts. */
function folderOf(owner: Owner): string {
  return `traces/${'callId' in owner ? owner.callId : owner.runId}/`;
}

/** The rendered prompts. If no model was asked, the inputs of the step. */
function inputOf({ asked: { prompts }, context, inputs }: Executed): string {
  if (inputs) return moduleInput(inputs, prompts);
  const [only, ...more] = prompts;
  if (only === undefined) return canonicalJson(context.step.inputs);
  return more.length === 0 ? only : canonicalJson(prompts);
}

/** The model's last answer, except for programs, which can ask models along the way. */
function outputOf({ artifact, asked, value, log }: Executed): string | undefined {
  const lastAnswer = artifact.kind === 'code_template' ? undefined : asked.answers.at(-1);
  if (lastAnswer !== undefined) return lastAnswer;
  return value === undefined ? log || undefined : canonicalJson(value);
}
