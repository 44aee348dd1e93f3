import type { AnalyzerPool } from '../../src/analyzers/pool.ts';
import type { GitHubReader, PullRequestFile } from '../../src/ports/github.ts';
import type { Model } from '../../src/ports/model.ts';
import { prReview } from '../../src/skills/builtin/review/pr-review.ts';
import { stepContext } from '../../test/support/step-context.ts';

/**
 * One complete review, as a step of a chain runs it.
 * @returns the analyzers that gave no result
 * @throws Error if the review fails, because its time would mean little
 */
export async function reviewOnce(
  files: readonly PullRequestFile[],
  deps: { model: Model | undefined; pool: AnalyzerPool },
): Promise<string[]> {
  const { headSha, ...context } = contextOf(files);
  const result = await prReview(deps).run(stepContext('skill: pr-review', context));
  if (result.kind !== 'done') throw new Error(`the review of ${headSha} came to nothing: ${result.kind}`);
  const { outcome } = result;
  if (outcome.outcome_kind !== 'review_verdict') throw new Error(`it came to a ${outcome.outcome_kind}`);
  return outcome.analyzers.flatMap(({ name, status }) => (status === 'ok' ? [] : [name]));
}

function contextOf(files: readonly PullRequestFile[]) {
  const headSha = 'c0ffee'.padEnd(40, '0');
  const reader = {
    pullRequestFiles: async () => ({ files: files.map((file) => ({ ...file, headSha })), truncated: false }),
    pullRequest: async () => ({ title: 'Add files', body: '' }),
    file: async () => undefined,
    // Nothing is around the change.
    tree: async () => [],
  } as unknown as GitHubReader;
  return { headSha, reader, run: { headSha } };
}
