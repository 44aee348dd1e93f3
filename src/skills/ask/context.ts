import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Candidate } from '../../domain/chain/chain.ts';
import { newRun } from '../../domain/run/new-run.ts';
import { repoOf } from '../../domain/run/run.ts';
import type { Configuration } from '../../engine/configuration/configuration.ts';
import { repositoryFacts, runFactsOf } from '../../engine/runs/run-facts.ts';
import type { StepContext } from '../../engine/steps/step.ts';
import type { GitHub, PullRequest } from '../../ports/github.ts';
import type { SkillCall } from '../../ports/skill-traces.ts';
import { unstoredStep } from '../runtime/unstored-step.ts';

const NAME = 'ask';

/**
 * The context of a skill that answers a question in a comment: a run of one step under the call's id, which
 * is never stored.
 */
export function contextOfCall(
  deps: { github: GitHub; clock: Clock; ids: Ids; log: Log },
  call: SkillCall,
  {
    pullRequest,
    configuration,
    candidates,
    signal,
  }: {
    pullRequest: PullRequest;
    configuration: Configuration;
    candidates: readonly Candidate[];
    signal: AbortSignal;
  },
): StepContext {
  const { github, clock, ids, log } = deps;
  const { owner, name } = repoOf(call);
  const event = {
    kind: 'command.issued',
    installation_id: call.installationId,
    repository: { id: call.repositoryId, owner, name },
    pull_request: call.pullRequest,
    actor: call.askedBy,
    text: call.question,
    via: { kind: 'comment', comment_id: call.commentId, created_at: call.createdAt.toISOString() },
  } as const;
  const step: StepContext['step'] = {
    id: NAME,
    index: 0,
    uses: { kind: 'skill', name: NAME, candidates: [...candidates] },
    dependsOn: [],
    with: { question: call.question },
    retry: { attempts: 1, backoffMs: 0 },
    onFailure: 'fail',
    requiresApproval: false,
  };
  const state = newRun(
    {
      id: call.id,
      chain: { name: NAME, trigger: { event: 'manual.fired', filter: {} }, steps: [step] },
      settings: configuration.settings,
      event,
      deliveryId: null,
      pullRequest: call.pullRequest,
      headSha: pullRequest.headSha,
      baseRef: pullRequest.baseRef,
      baseSha: configuration.sha,
      facts: runFactsOf(event, pullRequest, repositoryFacts(event, pullRequest.defaultBranch)),
      paused: false,
    },
    ids,
    clock.now(),
  );
  return unstoredStep(
    state,
    { id: call.id, startedAt: clock.now() },
    {
      reader: github.reader(call.installationId, 'person'),
      step,
      inputs: { question: call.question },
      text: () => undefined,
      repo: { owner, name },
      appId: github.appId,
      clock,
      log,
      signal,
    },
  );
}
