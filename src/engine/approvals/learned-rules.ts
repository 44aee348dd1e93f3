import { canBeLearned, learnedIn, type RuleHistory } from '../../domain/outcome/learned.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import { ineligibleBecause } from '../../domain/policy/merge-gate.ts';
import { rulesOfMerges } from '../../domain/run/rules-of-merges.ts';
import { GitHubError } from '../../ports/github.ts';
import { readSpeaker } from './answerers.ts';
import type { ApprovalContext } from './approval-context.ts';
import { readContributors } from './contributors.ts';

type Context = Pick<
  ApprovalContext,
  'histories' | 'outermost' | 'state' | 'reader' | 'repo' | 'pushesTold' | 'log'
>;

/** Of one review. Others are shown. */
const MOST_RULES = 50;
/** Each costs a request to GitHub. Acceptances of others do not count. */
const MOST_PEOPLE = 10;

/**
 * Notes in a review which of its findings belong to rules that people of the repository mostly accept. Whose acceptance counts is
 * read from GitHub now, by the rule of the merge gate: people who may not countersign this pull request, such as its author,
 * hide nothing of it. If GitHub does not say, or the settings turn learning off, nothing is hidden. The verdict stays as it is.
 */
export async function withLearned(context: Context, review: ReviewVerdict): Promise<ReviewVerdict> {
  const { run } = context.state;
  if (run.pullRequest === null || run.settings.review?.learning === 'off') return review;
  const findings = review.findings.filter(({ rule }) => canBeLearned(rule, review));
  const rules = [...new Set(findings.map(({ rule }) => rule))].slice(0, MOST_RULES);
  if (rules.length === 0) return review;
  const histories = await context.histories(rules);
  const possible = learnedIn(findings, histories, () => true).map(({ rule }) => rule);
  if (possible.length === 0) return review;
  const relevant = histories.filter(({ rule }) => possible.includes(rule));
  try {
    const counting = await whoCounts(context, run.pullRequest, relevant);
    const learned = learnedIn(findings, relevant, ({ by }) => counting.has(by.id));
    if (learned.length === 0) return review;
    const { content_hash: _, ...rest } = review;
    return makeOutcome<'review_verdict'>({ ...rest, learned });
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    context.log.warn({ run: run.id, err: error }, 'everything is shown: who accepted what could not be read');
    return review;
  }
}

/** @returns the ids of the people whose acceptances count for this pull request now */
async function whoCounts(
  { reader, repo, state: { run }, pushesTold, outermost }: Context,
  number: number,
  histories: readonly RuleHistory[],
): Promise<ReadonlySet<number>> {
  // A chain that another one calls merges nothing itself: whose steps ask for particular people is the caller's to say.
  const caller = await outermost();
  const rulesOfAll = caller ? rulesOfMerges(caller) : [];
  if (rulesOfAll.length === 0) return new Set();
  const people = new Map(histories.flatMap(({ accepted }) => accepted.map(({ by }) => [by.id, by])));
  const pullRequest = await reader.pullRequest(repo, number);
  const contributors = await readContributors({ reader, repo, pushesTold }, pullRequest, run.headSha);
  const found = await Promise.all(
    [...people.values()].slice(0, MOST_PEOPLE).map(async (person) => {
      for (const rules of rulesOfAll) {
        const [now] = await readSpeaker(reader, repo, { person, says: 'approve' }, rules);
        if (!now || ineligibleBecause(now, rules, { pullRequest, contributors }) !== undefined) return [];
      }
      return [person.id];
    }),
  );
  return new Set(found.flat());
}
