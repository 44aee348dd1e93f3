import type { Approval } from '../../domain/policy/approval.ts';
import { plainLine } from '../../domain/run/explain.ts';
import type { Invocation, Run, RunState } from '../../domain/run/run.ts';
import { sentence } from '../run/run-sentence.ts';
import { runSummary } from '../run/run-summary.ts';
import { face } from '../run/steps-table.ts';
import { short } from '../text/pretty.ts';
import { paint, type Screen } from '../text/screen.ts';
import { place } from './cli.ts';
import { meaningOfStep, outcomeOfRun } from './run-outcome.ts';

export const NO_RUN_TO_FOLLOW =
  'There is no such run to follow; countersign run list shows the runs there are, and --follow waits for the next.';

export const ONE_RUN_OR_ALL =
  'Name one run, or choose with --repo, --pr and --follow: a run that is named needs no choice.';

/** What happened to a run, as `run tail` shows it. */
export type RunNews =
  | { kind: 'begun'; run: Run }
  | { kind: 'step'; run: Run; step: Invocation; at: Date }
  | { kind: 'printed'; run: Run; step: Invocation; line: string }
  /** Lines that are not shown: too many, or they cannot be read here. `artifact` has the whole log, if there is one. */
  | { kind: 'left_out'; run: Run; step: Invocation; artifact: string | undefined }
  | { kind: 'ended'; state: RunState; approval: Approval | null };

/** @param among the run is one of several, so each line says which */
export function newsLine(news: RunNews, among: boolean, screen: Screen): string {
  const run = news.kind === 'ended' ? news.state.run : news.run;
  const of = among ? `${place(run)} ${run.chain} · ` : '';
  switch (news.kind) {
    case 'begun':
      return among
        ? `${of}run ${run.id} at ${short(run.headSha)}`
        : `${place(run)} at ${short(run.headSha)}, chain ${run.chain}, run ${run.id}`;
    case 'step': {
      const { words } = face(news.step);
      const meaning = meaningOfStep(words);
      const state = meaning === undefined ? words : paint(meaning, words, screen);
      const because = news.step.reason ? `: ${plainLine(news.step.reason.summary)}` : '';
      return `${timeOf(news.at)}  ${of}${news.step.stepId} ${state}${because}`;
    }
    case 'printed':
      return `          ${of}${news.step.stepId} | ${plainLine(news.line)}`;
    case 'left_out':
      return `          ${of}${news.step.stepId} | … ${
        news.artifact === undefined
          ? 'Earlier lines are left out.'
          : `Lines are left out; countersign artifact get ${news.artifact} prints all.`
      }`;
    case 'ended': {
      const said = plainLine(sentence(runSummary(news.state, news.approval), news.state, news.approval));
      return `${of}${paint(isWell(news.state) ? 'good' : 'bad', said, screen)}`;
    }
  }
}

/** Whether the run came to what its chain is for: a merge, or the end of its steps. */
export function isWell(state: RunState): boolean {
  const { kind } = runSummary(state, null);
  return kind === 'merged' || kind === 'done';
}

/** The same as a line of JSON. Scripts rely on it. */
export function newsJson(news: RunNews): Record<string, unknown> {
  const run = news.kind === 'ended' ? news.state.run : news.run;
  const of = { kind: news.kind, run_id: run.id };
  switch (news.kind) {
    case 'begun':
      return {
        ...of,
        chain: run.chain,
        repository: run.repository,
        pull_request: run.pullRequest,
        head_sha: run.headSha,
      };
    case 'step': {
      const { stepId, status, reason } = news.step;
      return {
        ...of,
        at: news.at.toISOString(),
        step: stepId,
        status,
        reason: reason?.code ?? null,
        because: reason?.summary ?? null,
      };
    }
    case 'printed':
      return { ...of, step: news.step.stepId, line: news.line };
    case 'left_out':
      return { ...of, step: news.step.stepId, artifact_id: news.artifact ?? null };
    case 'ended':
      return { ...of, status: run.status, outcome: outcomeOfRun(news.state), ok: isWell(news.state) };
  }
}

function timeOf(at: Date): string {
  return at.toISOString().slice(11, 19);
}
