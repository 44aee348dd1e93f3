import { isMergeStep, type RunState } from '../run/run.ts';
import { type Why, why } from '../run/why.ts';
import type { Storage } from '../storage/storage.ts';

/**
 * Where somebody said no when another chain, or another pull request with this head and base, asked whether to merge it, as conditions
 * that do not hold: a no is about the head, whichever question it was given to, and however many runs came since. It stands until
 * the same chain's question there is countersigned: to ask again, which authors may, takes nothing back. A reaction that was not
 * looked at there yet is not known here.
 */
export async function rejectedElsewhere({ read }: Storage, { run }: RunState): Promise<Why[]> {
  if (run.pullRequest === null) return [];
  const { repositoryId, pullRequest, headSha, baseRef, chain } = run;
  const answered = await read.approvals.answered({ repositoryId, headSha, baseRef });
  if (answered.every(({ approval }) => approval.status !== 'rejected')) return [];
  const decided = new Set([`${pullRequest} ${chain}`]);
  const rejections: Why[] = [];
  for (const { approval, chain: other } of answered) {
    const asked = await read.runs.load(approval.runId);
    const question = `${asked?.run.pullRequest} ${other}`;
    const step = asked?.invocations.find(({ id }) => id === approval.invocationId);
    if (!asked || decided.has(question) || !isMergeStep(asked.run, step)) continue;
    decided.add(question);
    if (approval.status === 'rejected') {
      const where = asked.run.pullRequest === pullRequest ? '' : ` in #${asked.run.pullRequest}`;
      const who = 'somebody who may countersign';
      rejections.push(why('unmet', `${who} rejected this head when ${other} asked about it${where}`));
    }
  }
  return rejections;
}
