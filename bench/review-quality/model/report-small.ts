import type { Price } from '../../../src/domain/model/price.ts';
import { costOf } from '../../../src/domain/model/price.ts';
import { HALVES } from '../corpus-case.ts';
import type { Replayed } from './answer-sources.ts';
import type { SmallReview } from './review-small.ts';
import { namesWeakness, scoreOf } from './score-small.ts';

/** All reviews with one model, or with none. */
export interface SmallResult {
  name: string;
  reviews: readonly SmallReview[];
  /** What the model was asked; empty without one. */
  answers: readonly Replayed[];
  /** `undefined` if it is not known; then so is the cost. */
  price: Price | undefined;
}

/** What one review takes on average. */
interface Averages {
  tokensIn: number;
  tokensOut: number;
  /** In dollars; `null` if the price is not known. */
  dollars: number | null;
  /** `null` if the time of an answer is not known. */
  seconds: number | null;
}

function averagesOf({ reviews, answers, price }: SmallResult): Averages {
  const total = (of: (answer: Replayed) => number) => answers.reduce((all, answer) => all + of(answer), 0);
  const tokens = {
    input: total((answer) => answer.tokens.input),
    output: total((answer) => answer.tokens.output),
  };
  const cost = answers.length === 0 ? 0 : costOf(tokens, price);
  const own = reviews.reduce((all, { ms }) => all + ms, 0);
  const isTimed = answers.every(({ ms }) => ms !== null);
  const each = (value: number) => value / Math.max(1, reviews.length);
  return {
    tokensIn: each(tokens.input),
    tokensOut: each(tokens.output),
    dollars: cost === null ? null : each(cost) / 1_000_000,
    seconds: isTimed ? each(own + total(({ ms }) => ms ?? 0)) / 1_000 : null,
  };
}

/** What stands between the figures and a plain reading of them, as sentences. */
export function reservations({ name, reviews, answers }: SmallResult): string[] {
  const count = (state: Replayed['state']) => answers.filter((answer) => answer.state === state).length;
  const incomplete = reviews.filter(({ isComplete }) => !isComplete).length;
  const [older, missing] = [count('of an older prompt'), count('missing')];
  return [
    ...(older > 0 ? [`${name}: ${older} of ${answers.length} answers are of an older prompt.`] : []),
    ...(missing > 0 ? [`${name}: ${missing} of ${answers.length} answers are missing.`] : []),
    ...(incomplete > 0
      ? [`${name}: ${incomplete} of ${reviews.length} pull requests have no usable answer.`]
      : []),
  ];
}

export function smallAsJson(results: readonly SmallResult[]): object {
  return {
    reviews: results.map((result) => ({
      review: result.name,
      pullRequests: result.reviews.length,
      ...scoreOf(result.reviews),
      takenBack: takenBack(result),
      ...averagesOf(result),
      reservations: reservations(result),
    })),
  };
}

function takenBack({ reviews }: SmallResult): number {
  return reviews.reduce((sum, review) => sum + review.takenBack.length, 0);
}

export function printSmall(results: readonly SmallResult[], { list }: { list: boolean }): void {
  const rows = results.map((result) => {
    const { weaknesses, findings, right, harmless } = scoreOf(result.reviews);
    const averages = averagesOf(result);
    return [
      result.name,
      {
        ...Object.fromEntries(
          HALVES.map((half) => [`found, ${half}`, `${weaknesses[half].found} of ${weaknesses[half].of}`]),
        ),
        precision: `${right} of ${findings}`,
        'harmless: remarked': `${harmless.remarked} of ${harmless.of}`,
        blocked: `${harmless.blocked} of ${harmless.of}`,
        'taken back': takenBack(result),
        'tokens in': Math.round(averages.tokensIn),
        'tokens out': Math.round(averages.tokensOut),
        dollars: averages.dollars?.toFixed(4) ?? 'not known',
        seconds: averages.seconds?.toFixed(2) ?? 'not known',
      },
    ] as const;
  });
  console.log('Tokens, dollars and seconds for one pull request, on average:');
  console.table(Object.fromEntries(rows));
  for (const result of results) for (const words of reservations(result)) console.log(words);
  if (list) for (const result of results) printList(result);
}

function printList({ name, reviews }: SmallResult): void {
  console.log(`\n${name}: missed, and findings that name no weakness`);
  for (const review of reviews) {
    const { pullRequest, findings, takenBack: notes } = review;
    const naming = findings.filter((finding) => namesWeakness(finding, review));
    const others = findings.filter((finding) => !naming.includes(finding));
    const { weakness } = pullRequest;
    if (weakness && naming.length === 0)
      console.log(`  missed: ${pullRequest.name} (${weakness.kind}, line ${weakness.places.join(', ')})`);
    for (const { rule, line, severity, description } of others)
      console.log(`  ${pullRequest.name}:${line ?? ''} ${severity} ${rule}: ${description}`);
    for (const note of notes) console.log(`  ${pullRequest.name}: ${note}`);
  }
}

export const NO_MODEL = 'without a model';
