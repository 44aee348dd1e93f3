import { type Facts, known } from './fact.ts';

interface ReportedCheck {
  id: number;
  name: string;
  appId: number | null;
  suiteId: number | null;
  status: string;
  conclusion: string | null;
}

const PASSING: readonly (string | null)[] = ['success', 'neutral', 'skipped'];

/**
 * What other apps and services report about the head, by name. Of several runs of one check, the newest counts. A name
 * that several checks share is listed for each of their results.
 */
export function checksFacts(
  runs: readonly ReportedCheck[],
  statuses: readonly { context: string; state: string }[],
  ownAppId: number,
): Facts {
  const newest = new Map<string, ReportedCheck>();
  for (const run of runs.toSorted((a, b) => a.id - b.id)) {
    if (run.appId !== ownAppId) newest.set(JSON.stringify([run.appId, run.suiteId, run.name]), run);
  }
  const results = [
    ...[...newest.values()].map(({ name, status, conclusion }) => ({
      name,
      result: status !== 'completed' ? 'pending' : PASSING.includes(conclusion) ? 'passed' : 'failed',
      isSuccess: status === 'completed' && conclusion === 'success',
    })),
    ...statuses.map(({ context: name, state }) => ({
      name,
      result: state === 'pending' ? 'pending' : state === 'success' ? 'passed' : 'failed',
      isSuccess: state === 'success',
    })),
  ];
  const namesOf = (some: typeof results) => [...new Set(some.map(({ name }) => name))].sort();
  const named = (wanted: string) => known(namesOf(results.filter(({ result }) => result === wanted)));
  const others = new Set(results.filter(({ isSuccess }) => !isSuccess).map(({ name }) => name));
  return {
    passed_checks: named('passed'),
    // A name that several checks share needs the success of each.
    successful_checks: known(namesOf(results.filter(({ name }) => !others.has(name)))),
    failed_checks: named('failed'),
    pending_checks: named('pending'),
  };
}
