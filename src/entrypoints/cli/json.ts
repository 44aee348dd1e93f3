import type { Chain } from '../../domain/chain/chain.ts';
import type { Scope } from '../../domain/chain/scope.ts';
import type { DeliverySummary } from '../../ports/storage.ts';

/*
 * The shapes of `--json` that `messages/run-json.ts` does not have. Fields are listed one by one, so that
 * renaming an internal field does not change people's scripts.
 */

export function deliveryJson(delivery: DeliverySummary) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    event: delivery.event,
    action: delivery.action,
    status: delivery.status,
    attempts: delivery.attempts,
    error: delivery.error,
    received_at: delivery.receivedAt.toISOString(),
    finished_at: delivery.finishedAt?.toISOString() ?? null,
  };
}

export function chainJson(chain: Chain, scope: Scope, file: string) {
  return {
    name: chain.name,
    scope,
    file,
    description: chain.description ?? null,
    trigger: chain.trigger,
    max_parallel: chain.maxParallel ?? null,
    steps: chain.steps.map((step) => ({
      id: step.id,
      index: step.index,
      uses: step.uses,
      depends_on: step.dependsOn,
      condition: step.condition ?? null,
      with: step.with,
      timeout_ms: step.timeoutMs ?? null,
      retry: { attempts: step.retry.attempts, backoff_ms: step.retry.backoffMs },
      on_failure: step.onFailure,
      requires_approval: step.approval ?? step.requiresApproval,
    })),
  };
}
