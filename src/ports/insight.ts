import type { Visible } from './visible.ts';

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

/** How often a number of seconds was about as large, for medians. */
interface Bucket {
  bucket: number;
  count: number;
}

export interface InsightFilter {
  visible: Visible;
  /** Only this one of them. */
  repositoryId?: number;
  since: Date;
}

/** Figures over a period, from rows by day, so that they cost the same however many runs there were. */
export interface Insight {
  /** Written at the end of the transaction. */
  add(...figures: readonly Figure[]): void;
  /** By kind and name, over the whole period. */
  totals(
    filter: InsightFilter,
  ): Promise<{ what: Figure['what']; name: string; bucket: number; count: number; total: number }[]>;
  /** Pull requests that were merged in the period, by day and by the time since this app first saw them. */
  leadTimes(filter: InsightFilter): Promise<({ day: string } & Bucket)[]>;
  /** Repositories with pull requests, by name, for a choice. */
  repositories(visible: Visible, limit: number): Promise<{ id: number; name: string }[]>;
  /** Removes what is older than any period that can be shown. */
  forget(before: Date): Promise<void>;
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
