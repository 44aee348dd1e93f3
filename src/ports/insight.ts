import type { Bucket, Figure } from '../domain/run/figures.ts';
import type { FactsOfRepositories } from '../domain/run/report.ts';
import type { Visible } from './visible.ts';

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
  /** Of these kinds, by kind and name, over the whole period. */
  totals(
    filter: InsightFilter & { kinds: readonly Figure['what'][] },
  ): Promise<{ what: Figure['what']; name: string; bucket: number; count: number; total: number }[]>;
  /** Pull requests that were merged in the period, by day and by the time since this app first saw them. */
  leadTimes(filter: InsightFilter): Promise<({ day: string } & Bucket)[]>;
  /** What a report of these repositories counts. */
  ofRepositories(filter: {
    visible: Visible;
    ids: readonly number[];
    since: Date;
  }): Promise<Omit<FactsOfRepositories, 'waiting'>>;
  /** The questions that are open now in these repositories. */
  waitingIn(filter: { visible: Visible; ids: readonly number[] }): Promise<FactsOfRepositories['waiting']>;
  /** Repositories with pull requests, by name, for a choice. */
  repositories(visible: Visible, limit: number): Promise<{ id: number; name: string }[]>;
  /** Removes what is older than any period that can be shown. */
  forget(before: Date): Promise<void>;
}
