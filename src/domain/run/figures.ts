import { sum } from '../../core/sum.ts';
import type { Approval } from '../policy/approval.ts';
import { endingBy, endingOf, hasMerged } from './ending.ts';
import type { PastTransition } from './history.ts';
import { isRunOver, type Run, type RunState, type RunStatus, type StepStatus, waitingFor } from './run.ts';

/** Something that is counted by day. */
export interface Figure {
  /**
   * `waited`: a step, in seconds. `answered`: how long a question was open until people answered it, in seconds. `countersigned` and
   * `rejected` are answers of people, `fixed` and `dismissed` findings, `ended` runs, and `changes_requested` reviews.
   */
  what:
    | 'waited'
    | 'answered'
    | 'countersigned'
    | 'rejected'
    | 'fixed'
    | 'dismissed'
    | 'ended'
    | 'changes_requested';
  repositoryId: number;
  /** The step, the person, or how the run ended; otherwise empty. */
  name: string;
  at: Date;
  /** How many, or how many seconds. Below 0: what was counted before no longer holds. */
  amount: number;
}

/** Whether a figure is a length of time, of which there are medians. */
export function isTime(what: Figure['what']): boolean {
  return what === 'waited' || what === 'answered';
}

/** A step that waited for a shorter time did not wait for anybody, in seconds. */
const SHORTEST = 1;

/**
 * What a run counts for when it ends. A run that continues and ends again counts only what came since, and no longer as it
 * ended before, so nothing is counted twice.
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
  figures.push({ what: 'ended', repositoryId, name: endingOf(state), at, amount: 1 });
  const before = endBefore(history, since);
  if (before) figures.push({ what: 'ended', repositoryId, name: before.ending, at: before.at, amount: -1 });
  const count = (what: 'fixed' | 'dismissed' | 'changes_requested', amount: number) => {
    if (amount > 0) figures.push({ what, repositoryId, name: '', at, amount });
  };
  const reviews = state.invocations.flatMap(({ outcome, finishedAt }) => {
    const isNew = since === 0 || (finishedAt !== null && finishedAt > (history[since - 1]?.at ?? finishedAt));
    return isNew && outcome?.outcome_kind === 'review_verdict' ? outcome : [];
  });
  count('changes_requested', reviews.filter(({ verdict }) => verdict === 'REQUEST_CHANGES').length);
  count('fixed', sum(reviews.map((review) => review.since?.fixed ?? 0)));
  if (hasMerged(state)) count('dismissed', sum(reviews.map((review) => review.findings.length)));
  return figures;
}

/** Who answered a question, and after how long. */
export function figuresOfAnswer(
  { repositoryId }: Pick<Run, 'repositoryId'>,
  {
    status,
    askedAt,
    countersignedBy,
    rejectedBy,
  }: Pick<Approval, 'status' | 'askedAt' | 'countersignedBy' | 'rejectedBy'>,
  at: Date,
): Figure[] {
  const [what, people] =
    status === 'countersigned'
      ? (['countersigned', countersignedBy] as const)
      : (['rejected', rejectedBy.map(({ login }) => login)] as const);
  const seconds = Math.max(0, at.getTime() - askedAt.getTime()) / 1_000;
  return [
    ...people.map((name) => ({ what, repositoryId, name, at, amount: 1 })),
    { what: 'answered', repositoryId, name: '', at, amount: seconds },
  ];
}

/** After the last end of the run before this one. */
function beganAgain(history: readonly PastTransition[]): number {
  return (
    history.findLastIndex(({ subject, from }) => subject.kind === 'run' && isRunOver(from as RunStatus)) + 1
  );
}

/** How and when the run ended before it continued; `undefined` if it has not. */
function endBefore(history: readonly PastTransition[], since: number) {
  const end = history
    .slice(0, since)
    .findLast(({ subject, to }) => subject.kind === 'run' && isRunOver(to as RunStatus));
  const ending = end && endingBy(end.to as RunStatus, end.reason);
  return ending && { ending, at: end.at };
}

function secondsWaited(changes: readonly PastTransition[], end: Date): number {
  let waited = 0;
  for (const [at, { to, at: from }] of changes.entries()) {
    if (waitingFor(to as StepStatus) === undefined) continue;
    waited += (changes[at + 1]?.at ?? end).getTime() - from.getTime();
  }
  return waited / 1_000;
}

/** A bucket is 10 % wide. */
const WIDTH = 1.1;

export function bucketOf(seconds: number): number {
  return Math.ceil(Math.log(Math.max(1, seconds)) / Math.log(WIDTH));
}

/** The middle of a bucket, in seconds. */
function secondsOf(bucket: number): number {
  return WIDTH ** (bucket - 0.5);
}

/** How often a number of seconds was about as large. */
export interface Bucket {
  bucket: number;
  count: number;
}

/** The number of seconds that this share of all did not exceed, within 5 %; `undefined` if there are none. */
export function atShare(buckets: readonly Bucket[], share: number): number | undefined {
  const sorted = buckets.toSorted((a, b) => a.bucket - b.bucket);
  let left = share * sum(sorted.map(({ count }) => count));
  const found = sorted.find(({ count }) => {
    left -= count;
    return count > 0 && left <= 0;
  });
  return found && secondsOf(found.bucket);
}
