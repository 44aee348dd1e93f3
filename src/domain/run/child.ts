import { chainCheckName } from '../chain/check-name.ts';
import type { Run } from './run.ts';

/** How many runs, as many steps deep, the steps of chains may begin for one run. */
export const MAX_AMONG = 100;

/** How many runs events may begin that follow from one run, however deep. */
export const MAX_CAUSED = 100;

/**
 * How many runs as deep as those of its steps there are, if each step of each run above them begins one. Without a limit, a few chains
 * of fifty steps that run each other would begin millions.
 */
export function childrenAmong({ definition, facts }: Pick<Run, 'definition' | 'facts'>): number {
  const steps = definition.steps.filter(({ uses }) => uses.kind === 'action' && uses.name === 'chain');
  return (facts.parent?.among ?? 1) * Math.max(1, steps.length);
}

/** The first of the runs that started one another until this one. */
export function rootOf({ id, facts }: Pick<Run, 'id' | 'facts'>): string {
  return facts.root ?? id;
}

const PREFIX = 'run_of_';

/**
 * The id of the run that a step's session began. It follows from the session, so that a session that is repeated after a
 * crash begins no second run, and one that ends finds the run to end with it.
 */
export function childRunId(sessionId: string): string {
  return `${PREFIX}${sessionId.replace(/^ses_/, '')}`;
}

/** Whether a step of another run began it, by its id alone: lists of runs know no more. */
function isChildId(runId: string): boolean {
  return runId.startsWith(PREFIX);
}

/**
 * What tells the runs of one chain and pull request apart: those that the chain began by itself, and those that are a step
 * of another chain. Neither replaces the other.
 */
export function seriesOf({ id, chain }: Pick<Run, 'id' | 'chain'>): string {
  return isChildId(id) ? `${chain} as a step` : chain;
}

/** The name of a run's check run. A step of another chain does not stand for its own chain, whose check a branch may require. */
export function checkNameOf({ chain, facts: { parent } }: Pick<Run, 'chain' | 'facts'>): string {
  return parent ? `${chainCheckName(parent.chain)} / ${parent.step}` : chainCheckName(chain);
}
