import { CountersignError } from '../../core/errors.ts';
import {
  type Answers,
  type MergeMethod,
  parseChecks,
  parseCount,
  parseMethod,
  parseWho,
  tooFewNamed,
  type Who,
} from '../../domain/first-look/answers.ts';
import { choosable, proposed } from '../../domain/first-look/propose.ts';
import type { Seen } from '../../domain/first-look/seen.ts';
import { BAD_ANSWERS, NO_ANSWER, NO_MORE_INPUT, QUESTIONS } from '../../messages/cli/init.ts';
import { type Person, UsageError } from './context.ts';

/** Answers that options give. */
export interface GivenAnswers {
  who?: Who;
  count?: number;
  method?: MergeMethod;
  /** `false`: none must pass. */
  checks?: boolean;
  check?: string[];
}

/** How often a question is asked until somebody understands it. */
const MAX_ATTEMPTS = 3;

/**
 * The answers of the options, then of the person, then those that are proposed.
 * @param person `undefined`: nobody is asked
 * @throws UsageError for answers that exclude each other, and for three that are not understood
 * @throws CountersignError if the input ends
 */
export async function answersTo(
  seen: Seen,
  { who, count, method, checks, check }: GivenAnswers,
  person: Person | undefined,
): Promise<Answers> {
  const preset = proposed(seen);
  const from = choosable(seen);
  const allowed = seen.github?.mergeMethods;
  if (method !== undefined && parseMethod(method, allowed) === undefined)
    throw new UsageError(NO_ANSWER.method(seen));
  const chosen = who ?? (await ask(QUESTIONS.who(preset), preset.who, parseWho, NO_ANSWER.who));
  const answers: Answers = {
    who: chosen,
    count:
      count ??
      (await ask(
        QUESTIONS.count(preset),
        preset.count,
        (text) => {
          const number = parseCount(text);
          return number === undefined || tooFewNamed({ who: chosen, count: number }) ? undefined : number;
        },
        chosen.kind === 'named' ? NO_ANSWER.countOfNamed : NO_ANSWER.count,
      )),
    method:
      method ??
      (await ask(
        QUESTIONS.method(preset, seen),
        preset.method,
        (text) => parseMethod(text, allowed),
        NO_ANSWER.method(seen),
      )),
    checks:
      check ??
      (checks === false
        ? []
        : await ask(
            QUESTIONS.checks(preset, from),
            preset.checks,
            (text) => parseChecks(text, from),
            NO_ANSWER.checks,
          )),
  };
  if (tooFewNamed(answers)) throw new UsageError(NO_ANSWER.tooFewNamed);
  return answers;

  async function ask<T>(
    question: string,
    preset: T,
    parse: (text: string) => T | undefined,
    otherwise: string,
  ): Promise<T> {
    if (!person) return preset;
    let hint = '';
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const line = await person.ask(hint + question);
      if (line === undefined) throw new CountersignError('cli.no_answer', NO_MORE_INPUT);
      const text = line.trim();
      const answer = text === '' ? preset : parse(text);
      if (answer !== undefined) return answer;
      hint = `${otherwise}\n`;
    }
    throw new UsageError(BAD_ANSWERS);
  }
}
