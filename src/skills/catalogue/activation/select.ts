import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { redactValue } from '../../../core/redact/redact.ts';
import type { Decision } from '../../../domain/skill/decision.ts';
import {
  matchedBecause,
  NO_ANSWER_HERE,
  NOTHING_FITS,
  notAmong,
  notInSkill,
  SAID_NOTHING,
} from '../../../messages/skills/activation.ts';
import { describeFailure } from '../../../messages/skills/model.ts';
import type { Limits, Model, Purpose } from '../../../ports/model.ts';
import { fenced } from '../../templating/fence.ts';
import { MAX_RENDERED_BYTES } from '../../templating/render.ts';
import { matcherOf, type Question, type SkillMatch } from '../match.ts';
import { type Candidate, createCandidates } from './candidates.ts';
import { askedOf, selectionPrompt } from './prompt.ts';

/**
 * The lowest score that decides without a model: a changed file that the skill is for. Anything lower is a
 * few common words or tags, and a wrong skill's verdict is worse than none.
 */
export const LEAST_SCORE = 4;
/** How many of the best matches a model sees. */
export const MAX_SHOWN = 8;

const LIMITS: Limits = { maxOutputTokens: 2_000, timeoutMs: 60_000 };

export interface Selection {
  question: Question;
  /** The ids (content hashes) of the skills that may be chosen. */
  ids: readonly string[];
  /** Whether the model may answer by itself. */
  mayAnswer: boolean;
  purpose: Purpose;
  signal: AbortSignal;
}

export type Selected =
  | { kind: 'decided'; decision: Decision }
  | { kind: 'failed'; because: string; retryable: boolean };

/** Decides how to handle a question: phase 2, after the ranking by metadata. */
export type Select = (selection: Selection) => Promise<Selected>;

/** The model's answer. Flat, because providers differ in how they treat alternatives. */
const answerSchema = z.strictObject({
  decision: z.enum(['skill', 'answer', 'question']),
  skill: z.string().max(100).nullable().describe('With decision "skill": its name, as listed.'),
  artifact: z.string().max(200).nullable().describe('One of its files, as listed; null: its first.'),
  text: z.string().max(4_000).describe('Why this skill; or the answer; or what you ask back.'),
});
type ModelAnswer = z.infer<typeof answerSchema>;

export function createSelect({
  model,
  ...packages
}: Parameters<typeof createCandidates>[0] & {
  /** `undefined` if no model is configured. */
  model: Model | undefined;
}): Select {
  const candidatesOf = createCandidates(packages);

  return async ({ question, ids, mayAnswer, purpose, signal }) => {
    const candidates = await candidatesOf(ids);
    const matches = matcherOf(candidates.map(({ prepared }) => prepared)).match(question);
    const shown = matches.slice(0, MAX_SHOWN).flatMap((match) => {
      const found = candidates.find(({ described }) => described.name === match.name);
      return found ? [{ ...found, match }] : [];
    });
    const [best] = shown;
    if (!model)
      return decided(best && best.match.score >= LEAST_SCORE ? chosen(best, best.match) : asksBack());
    if (!best && !mayAnswer) return decided(asksBack());

    const { texts, morePaths } = askedOf(question);
    const { context, fill } = fenced(texts, newCode());
    const prompt = fill(selectionPrompt(shown, context, morePaths, mayAnswer), MAX_RENDERED_BYTES);
    if (prompt === undefined) {
      const limit = {
        kind: 'prompt_too_large',
        bytes: MAX_RENDERED_BYTES + 1,
        limit: MAX_RENDERED_BYTES,
      } as const;
      return failed(describeFailure(limit), false);
    }
    const answer = await model.ask({ prompt, schema: answerSchema, limits: LIMITS, purpose, signal });
    return answer.kind === 'answered'
      ? decisionOf(answer.value, shown, mayAnswer)
      : failed(describeFailure(answer.failure), answer.retryable);
  };
}

/** A model can only choose from what it was shown. Any other name would be a guess. */
function decisionOf(
  { decision, skill, artifact, text }: ModelAnswer,
  shown: readonly Candidate[],
  mayAnswer: boolean,
): Selected {
  switch (decision) {
    case 'skill': {
      const found = shown.find(({ described }) => described.name === skill);
      if (!found) return failed(notAmong(skill), true);
      const path = artifact ?? found.artifacts[0];
      if (path === undefined || !found.artifacts.includes(path))
        return failed(notInSkill(found.described.name, path), true);
      return decided({
        kind: 'skill',
        skill: found.described.name,
        id: found.outline.id,
        artifact: path,
        by: 'model',
        because: text.replaceAll(/\s+/g, ' ').trim(),
      });
    }
    case 'answer':
      if (!mayAnswer) return failed(NO_ANSWER_HERE, true);
      return text.trim() === '' ? failed(SAID_NOTHING, true) : decided({ kind: 'answer', text });
    case 'question':
      return decided({ kind: 'question', text: text.trim() === '' ? NOTHING_FITS : text });
  }
}

function chosen({ outline, described, artifacts: [first = ''] }: Candidate, match: SkillMatch): Decision {
  const because = matchedBecause(match);
  return { kind: 'skill', skill: described.name, id: outline.id, artifact: first, by: 'match', because };
}

function asksBack(): Decision {
  return { kind: 'question', text: NOTHING_FITS };
}

/** Redacted, because it is stored and a model can repeat what it was shown. */
function decided(decision: Decision): Selected {
  return { kind: 'decided', decision: redactValue(decision) };
}

function failed(because: string, retryable: boolean): Selected {
  return { kind: 'failed', because, retryable };
}

function newCode(): string {
  return randomBytes(8).toString('hex');
}
