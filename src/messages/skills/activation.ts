import { clip } from '../text/pretty.ts';

export const NOTHING_FITS = 'No skill fits that well enough. Name one, or say what it should look at.';
export const NO_ANSWER_HERE = 'the model answered by itself, and a step needs a skill';
export const SAID_NOTHING = 'the model chose to answer by itself, and said nothing';

/** Why the first phase of skill selection ranks a skill first. */
export function matchedBecause({
  score,
  reasons,
}: {
  score: number;
  reasons: readonly { kind: string; said: string }[];
}): string {
  const parts = reasons.slice(0, 4).map(({ kind, said }) => `${kind} ${clip(said, 60)}`);
  return `${parts.join('; ')} (score ${score.toFixed(2)})`;
}

/** @param name the name that the model gave */
export function notAmong(name: string | null): string {
  return name === null
    ? 'the model chose a skill and named none'
    : `the model named the skill ${clip(name, 64)}, which is not among those it was shown`;
}

export function notInSkill(skill: string, path: string | undefined): string {
  return `the model named the file ${clip(path ?? '(none)', 100)}, which the skill ${skill} does not have`;
}

export function noneChosen(because: string): string {
  return `no skill was chosen: ${because}`;
}

export function noLongerThere(skill: string): string {
  return `the skill ${skill} was chosen, and is not among those that this run began with`;
}
