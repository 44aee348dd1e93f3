import { MERGE_ACTION } from '../chain/chain.ts';
import type { RunState } from '../run/run.ts';
import { type Why, why } from '../run/why.ts';
import type { Storage } from '../storage/storage.ts';

/** Runs of one head that are looked through at most. */
const MOST_RUNS = 100;

/**
 * Where somebody said no when another chain asked whether to merge this very head into this base, as conditions that do not hold: a no
 * is about the head, whichever question it was given to. It stands until the same chain's question is countersigned: to ask again,
 * which authors may, takes nothing back. A reaction that was not looked at there yet is not known here.
 */
export async function rejectedElsewhere({ read }: Storage, { run }: RunState): Promise<Why[]> {
  if (run.pullRequest === null) return [];
  const { repositoryId, pullRequest, headSha, baseRef, chain } = run;
  const newestFirst = await read.runs.list({ repositoryId, pullRequest, headSha, limit: MOST_RUNS });
  const decided = new Set([chain]);
  const rejections: Why[] = [];
  for (const other of newestFirst) {
    if (decided.has(other.chain) || other.baseRef !== baseRef) continue;
    const answer = await lastAnswer(read, other.id);
    if (answer === undefined) continue;
    decided.add(other.chain);
    if (answer === 'rejected') {
      const who = 'somebody who may countersign';
      rejections.push(why('unmet', `${who} rejected this head when ${other.chain} asked about it`));
    }
  }
  return rejections;
}

/** What the last question of the run about a merge came to, of those that were answered. */
async function lastAnswer(
  read: Storage['read'],
  runId: string,
): Promise<'countersigned' | 'rejected' | undefined> {
  const answered = (await read.approvals.ofRun(runId)).filter(
    ({ status }) => status === 'countersigned' || status === 'rejected',
  );
  if (answered.length === 0) return undefined;
  const state = await read.runs.load(runId);
  const merging = answered.findLast(({ invocationId }) =>
    state?.invocations.some(
      ({ id, stepIndex }) =>
        id === invocationId && state.run.definition.steps[stepIndex]?.uses.name === MERGE_ACTION,
    ),
  );
  return merging?.status === 'rejected' ? 'rejected' : merging && 'countersigned';
}
