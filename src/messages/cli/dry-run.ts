import type { CaseResult } from '../../domain/chain-case/case-file.ts';
import type { Happening } from '../../domain/chain-case/happening.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { explain, explainText, plainLine } from '../../domain/run/explain.ts';
import { type Invocation, isRunOver, type Run, type RunState } from '../../domain/run/run.ts';
import type { PullRequest } from '../../ports/github.ts';
import { conclusionOf } from '../check-run/check-state.ts';
import { NOTHING_WRITTEN } from '../run/rollout.ts';
import { runSummary } from '../run/run-summary.ts';
import { face } from '../run/steps-table.ts';
import { written } from '../run/what-is-written.ts';
import { listed, short } from '../text/pretty.ts';
import { PLAIN, paintMarks, type Screen } from '../text/screen.ts';
import { effectJson, whyJson } from './run-json.ts';
import { meaningOfStep } from './run-outcome.ts';
import { table } from './table.ts';

/** What a chain would have done for a pull request: the newest of so many runs, or why none began. */
export type Played = {
  /** `null` for a run without one. */
  pullRequest: PullRequest | null;
  /** It is closed, and was judged as if it were open. */
  asIfOpen: boolean;
  /** What a composite waits for, and what was played as if it had happened. */
  asIf: readonly Happening[];
} /** The newest of so many runs. */ & (
  | ({ kind: 'ran'; runs: number } & Course)
  /** `of`: it would run with other inputs, or no place has a chain of that name. */
  | { kind: 'not_run'; because: Explanation; of?: 'inputs' | 'name' }
);

/** What a run did, and the runs of its steps with `action: chain`. */
export interface Course {
  state: RunState;
  approval: Approval | null;
  effects: readonly Effect[];
  calls: readonly Call[];
}
type Call = Course & { step: string };

export const NO_TOKEN =
  'A dry run reads GitHub with a token: set GITHUB_TOKEN to one that can read the repository, its pull requests and checks.';
export const WITHOUT_TOKEN =
  'Without a token, GitHub shows only what is public, and answers 60 requests an hour: set GITHUB_TOKEN for more.';
export const NOT_A_PULL_REQUEST =
  'Name a pull request as owner/name#12, or by its address, such as https://github.com/owner/name/pull/12.';
export const TOKEN_REFUSED =
  'GitHub does not accept the token in GITHUB_TOKEN: it has expired, was revoked, or belongs to another server (GITHUB_API_URL).';
export const NEEDS_PULL_REQUEST =
  'Name a pull request with --pr owner/name#number, several with --against last:50 --repo owner/name, or only a repository with --repo owner/name for a chain that needs none.';
export const NEEDS_ACTOR = '--input needs --actor: only a chain that somebody fires has inputs.';
export const REPOSITORY_IS_NAMED = '--repo goes with --against; --pr names its repository.';
export const NEEDS_REPOSITORY = '--against needs a repository: --repo owner/name.';

/** @param host of the address that was given */
export function onAnotherServer(host: string, github: string): string {
  return `This pull request is on ${host}, but GITHUB_API_URL says ${github}. For GitHub Enterprise Server, set GITHUB_API_URL to https://${host}/api/v3.`;
}

export function noPullRequestToRead(repository: string, number: number, hasToken: boolean): string {
  const one = `${plainLine(repository)}#${number}`;
  return hasToken
    ? `GitHub shows no pull request ${one} for this token. ${MISSING_OR_HIDDEN}`
    : `GitHub shows no pull request ${one} without a token. Either it does not exist, or it is not public: set GITHUB_TOKEN to a token that may read it.`;
}

export function noRepositoryToRead(repository: string): string {
  return `GitHub shows no repository ${plainLine(repository)} for this token. ${MISSING_OR_HIDDEN}`;
}

/** @param because a clause that says which chains there are */
export function noChainToPlay(because: string): string {
  return `${plainLine(because.replace(/^t/, 'T'))}. A chain that the repository does not have yet can be given as a file.`;
}

const MISSING_OR_HIDDEN = 'Either it does not exist, or the token may not read it.';

export function rateLimitReached(until: Date | undefined, hasToken: boolean): string {
  const when = until ? ` until ${until.toISOString().slice(11, 16)} UTC` : '';
  if (!hasToken)
    return `GitHub answers this machine no more requests without a token${when}: set GITHUB_TOKEN, which allows thousands an hour.`;
  return `The token has no requests left${when}: GitHub limits how many it may make in an hour. Try again later, or with fewer pull requests.`;
}

export function noAnswer(message: string): string {
  return `GitHub does not answer: ${plainLine(message).replace(/\.$/, '')}. For GitHub Enterprise Server, set GITHUB_API_URL to https://HOST/api/v3.`;
}

export function gitHubRefuses(message: string): string {
  return `GitHub refuses a request that the dry run needs: ${plainLine(message)}. docs/cli.md lists what the token must be able to read.`;
}

export function withoutName(file: string): string {
  return `${plainLine(file)} has no valid "name:", so it is not a chain file.`;
}

/** The first line of progress: the next comes once GitHub was read. */
export function dryRunBegins(repository: string, count: number | undefined): string {
  const what = count === undefined ? '' : `the newest pull requests, up to ${count}, of `;
  return `Reading ${what}${plainLine(repository)} …`;
}

/** @param chains that steps of the given file run, and that are in its folder */
export function withFilesBeside(chains: readonly string[]): string {
  return `With ${listed(chains, 'and')} from the files beside it.`;
}

/** A line for each change of a step, while the dry run works. */
export function stepProgress({ pullRequest, facts }: Run, step: Invocation): string {
  const reason = step.reason ? `: ${step.reason.summary}` : '';
  const of = pullRequest === null ? '' : `#${pullRequest} `;
  const under = facts.parent ? `${facts.parent.step} > ` : '';
  return plainLine(`${of}${under}${step.stepId}: ${face(step).words}${reason}`);
}

/** The whole course for one pull request, with everything that would be written. */
export function dryRunText(
  repository: string,
  chain: string,
  played: Played,
  screen: Screen = PLAIN,
): string {
  const head = [
    `Dry run of ${chain} for ${plainLine(repository)}${subject(played)}.`,
    ...notesOf(played),
    'Nothing was written to GitHub.',
    '',
  ];
  return [...head, courseText(played, screen)].join('\n');
}

/** The steps, the reasons and what would be written. */
export function courseText(played: Played, screen: Screen = PLAIN): string {
  if (played.kind === 'not_run') return paintMarks(explainText(played.because), screen);
  const steps = table(
    ['STEP', { heading: 'STATE', whole: true, meaning: meaningOfStep }, 'REASON'],
    stepRows(played),
    { screen },
  );
  return [steps, '', ...endLines(played, screen)].join('\n');
}

/** The steps of each chain that a step runs are below that step. */
function stepRows({ state, calls }: Course, indent = ''): string[][] {
  return state.invocations.flatMap((step) => [
    [`${indent}${step.stepId}`, face(step).words, step.reason?.summary ?? ''],
    ...callsOf(calls, step).flatMap((call) => stepRows(call, `${indent}  `)),
  ]);
}

function callsOf(calls: readonly Call[], { stepId }: Pick<Invocation, 'stepId'>): readonly Call[] {
  return calls.filter(({ step }) => step === stepId);
}

/** The reasons and what would be written, of a run and then of those of its steps. */
function endLines(
  { state, approval, effects, calls }: Course,
  screen: Screen,
  path: readonly string[] = [],
): string[] {
  return [
    paintMarks(explainText(explain(state, approval)), screen),
    '',
    effects.length === 0 ? 'It would write nothing.' : 'It would write:',
    ...effects.flatMap((effect) => ['', ...written(effect)]),
    ...calls.flatMap(({ step, ...call }) => {
      const here = [...path, step];
      return [
        '',
        `The step ${here.join(' > ')} runs ${call.state.run.chain}:`,
        '',
        ...endLines(call, screen, here),
      ];
    }),
  ];
}

/** `run show`: what the rollout kept a run from writing, if anything. */
export function withheldText(effects: readonly Effect[]): string[] {
  if (effects.length === 0) return [];
  return [[NOTHING_WRITTEN, ...effects.flatMap((effect) => ['', ...written(effect)])].join('\n')];
}

/** A run and those of its steps, nearest first. */
export function courses(course: Course): Course[] {
  return [course, ...course.calls.flatMap(courses)];
}

function subject({ pullRequest }: Played): string {
  if (!pullRequest) return ', without a pull request';
  const { number, title, headSha, baseRef } = pullRequest;
  return `#${number} "${plainLine(title)}", ${short(headSha)} into ${plainLine(baseRef)}`;
}

/** What was assumed about the pull request. */
export function notesOf(played: Played): string[] {
  return [...closedNote(played), ...asIfNote(played)];
}

function closedNote({ pullRequest, asIfOpen }: Played): string[] {
  if (!pullRequest || !asIfOpen) return [];
  const { merged } = pullRequest;
  return [`It is ${merged ? 'merged' : 'closed'}, and is judged as if it were open, with today's checks.`];
}

function asIfNote({ asIf }: Played): string[] {
  const parts = asIf.filter(({ on }) => on !== 'pr.opened').map(happenedInWords);
  return parts.length === 0 ? [] : [plainLine(`It is judged as if ${listed(parts, 'and')}.`)];
}

/** Of those that a dry run plays for a part. */
function happenedInWords(one: Happening): string {
  switch (one.on) {
    case 'pr.labeled':
      return `somebody had added the label "${one.label}"`;
    case 'pr.review_submitted':
      return `somebody had submitted a review (${one.review})`;
    case 'ci.changed':
      return `the check "${one.check}" had ended (${one.conclusion})`;
    case 'invocation.completed':
      return `the step ${one.step} of ${one.chain} had completed`;
    default:
      return `${one.on} had happened`;
  }
}

/** One line for each pull request, and the counts. */
export function dryRunTable(
  repository: string,
  chain: string,
  all: readonly Played[],
  screen: Screen = PLAIN,
): string {
  if (all.length === 0) return `${plainLine(repository)} has no pull requests.`;
  const counts = Map.groupBy(all, (played) => judged(played).result);
  return [
    `Dry run of ${chain} for the newest ${all.length} pull requests of ${plainLine(repository)}. Nothing was written to GitHub.`,
    ...(all.some(({ asIfOpen }) => asIfOpen)
      ? ['Closed ones are judged as if they were open, with today’s checks.']
      : []),
    ...(all.map(asIfNote).find((note) => note.length > 0) ?? []),
    '',
    table(
      [
        { heading: 'PULL REQUEST', whole: true },
        { heading: 'TITLE', leftOut: 1 },
        { heading: 'RESULT', whole: true },
        'REASON',
      ],
      all.map((played) => {
        const { result, because } = judged(played);
        const { number, title } = played.pullRequest ?? { number: 0, title: '' };
        return [`#${number}`, title, RESULTS[result], because];
      }),
      { last: MAX_REASON, screen },
    ),
    '',
    [...counts].map(([result, some]) => `${some.length} ${RESULTS[result]}${stepsInWords(some)}`).join(', '),
    '',
    'asked: waits for a countersign. waits: for something else. done: every step ended. not passed: the same, and a result keeps it from success. stopped: a step failed.',
  ].join('\n');
}

/** The steps that decided, with their numbers if there are several. */
function stepsInWords(all: readonly Played[]): string {
  const byStep = Map.groupBy(
    all.flatMap((played) => decidingStep(played) ?? []),
    (step) => step,
  );
  const names = [...byStep].map(([step, some]) => (byStep.size === 1 ? step : `${some.length} ${step}`));
  return names.length === 0 ? '' : ` (${names.join(', ')})`;
}

function decidingStep(played: Played): string | undefined {
  if (played.kind === 'not_run' || judged(played).result === 'done') return undefined;
  const { run, invocations } = played.state;
  const named = run.reason?.evidence.find(({ kind }) => kind === 'step')?.label;
  return isRunOver(run.status) ? named : invocations.find(({ status }) => status === run.status)?.stepId;
}

/** In columns: what each pull request failed by is what people read the table for. */
const MAX_REASON = 160;

const RESULTS: Readonly<Record<CaseResult, string>> = {
  not_run: 'not run',
  asked: 'asked',
  waits: 'waits',
  done: 'done',
  not_passed: 'not passed',
  stopped: 'stopped',
};

/** What became of it, and the sentence why. */
export function judged(played: Played): { result: CaseResult; because: string } {
  return played.kind === 'not_run'
    ? { result: 'not_run', because: innermost(played.because) }
    : judgedCourse(played);
}

/** A step that runs a chain waits for what that chain waits for. */
function judgedCourse({ state, approval, calls }: Course): { result: CaseResult; because: string } {
  const { status } = state.run;
  const because = explain(state, approval).summary;
  if (status === 'waiting_approval') return { result: 'asked', because };
  if (!isRunOver(status)) {
    const inner = calls.filter((call) => !isRunOver(call.state.run.status)).map(judgedCourse);
    return inner.find(({ result }) => result === 'asked') ?? inner[0] ?? { result: 'waits', because };
  }
  if (status !== 'completed') return { result: 'stopped', because };
  const summary = runSummary(state, approval);
  // A step that ends a chain early says that this is as it should be.
  const isDone = summary.kind === 'ended_early' || conclusionOf(summary) === 'success';
  return { result: isDone ? 'done' : 'not_passed', because };
}

/** The only reason of a reason says more than that there is one. */
function innermost({ summary, reasons }: Explanation): string {
  const [only] = reasons;
  return only && reasons.length === 1 ? innermost(only) : summary;
}

export function dryRunJson(played: Played): Record<string, unknown> {
  const { pullRequest } = played;
  const { result, because } = judged(played);
  return {
    number: pullRequest?.number ?? null,
    title: pullRequest?.title ?? null,
    state: pullRequest?.state ?? null,
    head_sha: pullRequest?.headSha ?? null,
    base: pullRequest?.baseRef ?? null,
    result,
    because,
    as_if: played.asIf,
    ...(played.kind === 'ran'
      ? courseJson(played)
      : { steps: [], why: whyJson(played.because), would_write: [] }),
  };
}

function courseJson(course: Course): Record<string, unknown> {
  const { state, approval, effects, calls } = course;
  return {
    steps: state.invocations.map((step) => ({
      id: step.stepId,
      status: step.status,
      reason: step.reason?.summary ?? null,
      outcome: step.outcome,
      ...callsOf(calls, step).map((call) => ({
        runs: { chain: call.state.run.chain, ...judgedCourse(call), ...courseJson(call) },
      }))[0],
    })),
    why: whyJson(explain(state, approval)),
    would_write: effects.map(effectJson),
  };
}
