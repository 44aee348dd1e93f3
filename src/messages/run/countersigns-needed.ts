import type { Approval } from '../../domain/policy/approval.ts';
import { unattributedSentence } from '../../domain/policy/authorship.ts';
import type { RunState } from '../../domain/run/run.ts';
import { rulesAsked } from '../../domain/run/run.ts';
import { asSentence, capital, plural } from '../text/pretty.ts';

type Asked = Pick<RunState, 'run' | 'invocations'>;

/** How many countersigns are needed, including one more if some commits are unattributed. */
export function neededFor(state: Asked, approval: Approval | null): number {
  return approval?.authorship?.needed ?? rulesAsked(state, approval).count;
}

/** Why more countersigns are needed than the settings require, as a sentence; `undefined` if they are not. */
export function moreNeeded(state: Asked, approval: Approval): string | undefined {
  const { count } = rulesAsked(state, approval);
  const needed = neededFor(state, approval);
  const because = unattributedSentence(approval.authorship?.unattributed ?? []);
  if (because === undefined || needed <= count) return undefined;
  return asSentence(
    capital(`${because}, so ${plural(needed, 'countersign')} are needed instead of ${count}`),
  );
}
