import { redact } from '../../core/redact/redact.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { visible } from '../text/markdown.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { table } from './table.ts';

/** One execution of a file of a skill. */
export interface ShownTrace {
  trace: number;
  skill: string;
  artifact: string;
  kind: string;
  started_at: string;
  duration_ms: number;
  model: string | null;
  tokens_in: number | null;
  tokens_out: number | null;
  assertions_run: number;
  assertions_passed: number;
  error: string | null;
  input?: string | null;
  output?: string | null;
}

const NONE = 'No file of a skill package was executed in this run.';

/** The output of `skill trace`. */
export function traceTable(traces: readonly ShownTrace[], screen: Screen = PLAIN): string {
  if (traces.length === 0) return NONE;
  return table(
    [
      { heading: 'TRACE', whole: true },
      'SKILL',
      { heading: 'FILE', keeps: 'end' },
      { heading: 'STARTED', leftOut: 1 },
      { heading: 'TOOK', whole: true, leftOut: 4 },
      { heading: 'MODEL', leftOut: 3 },
      { heading: 'TOKENS', leftOut: 5 },
      { heading: 'ASSERTIONS', leftOut: 2 },
      'RESULT',
    ],
    traces.map((trace) => [
      String(trace.trace),
      trace.skill,
      trace.artifact,
      trace.started_at,
      `${trace.duration_ms} ms`,
      trace.model ?? '',
      trace.model === null || trace.tokens_in === null
        ? ''
        : `${trace.tokens_in} in, ${trace.tokens_out ?? 0} out`,
      trace.assertions_run === 0 ? '' : `${trace.assertions_passed} of ${trace.assertions_run} hold`,
      trace.error === null ? 'ok' : plainLine(redact(trace.error)),
    ]),
    { screen },
  );
}

/** The output of `skill trace --texts`. */
export function traceTexts(traces: readonly ShownTrace[], screen: Screen = PLAIN): string {
  if (traces.length === 0) return NONE;
  const shown = (text: string | null | undefined) =>
    text === null || text === undefined ? '(none)' : visible(redact(text));
  return traces
    .map((trace) =>
      [
        traceTable([trace], screen),
        '',
        'Input:',
        shown(trace.input),
        '',
        'Output:',
        shown(trace.output),
        '',
      ].join('\n'),
    )
    .join('\n');
}
