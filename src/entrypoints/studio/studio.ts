import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { gitHubPages } from '../../config/addresses.ts';
import type { StudioConfig } from '../../config/studio.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { notice } from '../../messages/studio/layout.ts';
import {
  BROKEN,
  NO_ANSWER,
  NO_SIGN_IN,
  NOT_FOUND,
  READ_ONLY,
  SIGN_IN_NEEDED,
} from '../../messages/studio/words.ts';
import type { AppHealth } from '../../ports/app-health.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { ChainTools } from '../../ports/chain-tools.ts';
import { GitHubError } from '../../ports/github.ts';
import type { GitHubForPeople } from '../../ports/github-person.ts';
import type { Queue } from '../../ports/queue.ts';
import type { SettingInForce } from '../../ports/settings.ts';
import type { Storage } from '../../ports/storage.ts';
import { accessByGitHub, type PublicRepositories } from './access.ts';
import { readAssets } from './assets.ts';
import type { DryRuns } from './dry-runs.ts';
import { refuseForgeries } from './forgery.ts';
import { answerPage, type Env, type OperatorParts, type StudioParts, signInFrom } from './frame.ts';
import { liveUpdates, whoseStream } from './live.ts';
import type { OneTimeLink } from './one-time-link.ts';
import { accountPages } from './pages/account.ts';
import { answeringPages } from './pages/answering.ts';
import { artifactPages } from './pages/artifacts.ts';
import { CHECK, chainCheckPages } from './pages/chain-check.ts';
import { chainPages } from './pages/chains.ts';
import { dryRunPages } from './pages/dry-runs.ts';
import { firingPages } from './pages/firing.ts';
import { inboxPages } from './pages/inbox.ts';
import { insightPages } from './pages/insight.ts';
import { operationPages } from './pages/operations.ts';
import { pullRequestPages } from './pages/pull-request.ts';
import { reportPages } from './pages/report.ts';
import { runPages } from './pages/runs.ts';
import { skillPages } from './pages/skills.ts';
import { secureHeaders } from './secure-headers.ts';
import { createSessions } from './sessions.ts';
import { signInPages } from './sign-in.ts';

interface StudioSettings {
  config: StudioConfig;
  publicUrl: string | undefined;
  githubApiUrl: string;
  settings: readonly SettingInForce[];
  storage: Storage;
  blobs: () => Blobs;
  chainTools: () => Promise<ChainTools>;
  clock: Clock;
  log: Log;
  /** The JSON API, which has its own access. */
  api?: Hono;
  /** Instead of sign-in. */
  link?: OneTimeLink;
  /** How the app is that Studio belongs to; absent in a process of its own. */
  health?: () => Promise<AppHealth>;
  /** For sign-in; absent if nobody can. */
  github?: GitHubForPeople;
  /** For what people ask for; absent if nobody can sign in. */
  queue?: Pick<Queue, 'enqueue'>;
  jobOf?: OperatorParts['jobOf'];
  readingOf?: OperatorParts['readingOf'];
  /** Absent if nobody can sign in. */
  dryRuns?: DryRuns;
  /** What everybody may read; absent if that is nothing. */
  publicRepositories?: PublicRepositories;
}

/** The browser interface: pages, and what they are made from. */
export function createStudio(settings: StudioSettings): Hono<Env> {
  const { storage, clock, log, githubApiUrl, link, api, publicUrl, queue, jobOf, readingOf } = settings;
  const signIn = link ? undefined : signInParts(settings);
  const access =
    link?.access ??
    accessByGitHub({
      clock,
      sessions: signIn?.sessions,
      github: signIn?.github,
      operators: settings.config.operators,
      publicRepositories: settings.publicRepositories,
    });
  const assets = readAssets();
  const live = liveUpdates({ storage, access, whoseIs: whoseStream, log });
  const parts: StudioParts = {
    storage,
    clock,
    log,
    access,
    assets,
    live,
    blobs: settings.blobs,
    chainTools: settings.chainTools,
    githubUrl: gitHubPages(githubApiUrl),
    settings: settings.settings,
    health: settings.health,
    dryRuns: settings.dryRuns,
    operator: queue && jobOf && readingOf && { queue, jobOf, readingOf },
  };
  const studio = new Hono<Env>();

  studio.use(compress());
  studio.use(async (context, next) => {
    context.set('nonce', randomBytes(16).toString('base64url'));
    context.set('viewer', { kind: 'nobody' });
    await next();
  });
  studio.use(secureHeaders);
  studio.route('/', assets.routes);
  if (api) studio.route('/api/v1', api);
  if (link) {
    studio.use(link.guard);
    studio.route('/', link.routes);
  }
  studio.use(refuseForgeries(publicUrl, access.isProven));
  if (signIn) studio.route('/', signInPages(parts, { ...signIn, publicUrl }));
  studio.use(async (context, next) => {
    try {
      const viewer = await access.viewer(context);
      context.set('viewer', viewer);
      // The check of a text changes nothing; it is sent by POST only because texts are long.
      const isReading = ['GET', 'HEAD'].includes(context.req.method) || context.req.path === CHECK;
      if (viewer.kind === 'nobody' && !(access.isPublic && isReading)) {
        const words = access.canSignIn ? SIGN_IN_NEEDED : NO_SIGN_IN;
        return answerPage(parts, context, asPage({ ...words, ...signInFrom(access, context) }), 401);
      }
      if (viewer.kind === 'machine' && !isReading) return answerPage(parts, context, asPage(READ_ONLY), 403);
      context.set('visible', await access.visible(viewer));
    } catch (error) {
      if (!(error instanceof GitHubError)) throw error;
      log.warn({ err: error }, 'Studio could not ask GitHub what somebody may see');
      return answerPage(parts, context, asPage(NO_ANSWER), 503);
    }
    await next();
  });
  if (signIn) studio.route('/', accountPages(parts, signIn));
  if (signIn && queue) {
    studio.route('/', answeringPages(parts, { ...signIn, queue }));
    studio.route('/', firingPages(parts, { queue }));
  }
  studio.route('/', inboxPages(parts));
  studio.route('/', pullRequestPages(parts));
  studio.route('/', insightPages(parts));
  studio.route('/', reportPages(parts));
  studio.route('/', runPages(parts));
  studio.route('/', artifactPages(parts));
  studio.route('/', chainCheckPages(parts));
  studio.route('/', dryRunPages(parts));
  studio.route('/', chainPages(parts));
  studio.route('/', skillPages(parts));
  studio.route('/', operationPages(parts));

  studio.notFound((context) => answerPage(parts, context, asPage(NOT_FOUND), 404));
  studio.onError((err, context) => {
    log.error({ err, path: context.req.path }, 'a page of Studio failed');
    return answerPage(parts, context, asPage(BROKEN), 500);
  });
  return studio;
}

function signInParts({ config, github, storage, clock, publicUrl }: StudioSettings) {
  if (!config.signIn || !github) return undefined;
  const { clientSecret } = config.signIn;
  const isSecure = publicUrl?.startsWith('https:') === true;
  const sessions = createSessions({ storage, clock, github, clientSecret, isSecure });
  return { sessions, github, clientSecret, isSecure };
}

function asPage(words: { title: string; text: string; signIn?: string }) {
  return { title: words.title, main: notice(words) };
}
