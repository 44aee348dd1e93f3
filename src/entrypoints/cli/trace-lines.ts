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

/** What traces are told with: their rows, and the texts that belong to them. */
export interface TraceSources {
  read: ReadTx;
  blobs: Blobs;
}

/** Everything about a trace; written out so that a renamed field of ours does not change people's data sets unnoticed. */
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
          people_said: await peopleSaid(of.runId, read),
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
 * A trace as an example of what the skill's module should say; `undefined` for one that shows nothing of it: another file's, one that people
 * did not approve, or one of a module that took or gave something else.
 */
export async function exampleIn(
  { of, kind, artifact, inputPath }: SkillTrace,
  skill: SkillPackage,
  { read, blobs }: TraceSources,
): Promise<Example | undefined> {
  const file = skill.artifacts.find((one) => one.kind === 'dspy_module' && pathOf(one) === artifact);
  if (kind !== 'dspy_module' || !file || skill.outcome === null || 'callId' in of) return undefined;
  if ((await peopleSaid(of.runId, read)) !== 'approved') return undefined;
  const outcome = await outcomeOf(of, read);
  if (outcome?.outcome_kind !== skill.outcome) return undefined;
  const example = { input: inputsIn((await textAt(inputPath, blobs)) ?? ''), expected: judgementOf(outcome) };
  return exampleSchema(parseModule(file.content), skill.outcome).safeParse(example).data;
}

/** What of an outcome can come out again: no two answers have the same words, so to expect them would make every answer wrong. */
function judgementOf(outcome: Outcome): { [name: string]: Json } {
  return outcome.outcome_kind === 'review_verdict'
    ? { verdict: outcome.verdict }
    : { passed: outcome.passed };
}

async function textAt(path: string, blobs: Blobs): Promise<string | null> {
  const bytes = await blobs.get(path);
  return bytes ? new TextDecoder().decode(bytes) : null;
}

/** What the session came to in the end; nothing when it failed. */
async function outcomeOf(
  { runId, sessionId }: { runId: string; sessionId: string },
  { runs }: ReadTx,
): Promise<Outcome | null> {
  const state = await runs.load(runId);
  return state?.invocations.find((step) => step.sessionId === sessionId)?.outcome ?? null;
}

/** Of the run’s last question that people answered: whether what the skill said was acted on. */
async function peopleSaid(runId: string, { approvals }: ReadTx): Promise<'approved' | 'rejected' | null> {
  const last = (await approvals.ofRun(runId)).findLast(
    ({ status }) => status === 'countersigned' || status === 'rejected',
  );
  if (!last) return null;
  return last.status === 'countersigned' ? 'approved' : 'rejected';
}
