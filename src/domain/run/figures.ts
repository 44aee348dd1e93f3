import type { Approval } from '../policy/approval.ts';
import { actionOf } from '../policy/capability.ts';
import type { PastTransition } from './history.ts';
import { isRunOver, type Run, type RunState, type RunStatus, type StepStatus, waitingFor } from './run.ts';

/** Something that is counted by day. */
export interface Figure {
  /** `waited`: a step, in seconds. `fixed` and `dismissed` are findings; the others are answers of people. */
  what: 'waited' | 'countersigned' | 'rejected' | 'fixed' | 'dismissed';
  repositoryId: number;
  /** The step, or the person; empty for findings. */
  name: string;
  at: Date;
  /** How many, or how many seconds. */
  amount: number;
}

/** A step that waited for a shorter time did not wait for anybody, in seconds. */
const SHORTEST = 1;

/**
 * What a run counts for when it ends. A run that continues and ends again counts only what came since, so nothing is
 * counted twice.
 * @param history every transition of the run, oldest first
 */
export function figuresOfRun(state: RunState, history: readonly PastTransition[]): Figure[] {
  const { run } = state;
  const at = run.updatedAt;
  const { repositoryId } = run;
  const since = beganAgain(history);
  const figures: Figure[] = [];
  for (const { id, stepId } of state.invocations) {
    const waited = secondsWaited(
      history.slice(since).filter(({ subject }) => subject.id === id),
      at,
    );
    if (waited >= SHORTEST) figures.push({ what: 'waited', repositoryId, name: stepId, at, amount: waited });
  }
  const findings = (what: 'fixed' | 'dismissed', amount: number) => {
    if (amount > 0) figures.push({ what, repositoryId, name: '', at, amount });
  };
  const reviews = state.invocations.flatMap(({ outcome, finishedAt }) => {
    const isNew = since === 0 || (finishedAt !== null && finishedAt > (history[since - 1]?.at ?? finishedAt));
    return isNew && outcome?.outcome_kind === 'review_verdict' ? outcome : [];
  });
  findings('fixed', sum(reviews.map((review) => review.since?.fixed ?? 0)));
  if (hasMerged(state)) findings('dismissed', sum(reviews.map((review) => review.findings.length)));
  return figures;
}

/** Who answered a question. */
export function figuresOfAnswer(
  { repositoryId }: Pick<Run, 'repositoryId'>,
  { status, countersignedBy, rejectedBy }: Pick<Approval, 'status' | 'countersignedBy' | 'rejectedBy'>,
  at: Date,
): Figure[] {
  const [what, people] =
    status === 'countersigned'
      ? (['countersigned', countersignedBy] as const)
      : (['rejected', rejectedBy.map(({ login }) => login)] as const);
  return people.map((name) => ({ what, repositoryId, name, at, amount: 1 }));
}

/** After the last end of the run before this one. */
function beganAgain(history: readonly PastTransition[]): number {
  return (
    history.findLastIndex(({ subject, from }) => subject.kind === 'run' && isRunOver(from as RunStatus)) + 1
  );
}

function secondsWaited(changes: readonly PastTransition[], end: Date): number {
  let waited = 0;
  for (const [at, { to, at: from }] of changes.entries()) {
    if (waitingFor(to as StepStatus) === undefined) continue;
    waited += (changes[at + 1]?.at ?? end).getTime() - from.getTime();
  }
  return waited / 1_000;
}

function hasMerged({ run, invocations }: RunState): boolean {
  return invocations.some(({ stepIndex, status, outcome }) => {
    const uses = run.definition.steps[stepIndex]?.uses;
    return status === 'completed' && outcome?.passed === true && uses && actionOf(uses)?.merges;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** A bucket is 10 % wide. */
const WIDTH = 1.1;

export function bucketOf(seconds: number): number {
  return Math.ceil(Math.log(Math.max(1, seconds)) / Math.log(WIDTH));
}

/** The middle of a bucket, in seconds. */
export function secondsOf(bucket: number): number {
  return WIDTH ** (bucket - 0.5);
}
