import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { addReview } from '../operations/pulls.ts';
import { paginate } from '../pages.ts';
import { json, type Router } from '../router.ts';
import { diffLinesOf } from '../rules/diff-lines.ts';
import { viewReview, viewReviewComment } from '../views/issue.ts';
import { changesOf } from '../views/pull.ts';
import type { PullRequest, ReviewComment } from '../world.ts';
import { parse } from './input.ts';
import { pullIn, pullPath } from './pulls.ts';

const STATES = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const;

const Side = z.enum(['LEFT', 'RIGHT']);
const NewReview = z.object({
  body: z.string().default(''),
  event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT']),
  comments: z
    .array(
      z.object({
        path: z.string(),
        body: z.string().min(1),
        line: z.int(),
        side: Side.default('RIGHT'),
        start_line: z.int().optional(),
        start_side: Side.optional(),
      }),
    )
    .default([]),
});
type NewComment = z.infer<typeof NewReview>['comments'][number];

/** Reviews and their comments on lines. */
export function reviewRoutes(router: Router): void {
  router.repository('GET', '/pulls/:number/reviews', 'pull_requests:read', (call) => {
    const pr = pullIn(call);
    return paginate(call, pullPath(call, '/reviews'), pr.pull.reviews, (review) =>
      viewReview(call.state, pr, review),
    );
  });

  router.repository('POST', '/pulls/:number/reviews', 'pull_requests:write', (call) => {
    const { state } = call;
    const pr = pullIn(call);
    const { event, body, comments } = parse(NewReview, call.body);
    if (event !== 'COMMENT' && pr.author === state.app.bot)
      throw unresolved(
        `Can not ${event === 'APPROVE' ? 'approve' : 'request changes on'} your own pull request`,
      );
    for (const comment of comments) refuseOutsideDiff(pr, comment);
    const placed: ReviewComment[] = comments.map((comment) => ({
      id: state.nextId('comment'),
      path: comment.path,
      line: comment.line,
      side: comment.side,
      startLine: comment.start_line ?? null,
      body: comment.body,
    }));
    const review = addReview(state, pr, state.app.bot, STATES[event], body, placed);
    return json(viewReview(state, pr, review));
  });

  router.repository('GET', '/pulls/:number/comments', 'pull_requests:read', (call) => {
    const pr = pullIn(call);
    const comments = pr.pull.reviews.flatMap((review) =>
      review.comments.map((comment) => ({ review, comment })),
    );
    return paginate(call, pullPath(call, '/comments'), comments, ({ review, comment }) =>
      viewReviewComment(call.state, pr, review, comment),
    );
  });
}

/** One comment outside of the diff makes GitHub refuse the whole review, without saying which. */
function refuseOutsideDiff(pr: PullRequest, { path, line, side, start_line, start_side }: NewComment): void {
  const change = changesOf(pr).find((one) => one.path === path);
  if (!change) throw unresolved('Path could not be resolved');
  const lines = diffLinesOf(change.patch ?? '');
  if (!lines[side].has(line)) throw unresolved('Line could not be resolved');
  if (start_line === undefined) return;
  const startsInside = lines[start_side ?? side].has(start_line);
  if (!startsInside || (start_line >= line && (start_side ?? side) === side))
    throw unresolved('Start line could not be resolved');
}

function unresolved(reason: string): ApiError {
  return new ApiError(422, 'Unprocessable Entity', [reason]);
}
