import { z } from 'zod';
import { CountersignError } from '../../core/errors.ts';
import { notDrafted } from '../../messages/cli/skill.ts';
import { describeFailure } from '../../messages/skills/model.ts';
import type { Model } from '../../ports/model.ts';
import type { ScaffoldOutcome } from './skill-scaffold-program.ts';

/** Braces would be tags of the template. The scaffold adds the variables; the draft must not. */
const prose = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^{}]*$/, 'without braces');

const draftSchema = z.strictObject({
  description: prose(500).describe('What it does and when to use it, in one sentence.'),
  tags: z
    .array(z.string().regex(/^[a-z0-9][a-z0-9-]{0,29}$/))
    .max(6)
    .describe('Single words it is found by.'),
  trigger_phrases: z.array(prose(60)).max(6).describe('What somebody would say who wants it.'),
  body: prose(2_000).describe('For people: what it looks at, and how it decides.'),
  prompt: prose(4_000).describe('For the model that will judge: what to look for, and when it passes.'),
});
export type Draft = z.infer<typeof draftSchema>;

const LIMITS = { maxOutputTokens: 4_000, timeoutMs: 120_000 };
const NO_RUN = { runId: null, sessionId: null, repositoryId: null, pullRequest: null };

/**
 * A skill that the model writes from one sentence, as a start for its author. Nothing runs it until it is on
 * the base branch.
 * @throws CountersignError if the model returned no valid draft
 */
export async function draftOf(
  { name, sentence, outcome }: { name: string; sentence: string; outcome: ScaffoldOutcome },
  model: Model,
  signal: AbortSignal,
): Promise<Draft> {
  const prompt = [
    `Draft a skill named "${name}" for a code review bot. It looks at the title and the diff of a pull request, and its outcome is a ${outcome}.`,
    `Its author says: ${sentence}`,
    'Be concrete about what to look for and what to leave alone. The title and the diff are added after your prompt, and so is the shape of the answer.',
  ].join('\n\n');
  const purpose = { ...NO_RUN, skill: name, artifact: null };
  const answer = await model.ask({ prompt, schema: draftSchema, limits: LIMITS, purpose, signal });
  if (answer.kind === 'answered') return answer.value;
  throw new CountersignError('cli.not_drafted', notDrafted(describeFailure(answer.failure)));
}
