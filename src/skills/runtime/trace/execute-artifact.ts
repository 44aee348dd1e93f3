import type { Clock } from '../../../core/clock.ts';
import { messageOf } from '../../../core/errors.ts';
import { executedWith } from '../../../domain/skill/executed-with.ts';
import { pathOf } from '../../../domain/skill/place.ts';
import type { SkillArtifact } from '../../../domain/skill/skill.ts';
import { type Asserted, assertAll } from '../assertion/assert.ts';
import type { AnyHandler, ArtifactOutput, Waiting } from '../handler.ts';
import { purposeOf } from '../purpose.ts';
import type { SkillContext } from '../skill-context.ts';
import type { Recorder } from './record.ts';
import { addTo, type ModelWatch, storedPurpose } from './watch-model.ts';

/** A handler's result after its assertions were checked, with the soft ones that failed. */
export type ExecutedArtifact = (ArtifactOutput & { warnings: readonly string[] }) | Waiting;

/** The log with the warnings. */
export function logWithWarnings({ log, warnings }: Exclude<ExecutedArtifact, Waiting>): string {
  return [log, ...warnings].filter(Boolean).join('\n');
}

/** Executes an artifact of any kind through its handler, with assertions and a trace. */
export type ExecuteArtifact = (
  handler: AnyHandler<SkillContext>,
  artifact: SkillArtifact,
  context: SkillContext,
) => Promise<ExecutedArtifact>;

const NOTHING_ASSERTED: Asserted = { run: 0, passed: 0, warnings: [], broken: undefined };

/** All kinds pass through here, so that no handler can omit its trace or its assertions. */
export function createArtifactExecutor(deps: {
  watch: ModelWatch;
  record: Recorder;
  clock: Clock;
}): ExecuteArtifact {
  const { watch, record, clock } = deps;

  return async (handler, artifact, context) => {
    const { owner, skill } = context;
    const all = executedWith(artifact, skill);
    const startedAt = clock.now();
    const { asked, ended } = await watch.during(owner, async (asked) => ({
      asked,
      ended: await settled(handler.execute(artifact, context)),
    }));
    const executed = { owner, context, asked, startedAt, completedAt: clock.now() };
    if ('error' in ended) {
      const trace = { value: undefined, log: '', error: messageOf(ended.error), asserted: NOTHING_ASSERTED };
      // The queue must see the original error, so an error while recording its trace is ignored.
      for (const one of all) await record({ ...executed, ...trace, artifact: one }).catch(() => undefined);
      throw ended.error;
    }
    const { output } = ended;
    // Nothing was executed yet. A trace per recheck would be useless.
    if (output.kind === 'waits') return output;
    const { log, inputs, warnings = [] } = output;
    if (output.asked) addTo(asked, output.asked);
    if (output.kind === 'failed') {
      const trace = { value: undefined, log, inputs, error: output.because, asserted: NOTHING_ASSERTED };
      for (const one of all) await record({ ...executed, ...trace, artifact: one });
      return { ...output, warnings };
    }
    const { value } = output;
    const judged: Asserted[] = [];
    for (const one of all) {
      const asserted = await assertAll(one, value, askingIn(context, one));
      const error = asserted.broken?.because ?? null;
      await record({ ...executed, artifact: one, value, log, inputs, error, asserted });
      judged.push(asserted);
    }
    const broken = judged.find((asserted) => asserted.broken)?.broken;
    const { files } = output;
    const checked: ArtifactOutput = broken
      ? { kind: 'failed', ...broken, log, ...(files && { files }) }
      : output;
    return { ...checked, warnings: [...warnings, ...judged.flatMap((asserted) => asserted.warnings)] };
  };

  function askingIn({ step, skill, owner }: SkillContext, artifact: SkillArtifact) {
    const purpose = purposeOf(step, { skill: skill.name, artifact: pathOf(artifact) });
    return { model: watch.unwatched, purpose: storedPurpose(owner, purpose), signal: step.signal };
  }
}

async function settled<T>(work: Promise<T>): Promise<{ output: T } | { error: unknown }> {
  try {
    return { output: await work };
  } catch (error) {
    return { error };
  }
}
