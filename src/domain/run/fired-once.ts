import type { RunFacts } from './run.ts';

/** What tells one subject of a chain that fires once from another: the event, and what it was about. */
const SUBJECT = ['event', 'pr_number', 'issue_number', 'branch'] as const;

/** The subject of a firing, as text that is the same for the same subject. */
export function firedOnce(trigger: RunFacts['trigger']): string {
  return JSON.stringify(SUBJECT.map((key) => trigger[key] ?? null));
}
