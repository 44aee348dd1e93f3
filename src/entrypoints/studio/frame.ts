import type { Context } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type Acting, askedFor } from '../../messages/studio/answering.ts';
import type { ReadAs } from '../../messages/studio/deliveries.ts';
import { type Html, page } from '../../messages/studio/layout.ts';
import { said } from '../../messages/studio/untrusted.ts';
import type { AppHealth } from '../../ports/app-health.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { ChainTools } from '../../ports/chain-tools.ts';
import type { NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { SettingInForce } from '../../ports/settings.ts';
import type { Delivery, Storage } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';
import type { Access } from './access.ts';
import type { Assets } from './assets.ts';
import type { DryRuns } from './dry-runs.ts';
import type { Live } from './live.ts';
import type { Viewer } from './viewer.ts';

/** What pages are made from. */
export interface StudioParts {
  storage: Storage;
  clock: Clock;
  log: Log;
  access: Access;
  assets: Assets;
  live: Live;
  /** Opened by its first use, because opening it can create its folder. */
  blobs: () => Blobs;
  /** Loaded by their first use. */
  chainTools: () => Promise<ChainTools>;
  /** Absent if nobody can sign in. */
  dryRuns?: DryRuns | undefined;
  /** Absent where Studio only reads. */
  operator?: OperatorParts | undefined;
  /** GitHub's pages, for links. */
  githubUrl: string;
  /** How the app is that Studio belongs to; absent in a process of its own, which knows only the database. */
  health?: (() => Promise<AppHealth>) | undefined;
  /** What this process works with. */
  settings: readonly SettingInForce[];
}

/** What operators' pages and buttons need of the app. */
export interface OperatorParts {
  queue: Pick<Queue, 'enqueue'>;
  /** The job of a delivery that is processed again. */
  jobOf(delivery: Delivery): NewJob;
  /** What the app reads from a delivery. */
  readingOf(delivery: Pick<Delivery, 'event' | 'body'>): Promise<ReadAs>;
}

/** What the middleware finds out before a page is made. */
export interface Env {
  Variables: { viewer: Viewer; visible: Visible; nonce: string };
}

export type Request = Context<Env>;

/** Where to sign in and come back to this page; nothing if nobody can. */
export function signInFrom({ canSignIn }: Pick<Access, 'canSignIn'>, { req }: Request): { signIn?: string } {
  if (!canSignIn) return {};
  const { pathname, search } = new URL(req.url);
  const isPage = req.method === 'GET' && !pathname.startsWith('/sign-in');
  return { signIn: isPage ? `/sign-in?to=${encodeURIComponent(pathname + search)}` : '/sign-in' };
}

/** Who acts from the page that a request asks for; `undefined` for somebody who only reads. */
export function actingIn(context: Request): Acting | undefined {
  const viewer = context.get('viewer');
  if (viewer.kind !== 'person') return undefined;
  const { pathname, searchParams } = new URL(context.req.url);
  searchParams.delete(ASKED);
  const query = searchParams.size > 0 ? `?${searchParams}` : '';
  return { csrf: viewer.csrf, to: `${pathname}${query}` };
}

/** In the query: what the person asked for, whose result the page shows. */
export const ASKED = 'asked';

/** The result of what the person asked for. Nobody else can see it, whatever the address says. */
async function resultIn(
  { storage }: Pick<StudioParts, 'storage'>,
  context: Request,
): Promise<Html | undefined> {
  const viewer = context.get('viewer');
  const id = context.req.query(ASKED);
  if (viewer.kind !== 'person' || id === undefined) return undefined;
  const command = await storage.read.studioCommands.get(id);
  return command?.personId === viewer.id ? askedFor(command.answer) : undefined;
}

/** Answers with a whole page. */
export async function answerPage(
  { access, assets, storage }: Pick<StudioParts, 'access' | 'assets' | 'storage'>,
  context: Request,
  { title, main }: { title: string; main: Html },
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const viewer = context.get('viewer');
  const flash = await resultIn({ storage }, context);
  return context.html(
    page({
      title: said(title, 200),
      viewer: viewer.kind === 'nobody' ? { kind: 'nobody', ...signInFrom(access, context) } : viewer,
      path: context.req.path,
      assets: assets.forPages,
      nonce: context.get('nonce'),
      main: flash ? html`${flash}\n${main}` : main,
    }),
    status,
  );
}
