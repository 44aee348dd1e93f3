import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import type { AnsweringPerson } from '../../domain/policy/approval.ts';
import { isMergeStep, type Run } from '../../domain/run/run.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { EarlierRejections } from './approval-context.ts';

/**
 * Rejections of this head and base. Each counts whatever approval it was given to and however many runs
 * followed. It is lifted when the same person countersigns a later approval of the same chain in the same
 * pull request. Asking again, which authors can do, does not lift it, nor does another person's countersign.
 * A reaction that was not polled yet is unknown here.
 * @param approvalId the approval that is being answered
 */
export async function earlierRejections(
  read: ReadTx,
  { repositoryId, pullRequest, headSha, baseRef, chain }: Run,
  approvalId: string | undefined,
): Promise<EarlierRejections> {
  const by = new Map<number, AnsweringPerson>();
  const elsewhere: Explanation[] = [];
  if (pullRequest === null) return { by: [], elsewhere };
  const answered = await read.approvals.answered({ repositoryId, headSha, baseRef });
  if (answered.every(({ approval }) => approval.status !== 'rejected')) return { by: [], elsewhere };
  const decided = new Set<string>();
  // Newest first: a countersigned approval has lifted every earlier rejection.
  for (const { approval, chain: asking } of answered) {
    const asked = await read.runs.load(approval.runId);
    const question = `${asked?.run.pullRequest} ${asking}`;
    const step = asked?.invocations.find(({ id }) => id === approval.invocationId);
    if (!asked || !isMergeStep(asked.run, step) || decided.has(question) || approval.id === approvalId)
      continue;
    if (approval.status === 'countersigned') {
      decided.add(question);
      continue;
    }
    const { rejectedBy } = approval;
    // Older versions did not store who rejected. Only a new head lifts such a rejection.
    if (question === `${pullRequest} ${chain}` && rejectedBy.length > 0) {
      for (const person of rejectedBy) by.set(person.id, person);
      continue;
    }
    decided.add(question);
    const who = rejectedBy.map(({ login }) => login).join(', ') || 'somebody who may countersign';
    const where = asked.run.pullRequest === pullRequest ? '' : ` in #${asked.run.pullRequest}`;
    elsewhere.push(criterion('unmet', `${who} rejected this head when ${asking} asked about it${where}`));
  }
  return { by: [...by.values()], elsewhere };
}
