import { unreachable } from '../../core/errors.ts';
import { makeOutcome } from '../../outcome/outcome.ts';
import type { Approval } from '../../policy/approval.ts';
import { CAPABILITIES } from '../../policy/capability.ts';
import type { PolicyEngine } from '../../policy/engine.ts';
import { reason } from '../../run/reason.ts';
import { refusedAfterAll } from '../allowed.ts';
import { seekApproval } from '../approval.ts';
import { mergeMethod } from '../merge-method.ts';
import { notMergeable } from '../not-mergeable.ts';
import type { StepContext, StepHandler, StepResult } from '../step.ts';

/** Merges the pull request of the run, after and only after a countersign. */
export function ghMerge(
  handlerOf: (name: string) => StepHandler | undefined,
  policy: PolicyEngine,
): StepHandler {
  const capability = CAPABILITIES['gh-merge'];
  return {
    name: 'gh-merge',
    capability,
    async run(context) {
      const answer = await seekApproval(context, handlerOf);
      switch (answer.kind) {
        case 'not_yet':
          return answer.result;
        case 'already_merged': {
          const sha = answer.pullRequest.mergeCommitSha ?? '';
          await context.confirmMerge(sha);
          return merged(context, answer.approval, sha);
        }
        case 'granted':
          break;
        default:
          return unreachable(answer);
      }
      const refused = refusedAfterAll(context, capability, policy, answer);
      if (refused) return refused;
      const { approval, pullRequest, proof } = answer;
      if (!proof) throw new Error(`run ${context.state.run.id} has no proof that it may merge`);
      const title =
        mergeMethod(context) === 'squash' ? `${pullRequest.title} (#${pullRequest.number})` : undefined;
      const result = await context.merge(proof, approval, title);
      switch (result.kind) {
        case 'merged':
          return merged(context, approval, result.sha);
        case 'head_moved':
          // Not tried again: whoever pushed gets a new run, with a question of its own.
          return {
            kind: 'moved',
            reason: reason('run.cancelled.superseded', 'the head moved while it was being merged'),
            approval: { ...approval, status: 'void' },
          };
        case 'not_mergeable':
          return notMergeable(context, approval, answer.why, result.message);
        case 'refused':
          return {
            kind: 'failed',
            reason: reason(
              'step.failed.not_mergeable',
              `GitHub refused the merge (${result.status}): ${result.message}`,
            ),
            retryable: false,
            approval: { ...approval, status: 'void' },
          };
        default:
          return unreachable(result);
      }
    },
  };
}

/**
 * How and for whom it was merged is in the ledger. Of two merge steps that ask beside each other the one merges and the other
 * finds it done, perhaps without any answer to its own question, which is void then.
 */
async function merged(context: StepContext, approval: Approval, sha: string): Promise<StepResult> {
  const { run, invocations } = context.state;
  const made = await context.mergeBegun();
  const other = invocations.find(({ id }) => id === made?.invocation_id && id !== approval.invocationId);
  const people = made?.countersigned_by ?? approval.countersignedBy;
  const by = `${other ? ` by the step ${other.stepId}` : ''}, countersigned by ${people.join(', ')}`;
  return {
    kind: 'done',
    outcome: makeOutcome<'action_result'>({
      outcome_kind: 'action_result',
      summary: `merged into ${run.baseRef} as ${sha.slice(0, 7)}${by}`,
      passed: true,
      action: 'gh-merge',
      details: {
        sha,
        head_sha: run.headSha,
        method: made?.method ?? mergeMethod(context),
        countersigned_by: people,
        ...(other ? { merged_by_step: other.stepId } : {}),
      },
    }),
    approval: { ...approval, status: other ? 'void' : 'countersigned' },
  };
}
