import { z } from 'zod';

/** The answer to a question about skills. */
export const decisionSchema = z.discriminatedUnion('kind', [
  /** The model answers itself, without a skill. */
  z.strictObject({ kind: z.literal('answer'), text: z.string() }),
  z.strictObject({
    kind: z.literal('skill'),
    skill: z.string(),
    /** The id of the package. */
    id: z.string(),
    /** The artifact to execute, by its path in the package: one question has one outcome. */
    artifact: z.string(),
    /** Who chose: the ranking of skill descriptions, or a model among the first of that ranking. */
    by: z.enum(['match', 'model']),
    because: z.string(),
  }),
  /** No skill fits well enough: what the person should add, or that there is no such skill. */
  z.strictObject({ kind: z.literal('question'), text: z.string() }),
]);
export type Decision = z.infer<typeof decisionSchema>;
export type SkillChoice = Extract<Decision, { kind: 'skill' }>;

export const skillChoiceSchema = decisionSchema.options[1];

/** A clause that says why a step uses this skill. */
export function describeChoice({ skill, artifact, by, because }: SkillChoice): string {
  const who = by === 'model' ? 'chosen by the model' : 'which fits best';
  return `does ${artifact} of the skill ${skill}, ${who}: ${because.slice(0, 300)}`;
}
