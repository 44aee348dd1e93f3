import { z } from 'zod';

/** What a question to the skills is answered with. */
export const decisionSchema = z.discriminatedUnion('kind', [
  /** By the model itself, without a skill. */
  z.strictObject({ kind: z.literal('answer'), text: z.string() }),
  z.strictObject({
    kind: z.literal('skill'),
    skill: z.string(),
    /** Of the package, by its content. */
    id: z.string(),
    /** The one that is carried out, by its path in the package: what is asked comes to one outcome. */
    artifact: z.string(),
    /** Who chose: the ranking by what skills say of themselves, or a model among the first of it. */
    by: z.enum(['match', 'model']),
    because: z.string(),
  }),
  /** Nothing fits well enough: what whoever asked should say, or that there is nothing. */
  z.strictObject({ kind: z.literal('question'), text: z.string() }),
]);
export type Decision = z.infer<typeof decisionSchema>;
export type SkillChoice = Extract<Decision, { kind: 'skill' }>;

export const skillChoiceSchema = decisionSchema.options[1];

/** As people are told why a step does what it does. */
export function choiceSaid({ skill, artifact, by, because }: SkillChoice): string {
  const who = by === 'model' ? 'chosen by the model' : 'which fits best';
  return `does ${artifact} of the skill ${skill}, ${who}: ${because.slice(0, 300)}`;
}
