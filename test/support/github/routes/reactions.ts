import { z } from 'zod';
import { notFound } from '../api-error.ts';
import { react, unreact } from '../operations/comments.ts';
import { paginate } from '../pages.ts';
import { json, numberIn, type Router } from '../router.ts';
import { viewReaction } from '../views/issue.ts';
import { REACTIONS } from '../world.ts';
import { pathOf } from './git.ts';
import { parse } from './input.ts';
import { commentIn } from './issues.ts';

const NewReaction = z.object({ content: z.enum(REACTIONS) });

/** Reactions on the comments of issues and pull requests. */
export function reactionRoutes(router: Router): void {
  router.repository(
    'GET',
    '/issues/comments/:id/reactions',
    ['issues:read', 'pull_requests:read'],
    (call) => {
      const content = call.query.get('content');
      const reactions = commentIn(call).reactions.filter(
        (reaction) => content === null || reaction.content === content,
      );
      const path = pathOf(call, `/issues/comments/${call.params.id}/reactions`);
      return paginate(call, path, reactions, (reaction) => viewReaction(call.state, reaction));
    },
  );

  router.repositoryOrPerson(
    'POST',
    '/issues/comments/:id/reactions',
    ['issues:write', 'pull_requests:write'],
    (call) => {
      const { content } = parse(NewReaction, call.body);
      const { reaction, created } = react(call.state, commentIn(call), call.by, content);
      return json(viewReaction(call.state, reaction), created ? 201 : 200);
    },
  );

  router.repository(
    'DELETE',
    '/issues/comments/:id/reactions/:reaction',
    ['issues:write', 'pull_requests:write'],
    (call) => {
      if (!unreact(commentIn(call), numberIn(call, 'reaction'))) throw notFound();
      return { status: 204 };
    },
  );
}
