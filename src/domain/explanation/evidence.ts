import { z } from 'zod';

/**
 * A pointer to the evidence: a check, a comment, a run, an artifact, a person. A rule is named by its
 * `rule_id`, a gate by its id, the policy by the capability's name.
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
    'pull_request',
    'rule',
    'run',
    'step',
    'url',
  ]),
  id: z.string(),
  label: z.string(),
  /** The page, if kind and id do not determine it: a check can be anywhere. */
  url: z.string().optional(),
});
export type EvidenceRef = z.infer<typeof evidenceRefSchema>;

/** The subject of a run: its pull request, else its commit. For a chain about an issue, the run itself. */
export function subjectRef({
  id,
  pullRequest,
  headSha,
}: {
  id: string;
  pullRequest: number | null;
  headSha: string;
}): EvidenceRef {
  if (pullRequest !== null) return { kind: 'pull_request', id: `${pullRequest}`, label: `#${pullRequest}` };
  return headSha === ''
    ? { kind: 'run', id, label: id }
    : { kind: 'commit', id: headSha, label: headSha.slice(0, 7) };
}

export function stepRef({ id, stepId }: { id: string; stepId: string }): EvidenceRef {
  return { kind: 'step', id, label: stepId };
}
