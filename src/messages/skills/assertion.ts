import { clip } from '../text/pretty.ts';

export const NO_SUCH_MEMBER = 'there is no such member';
export const NOT_THE_SHAPE = 'it does not have the shape that was asked for';
export const TOO_LONG_TO_SEARCH = 'it is too long to be searched';
export const NO_MODEL_TO_ASK = 'a model has to judge it, and none is configured (COUNTERSIGN_MODEL)';

export function lackOfLength(
  has: number,
  bound: 'at least' | 'at most',
  limit: number,
  unit: string,
): string {
  return `it has ${count(has)} ${unit}, and ${bound} ${count(limit)} are asked for`;
}

export function lackOfPattern(asked: 'contains' | 'lacks', pattern: string): string {
  const shown = clip(pattern, 100);
  return asked === 'contains' ? `it does not contain ${shown}` : `it contains ${shown}`;
}

/** @param because the model's own words */
export function modelSaysNo(because: string): string {
  return `the model says that it does not hold: ${clip(because, 200)}`;
}

/** `assertion 2 (length of summary)`, counted from 1. */
export function assertionName(
  index: number,
  { kind, of }: { kind: string; of?: string | undefined },
): string {
  return `assertion ${index + 1} (${kind}${of === undefined ? '' : ` of ${of}`})`;
}

/** A failed assertion with `on_failure: abort`. */
export function assertionBroken(artifact: string, name: string, because: string): string {
  return `${artifact} breaks ${name}: ${because}`;
}

/** An assertion with `on_failure: warn` that failed or could not be judged. */
export function assertionWarning(artifact: string, name: string, because: string, isKnown: boolean): string {
  return `${artifact}: ${name} ${isKnown ? 'does not hold' : 'was not judged'}: ${because}`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}
