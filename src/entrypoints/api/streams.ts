import type { Context } from 'hono';
import type { ApiToken } from '../../domain/api-token/api-token.ts';
import type { Visible } from '../../ports/visible.ts';

/** A token that follows a stream; `undefined` once it can no longer be used. */
type Follower = ApiToken | undefined;

interface Seeing {
  viewer: Follower;
  visible: Visible;
}

/** Streams of server-sent events. They are Studio's own (`entrypoints/studio/live.ts`); entry points do not import each other. */
interface Streams {
  follow(
    context: Context,
    seeing: Seeing,
    watched: {
      stamp(seeing: Seeing): Promise<string | undefined>;
      part(seeing: Seeing): Promise<{ html: string } | undefined>;
    },
  ): Response;
}

/** Makes them, with what asks again whether the token still works and what it sees. */
export type OpenStreams = (access: {
  again(context: Context): Promise<Follower>;
  visible(viewer: Follower): Promise<Visible>;
}) => Streams;

/** Whose stream a token's is: those of all tokens of a person count together, so that nobody takes the streams of others. */
export function whoseToken(token: Follower): string {
  if (!token) return 'nobody';
  return token.owner ? `person ${token.owner.id}` : token.id;
}
