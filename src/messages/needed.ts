import type { Approval } from '../domain/policy/approval.ts';
import { unattributedSentence } from '../domain/policy/authorship.ts';
import type { Run } from '../domain/run/run.ts';
import { asSentence, capital, plural } from './pretty.ts';

/** How many countersigns the question needs: more than the settings ask for when nobody can be credited with some of the commits. */
export function neededFor({ settings }: Pick<Run, 'settings'>, approval: Approval | null): number {
  return approval?.authorship?.needed ?? settings.countersign.count;
}

/** Why the question needs more than the settings ask for, as a sentence; `undefined` when it does not. */
export function moreNeeded(run: Pick<Run, 'settings'>, approval: Approval): string | undefined {
  const { count } = run.settings.countersign;
  const needed = neededFor(run, approval);
  const because = unattributedSentence(approval.authorship?.unattributed ?? []);
  if (because === undefined || needed <= count) return undefined;
  return asSentence(
    capital(`${because}, so ${plural(needed, 'countersign')} are needed instead of ${count}`),
  );
}
