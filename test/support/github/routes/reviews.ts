import { z } from 'zod';
import { ApiError, notFound } from '../api-error.ts';
import { addReview, replyInConversation } from '../operations/pulls.ts';
import { paginate } from '../pages.ts';
import { json, type Reply, type RepositoryCall, type Router } from '../router.ts';
import { diffLinesOf, hunkUpTo } from '../rules/diff-lines.ts';
import { nodeId, viewAccount, viewTeam } from '../views/account.ts';
import { viewReview, viewReviewComment } from '../views/issue.ts';
import { changesOf, viewPull } from '../views/pull.ts';
import { isPullRequest, type PullRequest, type ReviewComment } from '../world.ts';
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
      hunk: hunkOf(pr, comment),
      body: comment.body,
      isResolved: false,
    }));
    const review = addReview(state, pr, state.app.bot, STATES[event], body, placed);
    return json(viewReview(state, pr, review));
  });

  router.repository('GET', '/pulls/:number/requested_reviewers', 'pull_requests:read', (call) => {
    const { people, teams } = pullIn(call).pull.requested;
    const { login } = call.repository.owner;
    return json({
      users: people.map((account) => viewAccount(call.state, account)),
      teams: teams.map((slug) => viewTeam(call.state, login, slug)),
    });
  });

  router.repository('POST', '/pulls/:number/requested_reviewers', 'pull_requests:write', requestReviews);

  router.repository('GET', '/pulls/:number/comments', 'pull_requests:read', (call) => {
    const pr = pullIn(call);
    const comments = pr.pull.reviews.flatMap((review) =>
      review.comments.map((comment) => ({ review, comment })),
    );
    return paginate(call, pullPath(call, '/comments'), comments, ({ review, comment }) =>
      viewReviewComment(call.state, pr, review, comment),
    );
  });

  // https://docs.github.com/en/rest/pulls/comments#create-a-reply-for-a-review-comment
  router.repository('POST', '/pulls/:number/comments/:id/replies', 'pull_requests:write', (call) => {
    const { state } = call;
    const pr = pullIn(call);
    const { body } = parse(Edited, call.body);
    const id = replyInConversation(state, pr, Number(call.params.id), state.app.bot, body);
    const review = pr.pull.reviews.find(({ comments }) => comments.some((one) => one.id === id));
    const comment = review?.comments.find((one) => one.id === id);
    if (!review || !comment) throw notFound();
    return json(viewReviewComment(state, pr, review, comment), 201);
  });

  // https://docs.github.com/en/rest/pulls/comments#update-a-review-comment-for-a-pull-request
  router.repository('PATCH', '/pulls/comments/:id', 'pull_requests:write', (call) => {
    const { body } = parse(Edited, call.body);
    for (const pr of [...call.repository.issues.values()].filter(isPullRequest)) {
      for (const review of pr.pull.reviews) {
        const comment = review.comments.find(({ id }) => id === Number(call.params.id));
        if (!comment) continue;
        comment.body = body;
        return json(viewReviewComment(call.state, pr, review, comment));
      }
    }
    throw notFound();
  });
}

const Edited = z.object({ body: z.string() });

const Requested = z.object({
  reviewers: z.array(z.string()).default([]),
  team_reviewers: z.array(z.string()).default([]),
});

/**
 * Requests all or nothing. GitHub refuses the author (47degrees/github4s#576), everybody who is no collaborator
 * (peter-evans/create-pull-request#4138), and a team if the App may not read members (github/docs#35057).
 */
function requestReviews(call: RepositoryCall): Reply {
  const { state, repository, token } = call;
  const pr = pullIn(call);
  const { reviewers, team_reviewers: teams } = parse(Requested, call.body);
  const org = repository.owner.login;
  const people = reviewers.map((login) => state.findAccount(login));
  if (people.includes(pr.author)) throw unresolved('Review cannot be requested from pull request author.');
  const found = people.flatMap((one) => (one && state.roleOf(repository, one) ? [one] : []));
  if (found.length < people.length) throw noCollaborator('users or teams', `${org}/${repository.name}`);
  for (const slug of teams) {
    if (token.permissions.members === undefined)
      throw unresolved(`Could not resolve to a node with the global id of '${nodeId('Team', slug)}'.`);
    if (!state.team(org, slug) || state.isTeamOutside(org, slug))
      throw noCollaborator('teams', `${org}/${repository.name}`);
  }
  const { requested } = pr.pull;
  requested.people.push(...found.filter((account) => !requested.people.includes(account)));
  requested.teams.push(...teams.filter((slug) => !requested.teams.includes(slug)));
  return json(viewPull(state, pr), 201);
}

function noCollaborator(what: string, repository: string): ApiError {
  return new ApiError(
    422,
    `Reviews may only be requested from collaborators. One or more of the ${what} you specified is not a collaborator of the ${repository} repository.`,
  );
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

function hunkOf(pr: PullRequest, { path, line, side }: NewComment): string {
  return hunkUpTo(changesOf(pr).find((one) => one.path === path)?.patch ?? '', { line, side });
}

function unresolved(reason: string): ApiError {
  return new ApiError(422, 'Unprocessable Entity', [reason]);
}
