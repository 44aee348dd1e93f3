import type { Run } from '../../domain/run/run.ts';

/** What a step waits for that runs another chain. */
export function waitsForChain(chain: string): string {
  return `until its run of the chain ${chain} has ended`;
}

/** How the run of a step ended. */
export function chainEnded({ chain, status, reason }: Pick<Run, 'chain' | 'status' | 'reason'>): string {
  return `${chain} ${ENDED[status] ?? status}${reason ? `: ${reason.summary}` : ''}`;
}

const ENDED: Partial<Record<Run['status'], string>> = {
  timed_out: 'timed out',
  aborted: 'was aborted',
  cancelled: 'was cancelled',
};

/** Why the run of a step ended, as a clause. */
export function stepEndedFirst(chain: string, step: string): string {
  return `the step ${step} of ${chain}, which ran it, has ended`;
}

export function tooManyForChain(chain: string, most: number): string {
  return `${chain} does not begin: with the chains that run it, it could begin more than ${most} times`;
}

export function tooDeepForChain(chain: string, most: number): string {
  return `${chain} does not begin: ${most} runs have started one another already, and no more may`;
}
