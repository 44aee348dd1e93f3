import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { gitHubPages } from '../../config/addresses.ts';
import type { StudioConfig } from '../../config/studio.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { notice } from '../../messages/studio/layout.ts';
import { BROKEN, NO_SIGN_IN, NOT_FOUND, SIGN_IN_NEEDED } from '../../messages/studio/words.ts';
import type { Storage } from '../../ports/storage.ts';
import { CLOSED } from './access.ts';
import { readAssets } from './assets.ts';
import { answerPage, type Env, type StudioParts } from './frame.ts';
import type { OneTimeLink } from './one-time-link.ts';
import { runPages } from './pages/runs.ts';
import { secureHeaders } from './secure-headers.ts';

interface StudioSettings {
  config: StudioConfig;
  publicUrl: string | undefined;
  githubApiUrl: string;
  storage: Storage;
  clock: Clock;
  log: Log;
  /** The JSON API, which has its own access. */
  api?: Hono;
  /** Instead of sign-in. */
  link?: OneTimeLink;
}

/** The browser interface: pages, and what they are made from. */
export function createStudio({ storage, clock, log, githubApiUrl, link, api }: StudioSettings): Hono<Env> {
  const access = link?.access ?? CLOSED;
  const assets = readAssets();
  const parts: StudioParts = { storage, clock, log, access, assets, githubUrl: gitHubPages(githubApiUrl) };
  const studio = new Hono<Env>();

  studio.use(compress());
  studio.use(async (context, next) => {
    context.set('nonce', randomBytes(16).toString('base64url'));
    await next();
  });
  studio.use(secureHeaders);
  studio.route('/', assets.routes);
  if (api) studio.route('/api/v1', api);
  if (link) {
    studio.use(link.guard);
    studio.route('/', link.routes);
  }
  studio.use(async (context, next) => {
    const viewer = await access.viewer(context);
    context.set('viewer', viewer);
    if (viewer.kind === 'nobody') {
      return answerPage(parts, context, asPage(access.canSignIn ? SIGN_IN_NEEDED : NO_SIGN_IN), 401);
    }
    context.set('visible', await access.visible(viewer));
    await next();
  });
  studio.route('/', runPages(parts));

  studio.notFound((context) => answerPage(parts, context, asPage(NOT_FOUND), 404));
  studio.onError((err, context) => {
    log.error({ err, path: context.req.path }, 'a page of Studio failed');
    return answerPage(parts, context, asPage(BROKEN), 500);
  });
  return studio;
}

function asPage(words: { title: string; text: string }) {
  return { title: words.title, main: notice(words) };
}
