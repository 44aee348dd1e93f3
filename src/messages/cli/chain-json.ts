import { z } from 'zod';
import { type Chain, chainSchema } from '../../domain/chain/chain.ts';
import type { Scope } from '../../domain/chain/scope.ts';
import { stepApprovalSchema } from '../../domain/policy/countersign-rules.ts';

const { uses, retry, onFailure } = chainSchema.shape.steps.element.shape;

/**
 * A chain's definition in the JSON of the command line and the API. Fields are listed one by one, so that renaming an
 * internal field does not change people's scripts.
 */
export const definitionJsonSchema = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  /** One trigger, or several. */
  trigger: z.json(),
  max_parallel: z.int().nullable(),
  steps: z.array(
    z.strictObject({
      id: z.string(),
      index: z.int().min(0),
      uses,
      depends_on: z.array(z.string()),
      condition: z.string().nullable(),
      with: z.record(z.string(), z.json()),
      timeout_ms: z.int().nullable(),
      retry: z.strictObject({ attempts: retry.shape.attempts, backoff_ms: retry.shape.backoffMs }),
      on_failure: onFailure,
      requires_approval: z.union([z.boolean(), stepApprovalSchema]),
    }),
  ),
});

export function definitionJson(chain: Chain) {
  return {
    name: chain.name,
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

/** Of a chain in a file, with where it is. */
export function chainJson(chain: Chain, scope: Scope, file: string) {
  const { name, ...definition } = definitionJson(chain);
  return { name, scope, file, ...definition };
}
