import type { Severity } from '../../src/domain/outcome/finding.ts';
import { type CorpusCase, HALVES, type Half, halfOf, type Kind } from './corpus-case.ts';

export interface Found {
  path: string;
  line: number;
  endLine: number;
  rule: string;
  kind: Kind;
  severity: Severity;
}

/** A find counts at most this many lines from the place of the weakness. */
export const NEAR = 3;

/** Whether one of the findings names the weakness: near its place, and by a rule of its kind. */
export function findsOf({ weak, kind }: CorpusCase, found: readonly Found[]): Found[] {
  if (weak === undefined) return [];
  return found.filter((one) => one.path === weak.path && one.kind === kind && isNear(one, weak.places));
}

/**
 * The findings on a corrected version, or on what only looks weak. A published file may have other weaknesses, so only what names the same
 * one counts there: near the correction, and of its kind.
 */
export function alarmsOf({ fixed, kind }: CorpusCase, found: readonly Found[]): Found[] {
  const { path, places } = fixed ?? {};
  return found.filter(
    (one) => one.path === path && (places === undefined || (one.kind === kind && isNear(one, places))),
  );
}

function isNear({ line, endLine }: Found, places: readonly number[]): boolean {
  return places.some((place) => place >= line - NEAR && place <= endLine + NEAR);
}

export interface Tally {
  weaknesses: number;
  finds: number;
  /** Finds if the change is one to an existing file: from the corrected version back to the weak text. */
  findsInDiff: number;
  silent: number;
  /** Corrected versions and look-alikes with a finding. */
  alarms: number;
}

export type Tallies = Record<Half, Tally>;

/** What one engine reported. Cases are told apart by the paths of their files. */
export interface Reported {
  weak: readonly Found[];
  inDiff: readonly Found[];
  fixed: readonly Found[];
}

export function tally(cases: readonly CorpusCase[], reported: Reported): Tallies {
  const tallies = Object.fromEntries(
    HALVES.map((half) => [half, { weaknesses: 0, finds: 0, findsInDiff: 0, silent: 0, alarms: 0 }]),
  ) as Tallies;
  for (const one of cases) {
    const into = tallies[halfOf(one)];
    if (one.weak) {
      into.weaknesses++;
      if (findsOf(one, reported.weak).length > 0) into.finds++;
      if (findsOf(one, reported.inDiff).length > 0) into.findsInDiff++;
    }
    if (one.fixed) {
      into.silent++;
      if (alarmsOf(one, reported.fixed).length > 0) into.alarms++;
    }
  }
  return tallies;
}

export function sumOf({ tuning, control }: Tallies): Tally {
  const add = (key: keyof Tally) => tuning[key] + control[key];
  return {
    weaknesses: add('weaknesses'),
    finds: add('finds'),
    findsInDiff: add('findsInDiff'),
    silent: add('silent'),
    alarms: add('alarms'),
  };
}
