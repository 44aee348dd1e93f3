import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import { type Asserted, assertAll } from '../assertion/assert.ts';
import type { AnyHandler, ArtifactOutput, Waiting } from '../handler.ts';
import { pathOf } from '../package/place.ts';
import type { SkillArtifact } from '../package/skill.ts';
import type { SkillContext } from '../registry/activate.ts';
import type { Recorder } from './record.ts';
import { type ModelWatch, type Owner, purposeOf } from './watch-model.ts';

/** What a handler gave back, held against the artifact's assertions; soft ones that do not hold are told beside it. */
export type CarriedOut = (ArtifactOutput & { warnings: readonly string[] }) | Waiting;

/** Has a handler execute an artifact: checked and traced, whatever its kind. */
export type CarryOut = (
  handler: AnyHandler<SkillContext>,
  artifact: SkillArtifact,
  context: SkillContext,
  owner: Owner,
) => Promise<CarriedOut>;

const NOTHING_ASSERTED: Asserted = { run: 0, passed: 0, warnings: [], broken: undefined };

/** Every kind goes through here, so that no handler can leave out its trace or what is asserted of it. */
export function createCarryOut(deps: { watch: ModelWatch; record: Recorder; clock: Clock }): CarryOut {
  const { watch, record, clock } = deps;

  return async (handler, artifact, context, owner) => {
    const startedAt = clock.now();
    const { asked, ended } = await watch.during(owner, async (asked) => ({
      asked,
      ended: await settled(handler.execute(artifact, context)),
    }));
    const executed = { owner, artifact, context, asked, startedAt, completedAt: clock.now() };
    if ('error' in ended) {
      const trace = { value: undefined, log: '', error: messageOf(ended.error), asserted: NOTHING_ASSERTED };
      // What was thrown is for the queue to judge, and a trouble with its trace must not take its place.
      await record({ ...executed, ...trace }).catch(() => undefined);
      throw ended.error;
    }
    const { output } = ended;
    // Nothing was executed yet, and it is looked at again: a trace of each look would say nothing.
    if (output.kind === 'waits') return output;
    const value = output.kind === 'done' ? output.value : undefined;
    const asserted =
      value === undefined
        ? NOTHING_ASSERTED
        : await assertAll(artifact, value, askingIn(context, artifact, owner));
    const checked = afterAssertions(output, asserted);
    const error = checked.kind === 'failed' ? checked.because : null;
    await record({ ...executed, value, log: output.log, error, asserted });
    return { ...checked, warnings: asserted.warnings };
  };

  function askingIn({ step, skill }: SkillContext, artifact: SkillArtifact, owner: Owner) {
    const { run } = step.state;
    const purpose = {
      runId: run.id,
      sessionId: step.session.id,
      repositoryId: run.repositoryId,
      pullRequest: run.pullRequest,
      skill: skill.name,
      artifact: pathOf(artifact),
    };
    return { model: watch.model, purpose: purposeOf(purpose, owner), signal: step.signal };
  }
}

async function settled<T>(work: Promise<T>): Promise<{ output: T } | { error: unknown }> {
  try {
    return { output: await work };
  } catch (error) {
    return { error };
  }
}

function afterAssertions(output: ArtifactOutput, { broken }: Asserted): ArtifactOutput {
  return broken ? { kind: 'failed', ...broken, log: output.log } : output;
}
