import { Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { notice } from '../../messages/studio/layout.ts';
import {
  NO_ANSWER,
  SIGN_IN_ELSEWHERE,
  SIGN_IN_FAILED,
  SIGN_IN_REFUSED,
  TOO_MANY_SIGN_INS,
} from '../../messages/studio/words.ts';
import { GitHubError } from '../../ports/github.ts';
import { type GitHubForPeople, SignInFailed, TokenRefused } from '../../ports/github-person.ts';
import { answerPage, type Env, type Request, type StudioParts } from './frame.ts';
import { localPath } from './local-path.ts';
import { addressOf, rateLimit } from './rate-limit.ts';
import { sealFor } from './sealed.ts';
import type { Sessions } from './sessions.ts';

/** GitHub's codes live as long. */
const BEGUN_MS = 600_000;
const LIMIT = { most: 20, perMs: 600_000 };
/** Of all addresses together, because somebody can have many. */
const LIMIT_OF_ALL = { most: 1_000, perMs: 600_000 };

const begunSchema = z.strictObject({
  state: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  to: z.string(),
  until: z.number(),
});

/**
 * Signing in with GitHub, and out. What must be the same when the person comes back is in an encrypted cookie of their
 * browser, so that untrusted users cannot fill the database, and nobody can sign somebody else's browser in.
 */
export function signInPages(
  parts: Pick<StudioParts, 'access' | 'assets' | 'storage'> & { clock: Clock; log: Log },
  {
    sessions,
    github,
    clientSecret,
    publicUrl,
    isSecure,
  }: {
    sessions: Sessions;
    github: GitHubForPeople;
    clientSecret: string;
    publicUrl: string | undefined;
    isSecure: boolean;
  },
): Hono<Env> {
  const { clock, log } = parts;
  const pages = new Hono<Env>();
  const seal = sealFor('sign-in', clientSecret);
  const cookie = isSecure ? '__Host-countersign-sign-in' : 'countersign-sign-in';
  const attempts = rateLimit(clock, LIMIT);
  const allAttempts = rateLimit(clock, LIMIT_OF_ALL);
  const isTooOften = (context: Request) =>
    !attempts.allows(addressOf(context.req.header('x-forwarded-for'))) || !allAttempts.allows('');
  const say = (context: Request, words: { title: string; text: string }, status: 400 | 403 | 429 | 503) =>
    answerPage(
      parts,
      context,
      { title: words.title, main: notice({ ...words, signIn: '/sign-in' }) },
      status,
    );

  pages.get('/sign-in', async (context) => {
    if (isTooOften(context)) return say(context, TOO_MANY_SIGN_INS, 429);
    const redirectUri = new URL('/sign-in/callback', publicUrl ?? context.req.url).href;
    const begun = { ...github.newSecrets(), redirectUri };
    const kept = {
      ...begun,
      to: localPath(context.req.query('to')),
      until: clock.now().getTime() + BEGUN_MS,
    };
    setCookie(context, cookie, Buffer.from(seal.seal(JSON.stringify(kept))).toString('base64url'), {
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      secure: isSecure,
      maxAge: BEGUN_MS / 1_000,
    });
    return context.redirect(await github.authorizeUrl(begun), 302);
  });

  pages.get('/sign-in/callback', async (context) => {
    if (isTooOften(context)) return say(context, TOO_MANY_SIGN_INS, 429);
    const text = seal.open(Buffer.from(getCookie(context, cookie) ?? '', 'base64url'));
    deleteCookie(context, cookie, { path: '/', secure: isSecure });
    const begun = begunSchema.safeParse(text === undefined ? undefined : JSON.parse(text));
    if (!begun.success || begun.data.until <= clock.now().getTime())
      return say(context, SIGN_IN_ELSEWHERE, 400);
    try {
      const tokens = await github.exchange(new URL(context.req.url).searchParams, begun.data);
      const owner = await github.owner(tokens.access);
      await sessions.begin(context, tokens, owner);
      log.info({ login: owner.login }, 'somebody signed in to Studio');
      return context.redirect(localPath(begun.data.to), 303);
    } catch (error) {
      if (error instanceof SignInFailed && error.because === 'denied')
        return say(context, SIGN_IN_REFUSED, 403);
      if (error instanceof SignInFailed || error instanceof TokenRefused) {
        log.warn({ err: error }, 'GitHub signed nobody in');
        return say(context, SIGN_IN_FAILED, 400);
      }
      if (!(error instanceof GitHubError)) throw error;
      log.warn({ err: error }, 'GitHub did not answer a sign-in');
      return say(context, NO_ANSWER, 503);
    }
  });

  pages.post('/sign-out', async (context) => {
    const signedIn = await sessions.of(context);
    if (signedIn) await sessions.end(signedIn, context);
    return context.redirect('/', 303);
  });

  return pages;
}
