import { Hono } from 'hono';
import { ACCOUNT, accountPage, SIGN_OUT_EVERYWHERE } from '../../../messages/studio/account.ts';
import { answerPage, type Env, type StudioParts } from '../frame.ts';
import type { Sessions } from '../sessions.ts';

/** Where somebody is signed in, and the way out of everywhere: what a stolen session needs. */
export function accountPages(parts: StudioParts, { sessions }: { sessions: Sessions }): Hono<Env> {
  const pages = new Hono<Env>();

  pages.get(ACCOUNT, async (context) => {
    const viewer = context.get('viewer');
    const signedIn = await sessions.of(context);
    if (viewer.kind !== 'person' || !signedIn) return context.notFound();
    const { login, csrf } = viewer;
    const main = accountPage({ login, csrf, sessions: await sessions.all(signedIn), now: parts.clock.now() });
    return answerPage(parts, context, { title: login, main });
  });

  pages.post(SIGN_OUT_EVERYWHERE, async (context) => {
    const signedIn = await sessions.of(context);
    if (!signedIn) return context.notFound();
    await sessions.endAll(signedIn, context);
    return context.redirect('/', 303);
  });

  return pages;
}
