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
import { short } from '../text/pretty.ts';
import { PLAIN, paintMarks, type Screen } from '../text/screen.ts';
import { meaningOfStatus, meaningOfStep, outcomeOfRun } from './run-outcome.ts';
import { table } from './table.ts';

export function ago(moment: Date, now: Date): string {
  return `${formatDuration(Math.max(0, now.getTime() - moment.getTime()))} ago`;
}

/** A run of a list. */
export interface ListedRun {
  run: Run;
  /** Its steps, which say what came of it; absent if they are not asked for. */
  state?: RunState | undefined;
}

/** `run list`, in the given order. */
export function runList(runs: readonly ListedRun[], now: Date, screen: Screen = PLAIN): string {
  if (runs.length === 0) return 'No runs.';
  return table(
    [
      'RUN',
      { heading: 'CHAIN', leftOut: 2 },
      { heading: 'PULL REQUEST', keeps: 'end' },
      { heading: 'HEAD', whole: true, leftOut: 3 },
      { heading: 'STATUS', whole: true, meaning: meaningOfStatus },
      ...(runs.some(({ state }) => state) ? ['OUTCOME'] : []),
      { heading: 'UPDATED', whole: true, leftOut: 1 },
    ],
    runs.map(({ run, state }) => [
      run.id,
      run.chain,
      run.pullRequest === null ? run.repository : `${run.repository}#${run.pullRequest}`,
      short(run.headSha),
      run.status,
      ...(runs.some((one) => one.state) ? [state === undefined ? '' : outcomeOfRun(state)] : []),
      ago(run.updatedAt, now),
    ]),
    { screen },
  );
}

/** `run show`: the run, its steps, and the explanation of its state. */
export function runShow(
  state: RunState,
  approval: Approval | null,
  now: Date,
  screen: Screen = PLAIN,
): string {
  const { run, invocations } = state;
  const about = run.pullRequest === null ? run.repository : `${run.repository}#${run.pullRequest}`;
  return [
    `${plainLine(about)} at ${short(run.headSha)}, chain ${run.chain}, run ${run.id}`,
    plainLine(sentence(runSummary(state, approval), state, approval)),
    `Created ${run.createdAt.toISOString()}, updated ${ago(run.updatedAt, now)}`,
    ...Object.entries(run.facts.inputs ?? {}).map(([name, value]) => plainLine(`Input ${name}: ${value}`)),
    '',
    table(
      [
        'STEP',
        { heading: 'STATE', whole: true, meaning: meaningOfStep },
        { heading: 'TOOK', whole: true },
        'REASON',
      ],
      invocations.map((step) => [
        step.stepId,
        face(step).words,
        step.startedAt && step.finishedAt
          ? formatDuration(step.finishedAt.getTime() - step.startedAt.getTime())
          : '',
        step.reason?.summary ?? '',
      ]),
      { screen },
    ),
    ...gatesTable(state, screen),
    ...artifactsTable(state, screen),
    '',
    paintMarks(explainText(explain(state, approval)), screen),
  ].join('\n');
}

function gatesTable(state: RunState, screen: Screen): string[] {
  const rows = gateRows(state);
  return rows.length === 0
    ? []
    : ['', 'Gates', table(['GATE', 'STANDS', 'STATE', 'BECAUSE'], rows, { screen })];
}

function artifactsTable(state: RunState, screen: Screen): string[] {
  const rows = artifactRows(state);
  if (rows.length === 0) return [];
  const now = delivery(state);
  return [
    '',
    `Expected artifacts${now === undefined ? '' : `: ${now}`}`,
    table(['STEP', 'EXPECTED', 'NEED', 'PRODUCED', 'ARTIFACT'], rows, { screen }),
  ];
}

/** `delivery list`, in the given order. */
export function deliveryList(
  deliveries: readonly DeliverySummary[],
  now: Date,
  screen: Screen = PLAIN,
): string {
  if (deliveries.length === 0) return 'No deliveries.';
  return table(
    [
      { heading: 'DELIVERY', whole: true, leftOut: 2 },
      'GUID',
      'EVENT',
      { heading: 'STATUS', whole: true, meaning: meaningOfStatus },
      { heading: 'ATTEMPTS', leftOut: 3 },
      { heading: 'RECEIVED', whole: true, leftOut: 1 },
      'ERROR',
    ],
    deliveries.map((delivery) => [
      String(delivery.id),
      delivery.guid,
      delivery.action === null ? delivery.event : `${delivery.event}.${delivery.action}`,
      delivery.status,
      String(delivery.attempts),
      ago(delivery.receivedAt, now),
      delivery.error ?? '',
    ]),
    { screen },
  );
}
