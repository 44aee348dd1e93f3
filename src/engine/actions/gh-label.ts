import { reason } from '../../domain/explanation/reason.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import { CAPABILITIES } from '../../domain/policy/capability.ts';
import type { StepContext, StepHandler } from '../steps/step.ts';
import { issueNumber } from './target.ts';

/** Adds labels to the pull request or issue. Existing labels stay. */
export const ghLabel: StepHandler = {
  name: 'gh-label',
  capability: CAPABILITIES['gh-label'],
  async run(context: StepContext) {
    const issue = issueNumber(context);
    const { labels } = context.inputs;
    const wanted = typeof labels === 'string' ? [labels] : Array.isArray(labels) ? labels.map(String) : [];
    if (issue === undefined || wanted.length === 0) {
      return {
        kind: 'failed',
        reason: reason('step.failed.error', 'gh-label needs `with: {pr: <number>, labels: [<name>, …]}`'),
        retryable: false,
      };
    }
    const { run } = context.state;
    return {
      kind: 'done',
      outcome: makeOutcome<'action_result'>({
        outcome_kind: 'action_result',
        // Stored before the request to GitHub, which may reject it. So it only says that the labels were
        // requested.
        summary: `asks for ${wanted.length === 1 ? 'the label' : 'the labels'} ${wanted.join(', ')} on #${issue}`,
        passed: true,
        action: 'gh-label',
        details: { issue, labels: wanted },
      }),
      desiredEffects: [
        {
          key: `label:${run.id}:${context.step.id}`,
          effect: {
            kind: 'label',
            installation_id: run.installationId,
            owner: context.repo.owner,
            repo: context.repo.name,
            issue,
            labels: wanted,
          },
        },
      ],
    };
  },
};
