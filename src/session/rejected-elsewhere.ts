import { MERGE_ACTION } from '../chain/chain.ts';
import type { Approval } from '../policy/approval.ts';
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
    const answered = await lastAnswered(read, other.id);
    if (!answered) continue;
    decided.add(other.chain);
    if (answered.status === 'rejected') {
      const who = 'somebody who may countersign';
      rejections.push(why('unmet', `${who} rejected this head when ${other.chain} asked about it`));
    }
  }
  return rejections;
}

/** The run's last question about a merge, of those that were answered. */
async function lastAnswered(read: Storage['read'], runId: string): Promise<Approval | undefined> {
  const answered = (await read.approvals.ofRun(runId)).filter(
    ({ status }) => status === 'countersigned' || status === 'rejected',
  );
  if (answered.length === 0) return undefined;
  const state = await read.runs.load(runId);
  return answered.findLast(({ invocationId }) =>
    state?.invocations.some(
      ({ id, stepIndex }) =>
        id === invocationId && state.run.definition.steps[stepIndex]?.uses.name === MERGE_ACTION,
    ),
  );
}
