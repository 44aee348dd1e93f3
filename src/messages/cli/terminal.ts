import { formatDuration } from '../../core/duration.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { explain, explainText, plainLine } from '../../domain/run/explain.ts';
import type { Run, RunState } from '../../domain/run/run.ts';
import type { DeliverySummary } from '../../ports/storage.ts';
import { artifactRows, delivery } from '../run/artifacts.ts';
import { gateRows } from '../run/gates.ts';
import { sentence } from '../run/run-sentence.ts';
import { runSummary } from '../run/run-summary.ts';
import { face } from '../run/steps-table.ts';
import { clip, short } from '../text/pretty.ts';

const GAP = '  ';
/** In columns, so that one long branch name does not push the other columns off the screen. */
const MAX_CELL = 60;

/**
 * A table with aligned columns and without colour, so that it reads the same in a pipe, a log and a screen
 * reader. Cells can contain untrusted text, which is made safe here.
 * @param options.last how wide the last column may be
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { last = MAX_CELL }: { last?: number } = {},
): string {
  const widest = (column: number) => (column === headings.length - 1 ? last : MAX_CELL);
  const cells = [headings, ...rows].map((row) =>
    headings.map((_, column) => clip(plainLine(row[column] ?? ''), widest(column))),
  );
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => width(row[column] ?? ''))));
  return cells
    .map((row) =>
      row
        .map((text, column) => text + ' '.repeat((widths[column] ?? 0) - width(text)))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** Loading the data for a segmenter takes 5 to 10 ms, and most cells need none. */
const ASCII = /^[\x20-\x7e]*$/;
let segmenter: Intl.Segmenter | undefined;
const WIDE =
  /\uFE0F|[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uFF01-\uFF60]/u;

/** The columns that a terminal uses for the text: two for East Asian characters and emoji, otherwise one. */
function width(text: string): number {
  if (ASCII.test(text)) return text.length;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let columns = 0;
  for (const { segment } of segmenter.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}

export function ago(moment: Date, now: Date): string {
  return `${formatDuration(Math.max(0, now.getTime() - moment.getTime()))} ago`;
}

/** `run list`, in the given order. */
export function runList(runs: readonly Run[], now: Date): string {
  if (runs.length === 0) return 'No runs.';
  return table(
    ['RUN', 'CHAIN', 'PULL REQUEST', 'HEAD', 'STATUS', 'UPDATED'],
    runs.map((run) => [
      run.id,
      run.chain,
      run.pullRequest === null ? run.repository : `${run.repository}#${run.pullRequest}`,
      short(run.headSha),
      run.status,
      ago(run.updatedAt, now),
    ]),
  );
}

/** `run show`: the run, its steps, and the explanation of its state. */
export function runShow(state: RunState, approval: Approval | null, now: Date): string {
  const { run, invocations } = state;
  const about = run.pullRequest === null ? run.repository : `${run.repository}#${run.pullRequest}`;
  return [
    `${plainLine(about)} at ${short(run.headSha)}, chain ${run.chain}, run ${run.id}`,
    plainLine(sentence(runSummary(state, approval), state, approval)),
    `Created ${run.createdAt.toISOString()}, updated ${ago(run.updatedAt, now)}`,
    ...Object.entries(run.facts.inputs ?? {}).map(([name, value]) => plainLine(`Input ${name}: ${value}`)),
    '',
    table(
      ['STEP', 'STATE', 'TOOK', 'REASON'],
      invocations.map((step) => [
        step.stepId,
        face(step).words,
        step.startedAt && step.finishedAt
          ? formatDuration(step.finishedAt.getTime() - step.startedAt.getTime())
          : '',
        step.reason?.summary ?? '',
      ]),
    ),
    ...gatesTable(state),
    ...artifactsTable(state),
    '',
    explainText(explain(state, approval)),
  ].join('\n');
}

function gatesTable(state: RunState): string[] {
  const rows = gateRows(state);
  return rows.length === 0 ? [] : ['', 'Gates', table(['GATE', 'STANDS', 'STATE', 'BECAUSE'], rows)];
}

function artifactsTable(state: RunState): string[] {
  const rows = artifactRows(state);
  if (rows.length === 0) return [];
  const now = delivery(state);
  return [
    '',
    `Expected artifacts${now === undefined ? '' : `: ${now}`}`,
    table(['STEP', 'EXPECTED', 'NEED', 'PRODUCED', 'ARTIFACT'], rows),
  ];
}

/** `delivery list`, in the given order. */
export function deliveryList(deliveries: readonly DeliverySummary[], now: Date): string {
  if (deliveries.length === 0) return 'No deliveries.';
  return table(
    ['DELIVERY', 'GUID', 'EVENT', 'STATUS', 'ATTEMPTS', 'RECEIVED', 'ERROR'],
    deliveries.map((delivery) => [
      String(delivery.id),
      delivery.guid,
      delivery.action === null ? delivery.event : `${delivery.event}.${delivery.action}`,
      delivery.status,
      String(delivery.attempts),
      ago(delivery.receivedAt, now),
      delivery.error ?? '',
    ]),
  );
}
