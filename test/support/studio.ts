import { Hono } from 'hono';
import { onTestFinished } from 'vitest';
import { openBlobs } from '../../src/composition/blobs.ts';
import { chainTools } from '../../src/composition/chain-tools.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Env } from '../../src/entrypoints/studio/frame.ts';
import { createStudio } from '../../src/entrypoints/studio/studio.ts';
import type { Viewer } from '../../src/entrypoints/studio/viewer.ts';
import type { AppHealth } from '../../src/ports/app-health.ts';
import { Visible } from '../../src/ports/visible.ts';
import type { Harness } from './harness.ts';

/** Studio on the database of a harness, for somebody who is signed in already. */
export async function studioFor(
  { config, clock }: Pick<Harness, 'config' | 'clock'>,
  {
    viewer = { kind: 'machine' },
    visible = Visible.everything(),
    health,
  }: { viewer?: Viewer; visible?: Visible; health?: () => Promise<AppHealth> } = {},
) {
  const storage = await openStorage(config.databaseUrl, { clock });
  onTestFinished(() => storage.close());
  const studio = createStudio({
    config: { isPublic: false, operators: [] },
    publicUrl: undefined,
    githubApiUrl: 'https://api.github.com',
    settings: config.settings,
    ...(health && { health }),
    storage,
    blobs: () => openBlobs(config.artifactsUrl),
    chainTools: async () => chainTools(),
    clock,
    log: silentLog,
    link: {
      access: {
        canSignIn: false,
        isPublic: false,
        viewer: async () => viewer,
        again: async () => viewer,
        visible: async () => visible,
        isProven: async () => undefined,
        tokenOf: () => Promise.reject(new Error('nobody has a token')),
      },
      guard: (_, next) => next(),
      routes: new Hono<Env>(),
      path: '/',
    },
  });
  const open = async (path: string) => {
    const response = await studio.request(path);
    return {
      status: response.status,
      location: response.headers.get('location'),
      html: await response.text(),
    };
  };
  return Object.assign(open, {
    /** With its headers and bytes. */
    raw: async (path: string) => {
      const answer = await studio.request(path);
      return { headers: answer.headers, body: await answer.arrayBuffer() };
    },
  });
}

/** A person who signed in. */
export function person(id: number, login: string): Viewer {
  return { kind: 'person', id, login, isOperator: false, csrf: 'csrf' };
}

/** What a page shows, without its markup and the frame around it. */
export function textOf(html: string): string {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? html;
  return main
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
