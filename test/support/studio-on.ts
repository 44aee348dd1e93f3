import { Hono } from 'hono';
import { openBlobs } from '../../src/composition/blobs.ts';
import { chainTools } from '../../src/composition/chain-tools.ts';
import type { Clock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Env } from '../../src/entrypoints/studio/frame.ts';
import { createStudio } from '../../src/entrypoints/studio/studio.ts';
import type { Viewer } from '../../src/entrypoints/studio/viewer.ts';
import type { AppHealth } from '../../src/ports/app-health.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { Visible } from '../../src/ports/visible.ts';
import type { Harness } from './harness.ts';

export interface StudioOptions {
  viewer?: Viewer;
  /** A function, if it changes. */
  visible?: Visible | (() => Visible);
  health?: () => Promise<AppHealth>;
}

/** Studio on an open database, for somebody who is signed in already. */
export function studioOn(
  storage: Storage,
  { config, clock }: Pick<Harness, 'config'> & { clock: Clock },
  { viewer = { kind: 'machine' }, visible = Visible.everything(), health }: StudioOptions = {},
) {
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
        visible: async () => (typeof visible === 'function' ? visible() : visible),
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
