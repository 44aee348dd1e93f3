import type { RunFacts } from './run.ts';

/**
 * The fields that identify the subject of a firing, for chains that fire once: the event and what it was
 * about.
 */
const SUBJECT = ['event', 'pr_number', 'issue_number', 'branch'] as const;

/** A text that is equal for equal subjects. What can happen to one of them several times has an occasion. */
export function firedOnce({
  trigger,
  fired,
  parent,
}: Pick<RunFacts, 'trigger' | 'fired' | 'parent'>): string {
  const occasion = fired?.occasion === undefined ? [] : [fired.occasion];
  // A run that is a step of another has that one's subject, and is no firing of its chain.
  const step = parent ? [parent.run, parent.step] : [];
  return JSON.stringify([...SUBJECT.map((key) => trigger[key] ?? null), ...occasion, ...step]);
}
