import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type Html, page } from '../../messages/studio/layout.ts';
import type { ReadTx, Storage } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';
import type { Access } from './access.ts';
import type { Assets } from './assets.ts';
import type { Viewer } from './viewer.ts';

/** What pages are made from. */
export interface StudioParts {
  storage: Storage;
  clock: Clock;
  log: Log;
  access: Access;
  assets: Assets;
  /** GitHub's pages, for links. */
  githubUrl: string;
}

/** What the middleware finds out before a page is made. */
export interface Env {
  Variables: { viewer: Viewer; visible: Visible; nonce: string };
}

export type Request = Context<Env>;

/** What a page is made from, for one request. */
export interface PageContext {
  read: ReadTx;
  viewer: Viewer;
  visible: Visible;
}

/** Where to sign in and come back to this page; nothing if nobody can. */
export function signInFrom({ canSignIn }: Pick<Access, 'canSignIn'>, { req }: Request): { signIn?: string } {
  if (!canSignIn) return {};
  const { pathname, search } = new URL(req.url);
  const isPage = req.method === 'GET' && !pathname.startsWith('/sign-in');
  return { signIn: isPage ? `/sign-in?to=${encodeURIComponent(pathname + search)}` : '/sign-in' };
}

/** Answers with a whole page. */
export function answerPage(
  { access, assets }: Pick<StudioParts, 'access' | 'assets'>,
  context: Request,
  { title, main }: { title: string; main: Html },
  status: ContentfulStatusCode = 200,
): Response | Promise<Response> {
  const viewer = context.get('viewer');
  return context.html(
    page({
      title,
      viewer: viewer.kind === 'nobody' ? { kind: 'nobody', ...signInFrom(access, context) } : viewer,
      path: context.req.path,
      assets: assets.forPages,
      nonce: context.get('nonce'),
      main,
    }),
    status,
  );
}
