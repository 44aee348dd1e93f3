import { isMergeStep, type RunState } from '../run/run.ts';
import { type Why, why } from '../run/why.ts';
import type { Storage } from '../storage/storage.ts';

/**
 * Where somebody said no when another chain asked whether to merge this very head into this base, as conditions that do not hold: a no
 * is about the head, whichever question it was given to, and however many runs came since. It stands until the same chain's question
 * is countersigned: to ask again, which authors may, takes nothing back. A reaction that was not looked at there yet is not known here.
 */
export async function rejectedElsewhere({ read }: Storage, { run }: RunState): Promise<Why[]> {
  if (run.pullRequest === null) return [];
  const { repositoryId, pullRequest, headSha, baseRef, chain } = run;
  const answered = await read.approvals.answered({ repositoryId, pullRequest, headSha, baseRef });
  if (answered.every(({ approval }) => approval.status !== 'rejected')) return [];
  const decided = new Set([chain]);
  const rejections: Why[] = [];
  for (const { approval, chain: other } of answered) {
    if (decided.has(other)) continue;
    const asked = await read.runs.load(approval.runId);
    const step = asked?.invocations.find(({ id }) => id === approval.invocationId);
    if (!asked || !isMergeStep(asked.run, step)) continue;
    decided.add(other);
    if (approval.status === 'rejected') {
      const who = 'somebody who may countersign';
      rejections.push(why('unmet', `${who} rejected this head when ${other} asked about it`));
    }
  }
  return rejections;
}
