import type { RunFacts } from './run.ts';

/**
 * The fields that identify the subject of a firing, for chains that fire once: the event and what it was
 * about.
 */
const SUBJECT = ['event', 'pr_number', 'issue_number', 'branch'] as const;

/** A text that is equal for equal subjects. */
export function firedOnce(trigger: RunFacts['trigger']): string {
  return JSON.stringify(SUBJECT.map((key) => trigger[key] ?? null));
}
