import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { isLoopback } from '../../core/loopback.ts';
import { LINK_IS_USED, OTHER_HOST } from '../../messages/studio/words.ts';
import { TokenRefused } from '../../ports/github-person.ts';
import { Visible } from '../../ports/visible.ts';
import type { Access } from './access.ts';
import type { Env } from './frame.ts';
import type { Viewer } from './viewer.ts';

const COOKIE = 'countersign-machine';

export interface OneTimeLink {
  access: Access;
  /** Refuses requests that another site could cause by a name of its own for this machine (DNS rebinding). */
  guard: MiddlewareHandler<Env>;
  routes: Hono<Env>;
  /** The path to open, once. */
  path: string;
}

/**
 * Access for people who read the link where it was printed: they can read the database's file, too. The link works once,
 * so that it is worth nothing in the history of a browser or a terminal. Everything is read-only.
 */
export function oneTimeLink(random: () => string = () => randomBytes(24).toString('base64url')): OneTimeLink {
  let key: string | undefined = random();
  const path = `/open?key=${key}`;
  const session = random();
  const routes = new Hono<Env>();

  const viewer = async (context: Context): Promise<Viewer> =>
    isSame(getCookie(context, COOKIE) ?? '', session) ? { kind: 'machine' } : { kind: 'nobody' };

  routes.get('/open', (context) => {
    if (key === undefined || !isSame(context.req.query('key') ?? '', key)) {
      return context.text(`${LINK_IS_USED}\n`, 403);
    }
    key = undefined;
    setCookie(context, COOKIE, session, { httpOnly: true, sameSite: 'Strict', path: '/' });
    return context.redirect('/', 303);
  });

  return {
    path,
    routes,
    guard: async (context, next) => {
      const { hostname } = new URL(context.req.url);
      if (!isLoopback(hostname)) return context.text(`${OTHER_HOST}\n`, 421);
      return next();
    },
    access: {
      canSignIn: false,
      isPublic: false,
      viewer,
      again: viewer,
      visible: async (viewer) => (viewer.kind === 'machine' ? Visible.everything() : Visible.only([])),
      isProven: async () => undefined,
      async tokenOf() {
        throw new TokenRefused('nobody signs in here');
      },
    },
  };
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
