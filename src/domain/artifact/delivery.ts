import type { Verification } from './verification.ts';

/**
 * How much of what its contracts require a run produced:
 * - `passed`: everything
 * - `partial`: everything required, or some of it
 * - `missing`: nothing
 * - `invalid`: something that does not match the contract. This is the worst, because it looks like a result.
 */
export const DELIVERIES = ['passed', 'partial', 'missing', 'invalid'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** @returns `undefined` if nothing was required, or nothing has been checked yet. */
export function deliveryOf(verifications: readonly Verification[]): Delivery | undefined {
  const checked = verifications.filter(({ status }) => status !== 'skipped');
  if (checked.length === 0) return undefined;
  const required = checked.flatMap(({ missing_required }) => missing_required);
  if (required.some(({ problem }) => problem === 'invalid')) return 'invalid';
  if (required.length > 0 && checked.every(({ produced }) => produced.length === 0)) return 'missing';
  const complete = checked.every(({ status }) => status === 'passed');
  return complete ? 'passed' : 'partial';
}
