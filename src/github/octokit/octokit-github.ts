import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { GitHub } from '../github.ts';
import { createAppReader } from './app-reader.ts';
import { type AnsweredRequest, type Client, createClient } from './client.ts';
import { merge } from './merge.ts';
import { createReader } from './reader.ts';
import type { CachedAnswer, Fetch } from './transport.ts';
import { createWriter } from './writer.ts';

export interface OctokitGitHubOptions {
  appId: number;
  /** PEM; line ends may be written as `\n`, as in an environment variable. */
  privateKey: string;
  /** `https://api.github.com`, or `https://HOST/api/v3` for GitHub Enterprise Server. */
  apiUrl: string;
  log: Log;
  clock: Clock;
  metrics?: { answered(request: AnsweredRequest): void };
  fetch?: Fetch;
  /** For one request, in milliseconds; 10 s when not given. */
  timeoutMs?: number;
  /** For a merge, which GitHub may take long over; 30 s when not given. */
  mergeTimeoutMs?: number;
}

/** For all installations together. */
const CACHE_BYTES = 32 * 1024 * 1024;
const LARGEST_CACHED_BYTES = 4 * 1024 * 1024;

/**
 * GitHub through Octokit, without its plugins for throttling and retries: when to try again is decided by the outbox
 * and the queue, which survive a restart.
 * @throws CountersignError when the private key is none.
 */
export function createOctokitGitHub(options: OctokitGitHubOptions): GitHub {
  const { appId, log, clock } = options;
  const privateKey = options.privateKey.replaceAll('\\n', '\n');
  refuseBadKey(privateKey);
  const cache = new LRUCache<string, CachedAnswer>({
    maxSize: CACHE_BYTES,
    maxEntrySize: LARGEST_CACHED_BYTES,
    sizeCalculation: ({ body }, key) => body.byteLength + key.length,
  });
  const deps = {
    appId,
    privateKey,
    apiUrl: options.apiUrl.replace(/\/+$/, ''),
    userAgent: `countersign/${version()}`,
    timeoutMs: options.timeoutMs ?? 10_000,
    log,
    clock,
    cache,
    fetch: options.fetch ?? globalThis.fetch,
    onAnswer(request: AnsweredRequest) {
      log.debug({ github: request }, 'GitHub answered');
      options.metrics?.answered(request);
    },
  };

  const clients = new Map<number, Client>();
  const clientOf = (installationId: number): Client => {
    const client = clients.get(installationId) ?? createClient(deps, installationId);
    clients.set(installationId, client);
    return client;
  };

  return {
    appId,
    app: createAppReader(createClient(deps)),
    reader: (installationId) => createReader(clientOf(installationId)),
    writer(installationId) {
      const client = clientOf(installationId);
      return {
        ...createWriter(client, appId),
        merge: (proof, message) => merge(client, clock, options.mergeTimeoutMs ?? 30_000, proof, message),
      };
    },
  };
}

function refuseBadKey(privateKey: string): void {
  try {
    createPrivateKey(privateKey);
  } catch (error) {
    throw new CountersignError('config.private_key', 'The private key is not a key in PEM format.', {
      cause: error,
    });
  }
}

/** The same relative place from `src/` and from `dist/`. */
function version(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}
