import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { redactValue } from '../core/redact.ts';
import type { Blobs } from '../storage/blobs.ts';
import type { SkillTrace } from '../storage/skill-traces.ts';
import type { ReadTx } from '../storage/storage.ts';
import { tracesExported } from '../words/skill.ts';
import type { Context, DatabaseOption, Said } from './context.ts';
import { writeNew } from './skill-files.ts';
import { tracePages } from './trace-pages.ts';

export interface SkillTracesOptions extends DatabaseOption {
  skill?: string;
  /** How far back, in milliseconds. */
  since?: number;
}

/**
 * Writes what skills were given and gave back, what came of it and what people said to that, one JSON document a line: a set of examples
 * to judge or to improve a skill by. Page by page, since prompts are long and there may be many.
 */
export function skillTraces(
  { cwd, clock, tools }: Context,
  file: string,
  { skill, since, database }: SkillTracesOptions,
): Promise<Said> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const blobs = await tools.blobs();
    writeNew(cwd, file, '');
    const filter = {
      ...(skill === undefined ? {} : { skill }),
      ...(since === undefined ? {} : { since: new Date(clock.now().getTime() - since) }),
    };
    let traces = 0;
    for await (const page of tracePages(read.skillTraces, filter)) {
      for (const trace of page) {
        const line = JSON.stringify(redactValue(await exampleOf(trace, read, blobs)));
        appendFileSync(resolve(cwd, file), `${line}\n`);
      }
      traces += page.length;
    }
    return { text: tracesExported(traces, file), json: { file, traces } };
  });
}

/** One line of the file; written out so that a renamed field of ours does not change people's data sets unnoticed. */
async function exampleOf(trace: SkillTrace, read: ReadTx, blobs: Blobs) {
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

async function textAt(path: string, blobs: Blobs): Promise<string | null> {
  const bytes = await blobs.get(path);
  return bytes ? new TextDecoder().decode(bytes) : null;
}

/** What the session came to in the end; nothing when it failed. */
async function outcomeOf(
  { runId, sessionId }: { runId: string; sessionId: string },
  { runs }: ReadTx,
): Promise<unknown> {
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
