import type { Effect } from '../../domain/effect/effect.ts';
import { explain } from '../../domain/run/explain.ts';
import type { Invocation, RunState } from '../../domain/run/run.ts';
import type { ShownCourse, ShownDryRun, ShownStep, ShownWrite } from '../../ports/dry-runs.ts';
import { type Course, judged, notesOf, type Played } from '../cli/dry-run.ts';
import { face } from '../run/steps-table.ts';
import { shownOnGitHub, type Written, whatIsWritten } from '../run/what-is-written.ts';

const MAX_STEPS = 200;
const MAX_WRITES = 100;
const MAX_PARTS = 100;
/** Characters of all bodies together. GitHub takes 65,536 for one: https://docs.github.com/en/rest/issues/comments */
const MAX_BODIES = 500_000;

/** What a page shows of a dry run, within bounds. */
export function shownDryRun(played: Played): ShownDryRun {
  const { result, because } = judged(played);
  const { pullRequest } = played;
  const room = { left: MAX_BODIES };
  const steps = played.kind === 'ran' ? shownSteps(statesOf(played)) : [];
  return {
    pullRequest: pullRequest && {
      title: pullRequest.title,
      headSha: pullRequest.headSha,
      baseRef: pullRequest.baseRef,
    },
    notes: notesOf(played),
    result,
    because,
    steps: steps.slice(0, MAX_STEPS),
    moreSteps: Math.max(0, steps.length - MAX_STEPS),
    courses: played.kind === 'ran' ? coursesOf(played, [], room) : [],
    whyNot: played.kind === 'not_run' ? played.because : null,
  };
}

function statesOf({ state, calls }: Course): RunState[] {
  return [state, ...calls.flatMap(statesOf)];
}

/** The steps of a run, each followed by those of the run that it began. */
export function shownSteps(states: readonly RunState[]): ShownStep[] {
  const [first, ...others] = states.toSorted(
    (a, b) => Number(!!a.run.facts.parent) - Number(!!b.run.facts.parent),
  );
  const rows = (of: RunState, depth: number): ShownStep[] =>
    of.invocations.flatMap((step) => [
      shownStep(of, step, depth),
      ...others
        .filter(({ run }) => run.facts.parent?.run === of.run.id && run.facts.parent.step === step.stepId)
        .flatMap((child) => rows(child, depth + 1)),
    ]);
  return first ? rows(first, 0) : [];
}

function shownStep({ run }: RunState, step: Invocation, depth: number): ShownStep {
  return {
    id: step.stepId,
    depth,
    ...face(step),
    state: step.outcome?.passed === false ? 'undone' : step.status,
    reason: step.reason?.summary ?? null,
    dependsOn: run.definition.steps[step.stepIndex]?.dependsOn ?? [],
  };
}

function coursesOf(
  { state, approval, effects, calls }: Course,
  path: readonly string[],
  room: { left: number },
): ShownCourse[] {
  const shown = shownWrites(effects, room);
  return [
    {
      path,
      chain: state.run.chain,
      why: explain(state, approval),
      writes: shown,
      moreWrites: effects.length - shown.length,
    },
    ...calls.flatMap((call) => coursesOf(call, [...path, call.step], room)),
  ];
}

/** The first of what would be written. @param room how much text there is left for all of them */
export function shownWrites(effects: readonly Effect[], room = { left: MAX_BODIES }): ShownWrite[] {
  return effects.slice(0, MAX_WRITES).map((effect) => shownWrite(whatIsWritten(effect), room));
}

function shownWrite({ head, body, parts = [] }: Written, room: { left: number }): ShownWrite {
  const text = (markdown: string | undefined): string | null => {
    if (markdown === undefined) return null;
    const shown = shownOnGitHub(markdown).slice(0, room.left);
    room.left -= shown.length;
    return shown;
  };
  return {
    head,
    body: text(body),
    parts: parts.slice(0, MAX_PARTS).map((part) => ({ line: part.line, body: text(part.body) })),
  };
}
