import type { MergeQuestion } from './merge-gate.ts';

type Method = MergeQuestion['method'];

/** From the step's `with: {method}`, otherwise from the settings. */
export function mergeMethod(
  { method }: Readonly<Record<string, unknown>>,
  settings: { merge: { method: Method } },
): Method {
  return method === 'merge' || method === 'squash' || method === 'rebase' ? method : settings.merge.method;
}
