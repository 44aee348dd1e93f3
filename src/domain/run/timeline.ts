import type { ReasonCode } from '../explanation/reason.ts';
import type { PastTransition } from './history.ts';
import { type Invocation, isStepOver, type Run, type StepStatus } from './run.ts';

/** `person`: it waits for somebody's answer. `unknown`: what it did then is not known, or is too much to show. */
const SEGMENT_KINDS = ['working', 'waiting', 'person', 'unknown'] as const;
export type SegmentKind = (typeof SEGMENT_KINDS)[number];

/** A stretch of time in which a step did one thing. */
interface Segment {
  kind: SegmentKind;
  from: number;
  to: number;
}

export interface Bar {
  step: Invocation;
  /** In order, without overlaps. Between two of them, the step had ended or had not begun again. */
  segments: Segment[];
}

/** A part of the axis. If `compressed`, it is drawn shorter than it took. */
export interface Stretch {
  from: number;
  to: number;
  /** Where it begins, and how wide it is; all widths together are 1. */
  at: number;
  width: number;
  compressed: boolean;
}

/** When each step of a run worked, and when it waited. Times are milliseconds since 1970. */
export interface Timeline {
  from: number;
  to: number;
  bars: Bar[];
  axis: Stretch[];
}

/** A step that waits is looked at again from time to time. That takes a moment and is no work of its own. */
const RECHECK_MS = 10_000;
const MAX_SEGMENTS = 24;
/** An idle stretch is drawn as long as this share of the busy time, if it took longer. */
const IDLE_SHARE = 0.25;

/** Reasons for which a step with an approval comment does not wait for a person. */
const NO_PERSON: ReadonlySet<ReasonCode | null> = new Set<ReasonCode>([
  'step.waiting.merge_queue',
  'step.waiting.github',
  'step.waiting.mergeability',
  'step.waiting.rate_limit',
]);

/** @param past the transitions of the run, oldest first; the oldest may be missing */
export function timelineOf(
  { run, invocations }: { run: Pick<Run, 'createdAt' | 'finishedAt'>; invocations: readonly Invocation[] },
  past: readonly PastTransition[],
  now: Date,
): Timeline {
  const ofStep = Map.groupBy(
    past.filter(({ subject }) => subject.kind === 'invocation'),
    ({ subject }) => subject.id,
  );
  const bars = invocations.map((step) => ({
    step,
    segments: bounded(segmentsOf(step, ofStep.get(step.id) ?? [], now.getTime())),
  }));
  const all = bars.flatMap(({ segments }) => segments);
  const from = Math.min(run.createdAt.getTime(), ...all.map((segment) => segment.from));
  const to = Math.max((run.finishedAt ?? now).getTime(), from, ...all.map((segment) => segment.to));
  return { from, to, bars, axis: axisOf(all, from, to) };
}

/** How long the step did what. */
export function totals({ segments }: Pick<Bar, 'segments'>): Record<SegmentKind, number> {
  const sums = { working: 0, waiting: 0, person: 0, unknown: 0 };
  for (const { kind, from, to } of segments) sums[kind] += to - from;
  return sums;
}

/** Where a time is on the axis, between 0 and 1. */
export function position(axis: readonly Stretch[], time: number): number {
  const stretch = axis.findLast(({ from }) => from <= time);
  if (!stretch) return 0;
  const { from, to, at, width } = stretch;
  return to === from ? at : Math.min(1, at + (width * (Math.min(time, to) - from)) / (to - from));
}

function segmentsOf(step: Invocation, past: readonly PastTransition[], now: number): Segment[] {
  const segments: Segment[] = [];
  const add = (segment: Segment) => {
    if (segment.to <= segment.from) return;
    const last = segments.at(-1);
    if (last?.kind === segment.kind && last.to === segment.from) last.to = segment.to;
    else segments.push({ ...segment });
  };
  const [first] = past;
  const begun = step.startedAt?.getTime();
  if (begun !== undefined && first?.from !== 'pending') {
    const end = step.finishedAt?.getTime() ?? now;
    add({ kind: 'unknown', from: begun, to: first?.at.getTime() ?? end });
  }
  past.forEach(({ to, reason, at }, index) => {
    const kind = kindOf(to as StepStatus, reason);
    if (kind) add({ kind, from: at.getTime(), to: past[index + 1]?.at.getTime() ?? now });
  });
  return segments;
}

function kindOf(status: StepStatus, reason: ReasonCode | null): SegmentKind | undefined {
  if (status === 'pending' || isStepOver(status)) return undefined;
  if (status === 'running') return 'working';
  return status === 'waiting_approval' && !NO_PERSON.has(reason) ? 'person' : 'waiting';
}

/** Without the moments in which a step only looked whether it still has to wait, and few enough to draw. */
function bounded(segments: readonly Segment[]): Segment[] {
  const kept: Segment[] = [];
  for (const segment of segments) {
    const [before, look] = kept.slice(-2);
    if (
      before &&
      look?.kind === 'working' &&
      look.to - look.from < RECHECK_MS &&
      (segment.kind === 'waiting' || segment.kind === 'person') &&
      before.kind === segment.kind &&
      before.to === look.from &&
      look.to === segment.from
    ) {
      before.to = segment.to;
      kept.pop();
    } else kept.push({ ...segment });
  }
  const tooMany = kept.length - MAX_SEGMENTS + 1;
  const [oldest] = kept;
  if (tooMany < 2 || !oldest) return kept;
  const last = kept[tooMany - 1] ?? oldest;
  return [{ kind: 'unknown', from: oldest.from, to: last.to }, ...kept.slice(tooMany)];
}

/** Splits the time into busy and idle stretches, and makes long idle ones shorter. */
function axisOf(segments: readonly Segment[], from: number, to: number): Stretch[] {
  const busy: { from: number; to: number }[] = [];
  const works = segments.filter(({ kind }) => kind === 'working' || kind === 'unknown');
  for (const segment of works.toSorted((a, b) => a.from - b.from)) {
    const last = busy.at(-1);
    if (last && segment.from <= last.to) last.to = Math.max(last.to, segment.to);
    else busy.push({ from: segment.from, to: segment.to });
  }
  const parts: { from: number; to: number; isBusy: boolean }[] = [];
  let end = from;
  for (const stretch of busy) {
    if (stretch.from > end) parts.push({ from: end, to: stretch.from, isBusy: false });
    parts.push({ ...stretch, isBusy: true });
    end = stretch.to;
  }
  if (end < to || parts.length === 0) parts.push({ from: end, to, isBusy: false });
  const busyMs = busy.reduce((sum, stretch) => sum + stretch.to - stretch.from, 0);
  const longest = busyMs === 0 ? Number.POSITIVE_INFINITY : busyMs * IDLE_SHARE;
  const drawn = parts.map((part) => {
    const ms = part.to - part.from;
    return { ...part, drawn: part.isBusy ? ms : Math.min(ms, longest) };
  });
  const whole = drawn.reduce((sum, part) => sum + part.drawn, 0) || 1;
  let at = 0;
  return drawn.map((part) => {
    const width = part.drawn / whole;
    const stretch = { from: part.from, to: part.to, at, width, compressed: part.drawn < part.to - part.from };
    at += width;
    return stretch;
  });
}
