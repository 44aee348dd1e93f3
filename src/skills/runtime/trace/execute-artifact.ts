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
import { addTo, inNameOf, type ModelWatch } from './watch-model.ts';

/** What a handler gave back, held against the artifact's assertions; soft ones that do not hold are told beside it. */
export type ExecutedArtifact = (ArtifactOutput & { warnings: readonly string[] }) | Waiting;

/** All that was said while it worked. */
export function saidIn({ log, warnings }: Exclude<ExecutedArtifact, Waiting>): string {
  return [log, ...warnings].filter(Boolean).join('\n');
}

/** Has a handler execute an artifact: checked and traced, whatever its kind. */
export type ExecuteArtifact = (
  handler: AnyHandler<SkillContext>,
  artifact: SkillArtifact,
  context: SkillContext,
) => Promise<ExecutedArtifact>;

const NOTHING_ASSERTED: Asserted = { run: 0, passed: 0, warnings: [], broken: undefined };

/** Every kind goes through here, so that no handler can leave out its trace or what is asserted of it. */
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
      // What was thrown is for the queue to judge, and a trouble with its trace must not take its place.
      for (const one of all) await record({ ...executed, ...trace, artifact: one }).catch(() => undefined);
      throw ended.error;
    }
    const { output } = ended;
    // Nothing was executed yet, and it is looked at again: a trace of each look would say nothing.
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
    const checked: ArtifactOutput = broken ? { kind: 'failed', ...broken, log } : output;
    return { ...checked, warnings: [...warnings, ...judged.flatMap((asserted) => asserted.warnings)] };
  };

  function askingIn({ step, skill, owner }: SkillContext, artifact: SkillArtifact) {
    const purpose = purposeOf(step, { skill: skill.name, artifact: pathOf(artifact) });
    return { model: watch.apart, purpose: inNameOf(owner, purpose), signal: step.signal };
  }
}

async function settled<T>(work: Promise<T>): Promise<{ output: T } | { error: unknown }> {
  try {
    return { output: await work };
  } catch (error) {
    return { error };
  }
}
