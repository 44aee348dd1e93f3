import { type Finding, placeInWords, type Severity } from '../../domain/outcome/finding.ts';
import type { LeftOut, SeenBy, Since } from '../../domain/outcome/review-verdict.ts';
import { clip, listed, plural } from '../text/pretty.ts';

export const NO_MODEL_ASKED = 'No language model is configured, so none was asked.';
export const NO_MODEL_WANTED = 'This chain asks no language model.';
export const SECRETS_UNKNOWN =
  'nothing was sent to it, since the search for secrets failed and the text could hold some';
export const DELETED = 'deleted: a model was told its name only';

/**
 * `2 of them searched for secrets only and 1 more not read at all`, about the files counted as reviewed;
 * empty if all were reviewed in full.
 */
export function lessThanReviewed(leftOut: readonly LeftOut[]): string {
  const count = (who: SeenBy) => leftOut.filter(({ seen_by }) => seen_by === who).length;
  const [secrets, analyzers, nobody] = [count('secret_search'), count('analyzers'), count('nobody')];
  return listed(
    [
      ...(secrets > 0 ? [`${secrets} of them searched for secrets only`] : []),
      ...(analyzers > 0 ? [`${analyzers} of them read by no model`] : []),
      ...(nobody > 0 ? [`${nobody} more not read at all`] : []),
    ],
    'and',
  );
}

/** @param what the reason, such as `generated`, why its name says that no person wrote the file */
export function noModelRead(what: string): string {
  return `${what}: the analyzers checked it, and no model did`;
}

/** A finding that a model took back when it was asked to refute it, as one sentence. */
export function tookBack(
  finding: Pick<Finding, 'severity' | 'file' | 'line' | 'description'>,
  because: string,
): string {
  const { severity, description } = finding;
  return `The model took back ${severity} ${placeInWords(finding)}: ${clip(description, 70)} Why: ${clip(because, 70)}`;
}

/** @param because one sentence */
export function notCheckedAgain(because: string): string {
  return `The model’s findings were not checked a second time: ${because}`;
}

/** About a review that was asked to read one file again. */
export function readOneFile(path: string): string {
  return `Read again: ${clip(path, 100)}. What was found in the other files stays.`;
}

/** About the same, if the review that it would have kept the rest of is gone. */
export function readAll(path: string): string {
  return `All files were reviewed again, not only ${clip(path, 80)}: the last review of this commit is not there any more.`;
}

/** Why a model did not read a file, or only a part of it. */
export function beyondBudget(unread: number, parts: number, questions: number): string {
  const limit = `beyond the ${questions} questions that one review asks a model`;
  return unread === parts
    ? `no model read its change: it is ${limit}`
    : `a model read ${parts - unread} of ${parts} parts of its change: the others are ${limit}`;
}

/** `2 fixed since round 1, 1 still open`. */
export function sinceWords({ round, fixed, still_open }: Since): string {
  if (fixed === 0) return `${plural(still_open, 'finding')} of round ${round} still open`;
  const open = still_open === 0 ? '' : `, ${still_open} still open`;
  return `${fixed} fixed since round ${round}${open}`;
}

/** An analyzer's finding for which a model chose a higher severity, with the model's reason. */
export function weighedHigher(said: string, severity: Severity, modelSaid: string): string {
  return `${said} A model weighs it as ${severity}: ${modelSaid}`;
}
