import { z } from 'zod';
import { createOctokitGitHub } from '../adapters/octokit/octokit-github.ts';
import { readServerTime } from '../adapters/octokit/server-time.ts';
import { octokitsWithKey } from '../adapters/octokit/sign-in.ts';
import { askedGrants } from '../config/app-manifest.ts';
import type { AppConfig } from '../config/config.ts';
import { WEBHOOK_PATH } from '../config/webhook-path.ts';
import { AnswerTooLarge, bounded } from '../core/bounded-fetch.ts';
import { systemClock } from '../core/clock.ts';
import { CountersignError, messageOf } from '../core/errors.ts';
import { silentLog } from '../core/log.ts';
import { localUrl } from '../core/loopback.ts';
import type { Finding } from '../domain/self-check/finding.ts';
import { judgeDisk } from '../domain/self-check/judge.ts';
import { checkGitHub } from '../engine/self-check/check-github.ts';
import type { Repo } from '../ports/github.ts';
import { withDatabase } from './cli-database.ts';
import { diskRooms } from './disks.ts';

const PROBE_MS = 5_000;

const MAX_PROBE_BYTES = 64 * 1024;

/** What `/readyz` answers with status 200, and with 503. */
const readySchema = z.object({ status: z.literal('ready'), warnings: z.array(z.string()).default([]) });
const notReadySchema = z.object({ error: z.string() });

/** What GitHub says of how the app is set up, and how much room its disks have: all that a starting app cannot know by itself. */
export async function checkSetup(config: AppConfig, repositories?: readonly Repo[]): Promise<Finding[]> {
  const { appId, privateKey, githubApiUrl: apiUrl, publicUrl } = config;
  const github = createOctokitGitHub({
    source: octokitsWithKey({ appId, privateKey, apiUrl }),
    log: silentLog,
    clock: systemClock,
  });
  const findings = await checkGitHub({
    github,
    clock: systemClock,
    serverTime: () => readServerTime(apiUrl),
    apiUrl,
    webhookUrl: publicUrl === undefined ? undefined : `${publicUrl}${WEBHOOK_PATH}`,
    asked: askedGrants(),
    repositories,
    rollout: config.rollout,
  });
  return [...findings, ...checkDisk(config)];
}

/** The same for somebody beside the app: also whether its database and its server work. */
export async function checkInstallation(
  config: AppConfig,
  repositories?: readonly Repo[],
): Promise<Finding[]> {
  const parts = await Promise.all([
    checkSetup(config, repositories),
    checkDatabase(config.databaseUrl),
    checkServer(config),
  ]);
  return parts.flat();
}

async function checkDatabase(url: string): Promise<Finding[]> {
  try {
    await withDatabase(url, 'read', (storage) => storage.check());
    return [{ check: 'database', kind: 'works' }];
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'cli.no_database')
      return [{ check: 'database', kind: 'none' }];
    if (error instanceof CountersignError && error.code === 'cli.older_database')
      return [{ check: 'database', kind: 'older', because: error.message }];
    return [{ check: 'database', kind: 'broken', because: messageOf(error) }];
  }
}

function checkDisk(config: AppConfig): Finding[] {
  const free = new Map(diskRooms(config).map(({ folder, freeBytes }) => [folder, freeBytes]));
  return [...free].map(([folder, bytes]) => judgeDisk(folder, bytes));
}

async function checkServer({ host, port }: AppConfig): Promise<Finding[]> {
  const url = localUrl(host, port);
  try {
    const answer = await bounded(fetch, { timeoutMs: PROBE_MS, maxBytes: MAX_PROBE_BYTES })(`${url}/readyz`);
    const said: unknown = await answer.json().catch(() => undefined);
    const ready = answer.status === 200 ? readySchema.safeParse(said).data : undefined;
    if (ready) return [{ check: 'server', kind: 'ready', url, warnings: ready.warnings }];
    const refused = answer.status === 503 ? notReadySchema.safeParse(said).data : undefined;
    if (refused) return [{ check: 'server', kind: 'not_ready', url, because: refused.error }];
    return [{ check: 'server', kind: 'strange', url, because: `/readyz answered ${answer.status}` }];
  } catch (error) {
    const isStrange =
      error instanceof AnswerTooLarge || (error instanceof DOMException && error.name === 'TimeoutError');
    return isStrange
      ? [{ check: 'server', kind: 'strange', url, because: error.message }]
      : [{ check: 'server', kind: 'not_running', url }];
  }
}
