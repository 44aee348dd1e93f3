import { z } from 'zod';

/**
 * A pointer to the thing itself: a check, a comment, a run, an artifact, a person; a rule by its `rule_id`, a gate by its id,
 * what the policy says by the capability's name.
 */
export const evidenceRefSchema = z.strictObject({
  kind: z.enum([
    'artifact',
    'check',
    'comment',
    'commit',
    'effect',
    'gate',
    'person',
    'policy',
    'rule',
    'run',
    'step',
    'url',
  ]),
  id: z.string(),
  label: z.string(),
  /** Where it is, when its kind and id do not say so: a check may be anywhere. */
  url: z.string().optional(),
});
export type EvidenceRef = z.infer<typeof evidenceRefSchema>;

/** Points to a step of the run. */
export function stepRef({ id, stepId }: { id: string; stepId: string }): EvidenceRef {
  return { kind: 'step', id, label: stepId };
}
