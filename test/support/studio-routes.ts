import { readdirSync, readFileSync } from 'node:fs';
import { gitHubForPeople } from '../../src/adapters/octokit/for-people.ts';
import { openBlobs } from '../../src/composition/blobs.ts';
import { chainTools } from '../../src/composition/chain-tools.ts';
import { silentLog } from '../../src/core/log.ts';
import { createDryRuns } from '../../src/entrypoints/studio/dry-runs.ts';
import { createStudio } from '../../src/entrypoints/studio/studio.ts';
import { WITH_SIGN_IN } from './browser.ts';
import { OAUTH_CLIENT } from './github/oauth.ts';
import type { Harness } from './harness.ts';

export interface StudioRoute {
  method: string;
  /** As in the code: `/runs/:id`. */
  path: string;
}

/** Every route of Studio but its assets, and those of signing in. */
export async function studioRoutes(harness: Harness): Promise<StudioRoute[]> {
  const { clock } = harness;
  const github = await gitHubForPeople({
    ...OAUTH_CLIENT,
    clock,
    apiUrl: harness.github.url,
    pagesUrl: harness.github.url,
  });
  const studio = createStudio({
    config: WITH_SIGN_IN,
    publicUrl: undefined,
    settings: [],
    githubApiUrl: harness.github.url,
    storage: harness.app.storage,
    blobs: () => openBlobs(harness.config.artifactsUrl),
    chainTools: async () => chainTools(),
    clock,
    log: silentLog,
    github,
    queue: { enqueue: async () => undefined },
    dryRuns: createDryRuns({
      player: { play: () => Promise.reject(new Error('no')) },
      storage: harness.app.storage,
      clock,
      log: silentLog,
    }),
  });
  const all = new Map(studio.routes.map(({ method, path }) => [`${method} ${path}`, { method, path }]));
  return [...all.values()].filter(
    ({ method, path }) => method !== 'ALL' && !path.startsWith('/assets/') && !/\/sign-(in|out)/.test(path),
  );
}

/** The names of everything that a page reads from its query or its form, as the code names them. */
export function studioParameters(): string[] {
  const sources = ['src/entrypoints/studio', 'src/messages/studio'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
  );
  const found = sources.flatMap((source) => [
    ...source.matchAll(/\b(?:query|given|text|one)\('(\w+)'/g),
    ...source.matchAll(/\bname(?:="|: ')(\w+)["']/g),
    ...source.matchAll(/\bfields\.(\w+)/g),
  ]);
  return [...new Set(found.map(([, name = '']) => name))].filter((name) => name !== 'csrf').sort();
}
