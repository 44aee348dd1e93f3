import { type ShownTrace, traceTable, traceTexts } from '../../messages/cli/skill-trace.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findRun } from './find-run.ts';
import { wholeTrace } from './trace-lines.ts';

export interface SkillTraceOptions extends DatabaseOption {
  /** Only this skill. */
  skill?: string;
  texts?: true;
}

/** The executions of skills in a run, in order, with their effort and whether they had a result. */
export function skillTrace(
  { tools }: Context,
  runId: string,
  { skill, texts, database }: SkillTraceOptions,
): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    await findRun(read, runId);
    const traces = await read.skillTraces.ofRun(runId);
    const sources = { read, blobs: await tools.blobs() };
    const shown: ShownTrace[] = [];
    for (const trace of traces.filter((one) => skill === undefined || one.skill === skill)) {
      const { input, output, ...facts } = await wholeTrace(trace, sources);
      shown.push(texts ? { ...facts, input, output } : facts);
    }
    return { text: (screen) => (texts ? traceTexts : traceTable)(shown, screen), json: shown };
  });
}
