import { z } from 'zod';
import { readHunks } from '../../core/hunks.ts';
import type { Finding } from '../../domain/outcome/finding.ts';
import { fingerprintHash } from '../../domain/outcome/fingerprint.ts';
import { shownFindings } from '../../domain/outcome/learned.ts';
import { type Reported, reportedBy } from '../../domain/outcome/reported.ts';
import { worstFirst } from '../../messages/cards/review-card.ts';
import {
  findingOfComment,
  originOf,
  type Placed,
  resolvedText,
  reviewMarker,
  reviewTexts,
  writtenFindings,
} from '../../messages/comments/finding-review.ts';
import { prose } from '../../messages/text/markdown.ts';
import { plural } from '../../messages/text/pretty.ts';
import type { OwnReviewComment, PullRequestFile } from '../../ports/github.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { keyOf, plainAction } from './action.ts';
import { invalidInput, pullRequestInput, text } from './inputs.ts';
import { countedIn, outcomeIn, outcomeInput, severityInput } from './reported.ts';
import { noSubject } from './target.ts';

const MOST_COMMENTS = 50;
const COMMENTS = 25;

/** There is no input for the kind of review: it is always a comment. docs/adr/0053 says why. */
export const ghReview = plainAction({
  name: 'gh-review',
  about:
    'Submits a review with the findings of an earlier step as comments on their lines. It neither approves nor requests changes, so it never counts as a countersign or as an approval that a branch requires. Findings on lines that are not in the diff are in its text. What an earlier review of ours says already is left out; without anything new there is no review. Comments of ours whose finding is gone say so, and their conversations are resolved.',
  permissions: ['pull_requests: write'],
  input: z.strictObject({
    ...pullRequestInput,
    outcome: outcomeInput,
    severity: severityInput,
    body: text('The introduction, in Markdown. Left out, the number of findings.').optional(),
    limit: z
      .int()
      .min(0)
      .max(MOST_COMMENTS)
      .optional()
      .describe(
        `The most comments on lines, worst first; ${COMMENTS} if left out. The others are in the text.`,
      ),
  }),
  once: 'one review for each attempt at a step; after an uncertain answer, it is looked for by a hidden marker',
  async plan(context, { outcome: given, severity, limit = COMMENTS }) {
    const { repo, reader, step, session } = context;
    const { run } = context.state;
    const { pullRequest, headSha } = run;
    if (pullRequest === null) return noSubject('gh-review');
    const outcome = outcomeIn(given);
    if (typeof outcome === 'string') return invalidInput('gh-review', outcome);
    const reported = countedIn(outcome, severity);
    if (!reported)
      return invalidInput('gh-review', `an outcome of the kind ${outcome.outcome_kind} has no findings`);
    const origin = originOf(run.chain, step.id);
    const own = await reader.ownReviewTexts(repo, pullRequest);
    const gone = goneFrom(own.comments, origin, reportedBy(outcome));
    const threads = gone.length === 0 ? [] : await reader.openThreads(repo, pullRequest);
    const resolved = gone.flatMap(({ id, body }) => {
      const thread = threads.find(({ firstComment }) => firstComment === id);
      return thread ? [{ id, thread: thread.id, body: resolvedText(body, headSha) }] : [];
    });
    const resolves = resolved.map(({ id, thread, body }) => ({
      key: `resolved:${run.repositoryId}:${id}`,
      effect: {
        kind: 'resolved_finding' as const,
        ...placeOfEffect(run),
        pull_request: pullRequest,
        comment_id: id,
        thread,
        body,
      },
    }));
    const also = resolves.length === 0 ? '' : `, and resolved ${plural(resolves.length, 'conversation')}`;
    const details = { pull_request: pullRequest, comments: 0, listed: 0, resolved: resolves.length };
    const nothing = (summary: string) => ({
      kind: 'does' as const,
      summary: `${summary}${also}`,
      details,
      effects: resolves,
    });
    const shown = worstFirst(shownFindings(reported), reported.learned);
    if (shown.length === 0) return nothing(`has no findings to write on #${pullRequest}`);
    const written = writtenFindings({ ...own, comments: own.comments.map(({ body }) => body) });
    const fresh = unwritten(shown, written);
    if (fresh.length === 0)
      return nothing(`has nothing new to write on #${pullRequest}: earlier reviews have all findings`);
    const { files } = await reader.pullRequestFiles(repo, pullRequest);
    const { placed, others } = place(fresh, files, headSha, limit);
    const words = context.text('body', (value) => prose(value));
    return {
      kind: 'does',
      summary: `wrote a review of #${pullRequest} with ${plural(placed.length, 'comment')} and ${plural(others.length, 'finding')} in its text${also}`,
      details: { ...details, comments: placed.length, listed: others.length },
      effects: [
        ...resolves,
        {
          key: `${keyOf('review', context)}:${session.id}`,
          effect: {
            kind: 'review',
            ...placeOfEffect(run),
            pull_request: pullRequest,
            head_sha: headSha,
            marker: reviewMarker(run.id, step.id, session.id),
            origin,
            ...reviewTexts(placed, others, words),
          },
        },
      ],
    };
  },
});

/**
 * The comments of this step's earlier reviews whose finding a complete review of the head does not have any more. Those whose
 * finding somebody accepted stay: it is still there.
 */
function goneFrom(
  comments: readonly OwnReviewComment[],
  origin: string,
  reported: Reported | undefined,
): OwnReviewComment[] {
  if (!reported?.isComplete) return [];
  const there = new Set([...reported.findings, ...reported.accepted].map(fingerprintHash));
  return comments.filter(({ path, body }) => {
    const about = findingOfComment(body);
    return about?.origin === origin && !there.has(about.finding) && !reported.unread.has(path);
  });
}

/** Without as many of each finding as are written already. */
function unwritten(findings: readonly Finding[], written: readonly string[]): Finding[] {
  const left = new Map<string, number>();
  for (const hash of written) left.set(hash, (left.get(hash) ?? 0) + 1);
  return findings.filter((finding) => {
    const hash = fingerprintHash(finding);
    const there = left.get(hash) ?? 0;
    left.set(hash, there - 1);
    return there <= 0;
  });
}

/**
 * The findings on lines of the diff, and the others. GitHub refuses a review with 422 as a whole if one comment is on a
 * line that the diff does not show.
 */
function place(
  findings: readonly Finding[],
  files: readonly PullRequestFile[],
  headSha: string,
  limit: number,
): { placed: Placed[]; others: Finding[] } {
  const hunksOf = new Map(
    files
      .filter((file) => file.headSha === null || file.headSha === headSha)
      .map(({ path, patch }) => [path, linesOfHunks(patch)]),
  );
  const placed: Placed[] = [];
  const others: Finding[] = [];
  for (const finding of findings) {
    const found = placed.length < limit ? positionOf(finding, hunksOf) : undefined;
    if (found) placed.push({ finding, ...found });
    else others.push(finding);
  }
  return { placed, others };
}

/** The lines of the head's file that each hunk shows; none if the patch is missing or was cut. */
function linesOfHunks(patch: string | undefined): ReadonlySet<number>[] {
  const { hunks, whole } = readHunks(patch ?? '');
  if (!whole) return [];
  return hunks.map(({ lines }) => new Set(lines.flatMap(({ line }) => (line === null ? [] : [line]))));
}

/** A range is in one hunk, because GitHub accepts no other. Otherwise its first line stands for it. */
function positionOf(
  { file, line, end_line }: Finding,
  hunksOf: ReadonlyMap<string, readonly ReadonlySet<number>[]>,
): Omit<Placed, 'finding'> | undefined {
  if (file === null || line === undefined) return undefined;
  const hunk = hunksOf.get(file)?.find((lines) => lines.has(line));
  if (!hunk) return undefined;
  const last = Math.max(line, end_line ?? line);
  // The lines of a hunk follow one another.
  return hunk.has(last)
    ? { startLine: line, line: last, isExact: true }
    : { startLine: line, line, isExact: false };
}
