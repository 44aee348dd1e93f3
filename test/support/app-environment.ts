import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GitHubStandIn } from './github/stand-in.ts';

/** What every process that a test starts may inherit: none of it reaches the app's configuration. */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  // Hundreds of processes load the same modules; vitest.config.ts says where their compiled form is kept.
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}

/** The environment of an app process whose GitHub is the stand-in; the port is a free one by default. */
export function appEnvironment(
  github: GitHubStandIn,
  { databaseUrl, artifactsUrl, port = 0 }: { databaseUrl: string; artifactsUrl: string; port?: number },
): Record<string, string> {
  return {
    ...bareEnvironment(),
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: github.app.webhookSecret,
    GITHUB_API_URL: github.url,
    HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: 'off',
    DATABASE_URL: databaseUrl,
    ARTIFACTS_URL: artifactsUrl,
    LOG_LEVEL: 'info',
  };
}

/**
 * Below 32768 on Linux and 49152 on macOS, where ports begin that a server gets when it asks for any. Without that, a server of another
 * test could get the port after this one looked, and hear requests that were meant for an app that is about to start.
 */
const PORTS = { first: 15_000, count: 17_000 };

/** A port that nothing listens on now, for a process that starts later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(PORTS.first + randomInt(PORTS.count), '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      continue;
    }
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  }
}
