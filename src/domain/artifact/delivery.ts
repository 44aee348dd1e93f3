import type { Verification } from './verification.ts';

/**
 * How much of what it had to leave behind a run did: all of it (`passed`); what it must, or some of it (`partial`); nothing
 * (`missing`); or something that is there and not what was asked for (`invalid`), which is the worst, since it looks like more.
 */
export const DELIVERIES = ['passed', 'partial', 'missing', 'invalid'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** @returns `undefined` when nothing was asked for, or nothing was looked at yet. */
export function deliveryOf(verifications: readonly Verification[]): Delivery | undefined {
  const looked = verifications.filter(({ status }) => status !== 'skipped');
  if (looked.length === 0) return undefined;
  const required = looked.flatMap(({ missing_required }) => missing_required);
  if (required.some(({ problem }) => problem === 'invalid')) return 'invalid';
  if (required.length > 0 && looked.every(({ produced }) => produced.length === 0)) return 'missing';
  const complete = looked.every(({ status }) => status === 'passed');
  return complete ? 'passed' : 'partial';
}
