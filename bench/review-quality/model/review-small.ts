import type { AnalyzerPool } from '../../../src/analyzers/pool.ts';
import type { Finding } from '../../../src/domain/outcome/finding.ts';
import { notCheckedAgain } from '../../../src/messages/cards/review.ts';
import type { GitHubReader, PullRequestFile } from '../../../src/ports/github.ts';
import type { Model } from '../../../src/ports/model.ts';
import { prReview } from '../../../src/skills/builtin/review/pr-review.ts';
import { diffTexts } from '../../../test/support/github/git/patch.ts';
import { stepContext } from '../../../test/support/step-context.ts';
import type { SmallPullRequest } from './small-pull-requests.ts';

export interface SmallReview {
  pullRequest: SmallPullRequest;
  findings: readonly Finding[];
  /** One for each finding that the model took back. */
  takenBack: readonly string[];
  /** Whether the model gave usable answers; true without a model. */
  isComplete: boolean;
  /** Without the time of a model's provider. */
  ms: number;
}

const HEAD = 'c0ffee'.padEnd(40, '0');
/** Always the same, because the hash of a prompt covers its fences. Nobody here writes text that would use it. */
const FENCE = '0f1e2d3c4b5a6978';

/**
 * One review as a step of a chain runs it. GitHub answers at once.
 * @throws Error if an analyzer fails, because the figures would mean little
 */
export async function reviewSmall(
  pullRequest: SmallPullRequest,
  { model, pool }: { model: Model | undefined; pool: AnalyzerPool },
): Promise<SmallReview> {
  const begun = performance.now();
  const result = await prReview({ model, pool, newCode: () => FENCE }).run(
    stepContext('skill: pr-review', { reader: gitHubOf(pullRequest), run: { headSha: HEAD } }),
  );
  const ms = performance.now() - begun;
  if (result.kind !== 'done' || result.outcome.outcome_kind !== 'review_verdict')
    throw new Error(`the review of ${pullRequest.name} came to nothing: ${result.kind}`);
  const { findings, analyzers, notes = [] } = result.outcome;
  const broken = analyzers.filter(({ status }) => status !== 'ok');
  const [other] = broken.filter(({ name }) => name !== 'model');
  if (other) throw new Error(`an analyzer failed: ${JSON.stringify(other)}`);
  const unchecked = notes.filter((note) => note.startsWith(notCheckedAgain('')));
  return {
    pullRequest,
    findings,
    takenBack: model ? notes.filter((note) => !unchecked.includes(note)) : [],
    isComplete: broken.length === 0 && unchecked.length === 0,
    ms,
  };
}

function gitHubOf({ title, path, before, after }: SmallPullRequest): GitHubReader {
  const { patch, additions, deletions } = diffTexts(before ?? '', after);
  const file: PullRequestFile = {
    path,
    status: before === undefined ? 'added' : 'modified',
    patch,
    blobSha: 'b10b'.padEnd(40, '0'),
    additions,
    deletions,
    headSha: HEAD,
  };
  return {
    pullRequestFiles: async () => ({ files: [file], truncated: false }),
    pullRequest: async () => ({ title, body: '' }),
    file: async () => undefined,
    // Nothing is around the change.
    tree: async () => [],
    blob: async () => new TextEncoder().encode(after),
  } as unknown as GitHubReader;
}
