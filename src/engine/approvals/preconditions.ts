import type { Explanation } from '../../domain/explanation/explanation.ts';
import { type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import type { AskedAuthorship } from '../../domain/policy/approval.ts';
import { askedAuthorship } from '../../domain/policy/authorship.ts';
import { actionOf } from '../../domain/policy/capability.ts';
import { conflictOf } from '../../domain/policy/conflict.ts';
import { type MergeQuestion, refusesUnattributed } from '../../domain/policy/merge-gate.ts';
import { requestedChangesCriterion } from '../../domain/policy/reviews-standing.ts';
import { pullRequestOf } from '../steps/step.ts';
import type { ApprovalContext, ApprovalResult } from './approval-context.ts';
import { readContributors } from './contributors.ts';
import { wasConflicting } from './merge-facts.ts';
import { readRequestedChanges } from './requested-changes.ts';

/** How long GitHub may take to work out whether there is a conflict before people are asked all the same, in milliseconds. */
const WORKING_OUT_MS = 60_000;
/** How soon GitHub is asked again meanwhile, in milliseconds. */
const ASK_AGAIN_MS = 3_000;
/** How often a conflict is looked at without being told of a change, in milliseconds: a push to either branch tells. */
const CONFLICT_MS = 120_000;

/** What holds a merge up although people may be asked about it, or what must be waited for before they are. */
export type BeforeAsking =
  | { kind: 'ask'; blockedBy: readonly Explanation[]; authorship: AskedAuthorship | null }
  | { kind: 'wait'; result: ApprovalResult };

/**
 * Looks at what would make the question to the maintainers a waste of their time. Nobody is asked about a merge that conflicts:
 * whatever resolves it is another head, to be asked about anew.
 */
export async function beforeAsking(
  context: ApprovalContext,
  method: MergeQuestion['method'],
): Promise<BeforeAsking> {
  const { step, state, reader, repo, invocation, session, clock } = context;
  const { headSha, baseRef, paused, settings } = state.run;
  const number = pullRequestOf(context);
  const pullRequest = await reader.pullRequest(repo, number);
  if (!actionOf(step.uses)?.merges) return ask([]);
  // What moved meanwhile says nothing about this head; its run is ended by the event that tells of the change.
  const isSame = pullRequest.headSha === headSha && pullRequest.baseRef === baseRef;
  const conflict = isSame ? conflictOf(pullRequest, method, baseRef) : ({ kind: 'none' } as const);
  if (isSame && pullRequest.draft)
    return waits(
      'step.waiting.draft',
      'the pull request is a draft: people are asked once it is ready',
      CONFLICT_MS,
    );
  const waitedMs = clock.now().getTime() - session.startedAt.getTime();
  if (conflict.kind === 'conflict') return waits('step.waiting.conflict', conflict.says, CONFLICT_MS);
  // Once there was a conflict, only GitHub's word that there is none ends it.
  if (conflict.kind === 'unknown' && wasConflicting(context))
    return waits('step.waiting.conflict', workingOut('still conflicts'), ASK_AGAIN_MS);
  // A server that never says must not keep people from being asked: GitHub itself refuses to merge a conflict.
  if (conflict.kind === 'unknown' && waitedMs < WORKING_OUT_MS)
    return waits('step.waiting.mergeability', workingOut('conflicts'), ASK_AGAIN_MS);
  if (paused && invocation.status === 'waiting_until')
    return waits(
      'step.waiting.paused',
      'the pull request is paused; `/countersign resume` goes on',
      CONFLICT_MS,
    );
  const requested = await readRequestedChanges(context, number);
  const held = requested ? [requestedChangesCriterion(requested, pullRequest.author.id)] : [];
  return ask(held.filter(({ status }) => status !== 'met'));

  async function ask(held: readonly Explanation[]): Promise<BeforeAsking> {
    const contributors = await readContributors(context, pullRequest, headSha);
    const { countersign } = settings;
    return {
      kind: 'ask',
      blockedBy: [...held, ...refusesUnattributed(countersign, contributors)],
      authorship: contributors ? askedAuthorship(countersign, contributors) : null,
    };
  }

  function workingOut(what: string): string {
    return `GitHub is working out whether it ${what} with ${baseRef}`;
  }

  function waits(code: ReasonCode, because: string, ms: number): BeforeAsking {
    const until = new Date(clock.now().getTime() + ms);
    return { kind: 'wait', result: { kind: 'waits', for: 'until', until, reason: reason(code, because) } };
  }
}
