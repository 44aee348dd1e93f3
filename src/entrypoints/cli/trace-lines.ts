import type { Json } from '../../core/canonical.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { parseModule } from '../../domain/skill/module.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import { pathOf } from '../../domain/skill/place.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { SkillTrace } from '../../ports/skill-traces.ts';
import type { ReadTx } from '../../ports/storage.ts';
import { type Example, exampleSchema } from '../../skills/kinds/module/examples.ts';
import { inputsIn } from '../../skills/runtime/trace/module-input.ts';

/** Where to read traces: their rows, and their texts in blobs. */
export interface TraceSources {
  read: ReadTx;
  blobs: Blobs;
}

/**
 * All facts of a trace. Fields are listed one by one, so that renaming an internal field does not change
 * people's data sets.
 */
export async function wholeTrace(trace: SkillTrace, { read, blobs }: TraceSources) {
  const { of, tokens } = trace;
  return {
    trace: trace.id,
    skill: trace.skill,
    skill_id: trace.skillId,
    artifact: trace.artifact,
    kind: trace.kind,
    input: await textAt(trace.inputPath, blobs),
    output: trace.outputPath === null ? null : await textAt(trace.outputPath, blobs),
    error: trace.error,
    ...('callId' in of
      ? { run_id: null, session_id: null, call_id: of.callId, outcome: null, people_said: null }
      : {
          run_id: of.runId,
          session_id: of.sessionId,
          call_id: null,
          outcome: await outcomeOf(of, read),
          people_said: await peoplesDecision(of.runId, read),
        }),
    model: trace.model,
    tokens_in: tokens?.input ?? null,
    tokens_out: tokens?.output ?? null,
    cost: trace.cost,
    assertions_run: trace.assertionsRun,
    assertions_passed: trace.assertionsPassed,
    started_at: trace.startedAt.toISOString(),
    duration_ms: trace.completedAt.getTime() - trace.startedAt.getTime(),
  };
}

/**
 * A trace as an example for the skill's module. `undefined` if it is unsuitable: of another file, not
 * approved by people, or with a different input or output.
 */
export async function exampleIn(
  { of, kind, artifact, inputPath }: SkillTrace,
  skill: SkillPackage,
  { read, blobs }: TraceSources,
): Promise<Example | undefined> {
  const file = skill.artifacts.find((one) => one.kind === 'dspy_module' && pathOf(one) === artifact);
  if (kind !== 'dspy_module' || !file || skill.outcome === null || 'callId' in of) return undefined;
  if ((await peoplesDecision(of.runId, read)) !== 'approved') return undefined;
  const outcome = await outcomeOf(of, read);
  if (outcome?.outcome_kind !== skill.outcome) return undefined;
  const example = { input: inputsIn((await textAt(inputPath, blobs)) ?? ''), expected: judgementOf(outcome) };
  return exampleSchema(parseModule(file.content), skill.outcome).safeParse(example).data;
}

/**
 * The part of an outcome that a module can reproduce. Free text differs in each answer, so expecting it would
 * fail every answer.
 */
function judgementOf(outcome: Outcome): { [name: string]: Json } {
  return outcome.outcome_kind === 'review_verdict'
    ? { verdict: outcome.verdict }
    : { passed: outcome.passed };
}

async function textAt(path: string, blobs: Blobs): Promise<string | null> {
  const bytes = await blobs.get(path);
  return bytes ? new TextDecoder().decode(bytes) : null;
}

/** The final outcome of the session, `null` if it failed. */
async function outcomeOf(
  { runId, sessionId }: { runId: string; sessionId: string },
  { runs }: ReadTx,
): Promise<Outcome | null> {
  const state = await runs.load(runId);
  return state?.invocations.find((step) => step.sessionId === sessionId)?.outcome ?? null;
}

/**
 * People's decision on the run's last answered approval, which shows whether they accepted the skill's
 * result.
 */
async function peoplesDecision(
  runId: string,
  { approvals }: ReadTx,
): Promise<'approved' | 'rejected' | null> {
  const last = (await approvals.ofRun(runId)).findLast(
    ({ status }) => status === 'countersigned' || status === 'rejected',
  );
  if (!last) return null;
  return last.status === 'countersigned' ? 'approved' : 'rejected';
}
