import type { RunFacts } from './run.ts';

/**
 * The fields that identify the subject of a firing, for chains that fire once: the event and what it was
 * about.
 */
const SUBJECT = ['event', 'pr_number', 'issue_number', 'branch'] as const;

/** A text that is equal for equal subjects. What can happen to one of them several times has an occasion. */
export function firedOnce({ trigger, fired }: Pick<RunFacts, 'trigger' | 'fired'>): string {
  const occasion = fired?.occasion === undefined ? [] : [fired.occasion];
  return JSON.stringify([...SUBJECT.map((key) => trigger[key] ?? null), ...occasion]);
}
