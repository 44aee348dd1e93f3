import { Hono } from 'hono';
import { etag } from 'hono/etag';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type ApiToken, hashOfApiToken, isUsable } from '../../domain/api-token/api-token.ts';
import { API_WORDS, badQuery, missingScope } from '../../messages/api/words.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import { GitHubError } from '../../ports/github.ts';
import type { Storage } from '../../ports/storage.ts';
import { Visible } from '../../ports/visible.ts';
import { describeApi } from './openapi.ts';
import type { OwnersAccess } from './owners.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes.ts';
import type { OpenStreams } from './streams.ts';

interface ApiParts {
  storage: Storage;
  pages: Pages;
  clock: Clock;
  log: Log;
  /** Absent if people make no tokens; one of a person then sees nothing. */
  ownerSees?: OwnersAccess;
  openStreams: OpenStreams;
}

/** How often the use of a token is written. */
const USED_EVERY_MS = 60_000;

/** The JSON API, for paths below `/api/v1`. Its errors have the form of those of the command line. */
export function createApi({ storage, pages, clock, log, ownerSees, openStreams }: ApiParts): Hono {
  const api = new Hono();
  api.use(async (context, next) => {
    await next();
    context.header('cache-control', 'private, no-cache');
    context.header('x-content-type-options', 'nosniff');
    context.header('vary', 'authorization');
  });
  const streams = openStreams({
    again: (context) => tokenOf(context.req.header('authorization')),
    visible: async (token) => (token ? visibleTo(token) : Visible.only([])),
  });
  const tagged = etag();
  // The tag of a stream would wait for its end.
  api.use((context, next) => (context.req.path.endsWith('/events') ? next() : tagged(context, next)));
  api.get('/openapi.json', (context) => context.json(describeApi(ROUTES)));
  for (const one of ROUTES) {
    api.get(one.at.replaceAll(/\{(\w+)\}/g, ':$1'), async (context) => {
      const token = await tokenOf(context.req.header('authorization'));
      if (!token) {
        context.header('www-authenticate', 'Bearer realm="countersign"');
        return context.json(API_WORDS.noToken, 401);
      }
      if (!token.scopes.includes(one.scope)) return context.json(missingScope(one.scope), 403);
      const path = one.path.safeParse(context.req.param());
      if (!path.success) return context.json(API_WORDS.notFound, 404);
      try {
        const query = one.query.parse(context.req.query());
        const visible = await visibleTo(token);
        const { read } = storage;
        const answer = (seen: Visible) =>
          one.handle({
            path: path.data,
            query,
            read,
            visible: seen,
            isOperator:
              token.scopes.includes('operate') && token.repositoryIds === null && token.owner === null,
            pages,
            now: clock.now(),
          });
        const found = await answer(visible);
        if (found === undefined) return context.json(API_WORDS.notFound, 404);
        const { stamp } = one;
        if (!stamp) return context.json(found);
        return streams.follow(
          context,
          { viewer: token, visible },
          {
            stamp: async (seeing) => (seeing.viewer ? stamp({ path: path.data, read }) : undefined),
            async part(seeing) {
              const now = await answer(seeing.visible);
              return now === undefined ? undefined : { html: JSON.stringify(now) };
            },
          },
        );
      } catch (error) {
        if (error instanceof GitHubError) {
          log.warn({ err: error }, 'the API could not ask GitHub what the owner of a token may see');
          return context.json(API_WORDS.noAnswer, 503);
        }
        if (error instanceof z.ZodError) return context.json(badQuery(sentencesOf(error, one)), 400);
        throw error;
      }
    });
  }
  // Not `notFound`, which counts for a whole server only: Studio would answer with a page.
  api.all('*', (context) => context.json(API_WORDS.notFound, 404));
  api.onError((err, context) => {
    log.error({ err, path: context.req.path }, 'a request to the API failed');
    return context.json(API_WORDS.broken, 500);
  });
  return api;

  async function tokenOf(header: string | undefined): Promise<ApiToken | undefined> {
    const given = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
    const hash = given === undefined ? undefined : hashOfApiToken(given);
    const token = hash === undefined ? undefined : await storage.read.apiTokens.byHash(hash);
    const now = clock.now();
    if (!token || !isUsable(token, now)) return undefined;
    if (token.usedAt === null || now.getTime() - token.usedAt.getTime() >= USED_EVERY_MS) {
      await storage.transaction((tx) => tx.apiTokens.used(token.id, now));
    }
    return token;
  }

  async function visibleTo({ repositoryIds, owner }: ApiToken): Promise<Visible> {
    if (owner) return Visible.only((await ownerSees?.(owner, repositoryIds ?? [])) ?? []);
    return repositoryIds === null ? Visible.everything() : Visible.only(repositoryIds);
  }
}

function sentencesOf(error: z.ZodError, { query }: Route): string[] {
  const known = Object.keys(query.shape);
  return error.issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const allowed = known.length === 0 ? 'none is' : `allowed are ${known.join(', ')}`;
      return `unknown: ${issue.keys.join(', ')}; ${allowed}`;
    }
    return `${issue.path.join('.')}: ${issue.message}`;
  });
}
