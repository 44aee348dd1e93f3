import type { Approval } from '../../domain/policy/approval.ts';
import { unattributedSentence } from '../../domain/policy/authorship.ts';
import type { Run } from '../../domain/run/run.ts';
import { asSentence, capital, plural } from '../text/pretty.ts';

/** How many countersigns are needed, including one more if some commits are unattributed. */
export function neededFor({ settings }: Pick<Run, 'settings'>, approval: Approval | null): number {
  return approval?.authorship?.needed ?? settings.countersign.count;
}

/** Why more countersigns are needed than the settings require, as a sentence; `undefined` if they are not. */
export function moreNeeded(run: Pick<Run, 'settings'>, approval: Approval): string | undefined {
  const { count } = run.settings.countersign;
  const needed = neededFor(run, approval);
  const because = unattributedSentence(approval.authorship?.unattributed ?? []);
  if (because === undefined || needed <= count) return undefined;
  return asSentence(
    capital(`${because}, so ${plural(needed, 'countersign')} are needed instead of ${count}`),
  );
}
