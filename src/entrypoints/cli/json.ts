import type { Chain } from '../../domain/chain/chain.ts';
import type { Scope } from '../../domain/chain/scope.ts';

/*
 * The shapes of `--json` that `messages/run-json.ts` does not have. Fields are listed one by one, so that
 * renaming an internal field does not change people's scripts.
 */

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
