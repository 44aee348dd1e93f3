import type { Schedule } from '../domain/chain/trigger-schema.ts';
import type { Visible } from './visible.ts';

/** When a chain of a repository fires next by one of its schedules. */
export interface ScheduleRow {
  repositoryId: number;
  chain: string;
  /** The schedule's key. */
  trigger: string;
  installationId: number;
  /** `owner/name`. */
  repository: string;
  schedule: Schedule;
  nextAt: Date;
}

export interface Schedules {
  ofRepository(repositoryId: number): Promise<ScheduleRow[]>;
  /** The rows that are due, oldest first. */
  due(now: Date, limit: number): Promise<ScheduleRow[]>;
  /** The earliest time at which a row is due; `undefined` without rows. */
  nextAt(): Promise<Date | undefined>;
  /** The rows that are due next. @param of only those of one chain that somebody may see */
  upcoming(limit: number, of?: { chain: string; visible: Visible }): Promise<ScheduleRow[]>;
  put(row: ScheduleRow): Promise<void>;
  remove(row: Pick<ScheduleRow, 'repositoryId' | 'chain' | 'trigger'>): Promise<void>;
}

/** Why a firing did not happen, as a word for metrics. */
export type SkippedBecause =
  | 'missed'
  | 'replaced'
  | 'too_old'
  | 'overlap'
  | 'queue_full'
  | 'paused'
  | 'gone'
  | 'broken'
  | 'unreachable'
  | 'too_deep'
  | 'too_many'
  | 'expired'
  | 'crowded_out'
  | 'refused';

/**
 * What became of one firing of a schedule or composite, or of several that did not happen for the same reason. Firings by
 * other events have a row only if they did not happen although their trigger matched.
 */
export interface Firing {
  id: string;
  repositoryId: number;
  chain: string;
  /** The schedule's key, or the event. */
  trigger: string;
  /** Unique for the chain and trigger. */
  occasion: string;
  installationId: number;
  repository: string;
  /** `queued` waits for the end of an earlier run. */
  status: 'due' | 'queued' | 'fired' | 'skipped';
  reason: SkippedBecause | null;
  summary: string | null;
  count: number;
  /** The run that it begins; of one by the outcome of a run that does not happen, that run. */
  runId: string;
  /** What it was about, if that was a pull request. */
  pullRequest: number | null;
  dueAt: Date;
  updatedAt: Date;
}

export interface Firings {
  /** Returns whether it is new. A second process finds the row of the first. */
  insert(firing: Firing): Promise<boolean>;
  get(id: string): Promise<Firing | undefined>;
  save(firing: Firing): Promise<void>;
  /** Oldest first. */
  queued(of: { repositoryId: number; chain: string }): Promise<Firing[]>;
  /** Newest first. */
  list(filter: {
    repository?: string;
    of?: { repositoryId: number; pullRequest: number };
    chain?: string;
    status?: Firing['status'];
    runIds?: readonly string[];
    limit: number;
  }): Promise<Firing[]>;
  /** How many there are of each status and reason, from a few rows. The reason is empty if there is none. */
  counts(): Promise<{ status: Firing['status']; reason: SkippedBecause | ''; count: number }[]>;
}
