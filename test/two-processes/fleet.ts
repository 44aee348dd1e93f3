import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppProcess, startAppProcess } from '../crash/app-process.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';

/** Long, for a busy machine. */
const PATIENCE_MS = 90_000;

/** Processes of the app that share a database, behind a proxy that sends each delivery to one that answers. */
export interface Fleet {
  /** Those that run, in the order of their start. */
  readonly running: readonly AppProcess[];
  /** Starts one more, and waits until it listens. @param root of another version's files */
  add(environment?: Record<string, string>, root?: string): Promise<AppProcess & { url: string }>;
  /** Polls until it finds something. @throws Error with the log of all processes if it never does. */
  until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T>;
  stop(): Promise<void>;
}

export async function startFleet(
  github: GitHubStandIn,
  { databaseUrl, folder }: { databaseUrl: string; folder: string },
): Promise<Fleet> {
  const running: (AppProcess & { url: string })[] = [];
  const log: string[] = [];
  const proxy = createServer((incoming, response) => {
    void bodyOf(incoming).then(async (body) => {
      response.statusCode = await toOneOf(running, incoming.headers, body);
      response.end();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  github.setWebhookUrl(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`);

  return {
    running,
    async add(environment = {}, root = undefined) {
      const app = startAppProcess(
        github,
        folder,
        { kind: 'real', ...(root !== undefined && { root }) },
        { DATABASE_URL: databaseUrl, STUDIO: 'off', ...environment },
      );
      const url = await app.webhookUrl;
      if (url === undefined) throw new Error(`the app ended before it listened:\n${app.log.join('\n')}`);
      const listening = { ...app, url };
      running.push(listening);
      void app.gone.then(() => {
        running.splice(running.indexOf(listening), 1);
        log.push(...app.log);
      });
      return listening;
    },
    async until(what, look) {
      const end = Date.now() + PATIENCE_MS;
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        if (Date.now() > end) {
          const said = [...log, ...running.flatMap((app) => app.log)].join('\n');
          throw new Error(`waited ${PATIENCE_MS / 1_000} s in vain for ${what}:\n${said}`);
        }
        await sleep(50);
      }
    },
    async stop() {
      await Promise.all([...running].map((app) => app.stop()));
      await new Promise<void>((resolve) => {
        proxy.close(() => resolve());
        proxy.closeAllConnections();
      });
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** As a load balancer does: the next process, if one cannot be reached. @returns 502 if none can */
async function toOneOf(
  processes: readonly { url: string }[],
  headers: IncomingHttpHeaders,
  body: Buffer,
): Promise<number> {
  for (const { url } of [...processes].reverse()) {
    const status = await send(url, headers, body);
    if (status !== undefined && status !== 503) return status;
  }
  return 502;
}

/** @returns `undefined` if nobody answers there */
export function send(url: string, headers: IncomingHttpHeaders, body: Buffer): Promise<number | undefined> {
  return new Promise((resolve) => {
    const call = request(url, { method: 'POST', agent: false, headers: { ...headers, connection: 'close' } });
    call.on('response', (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode));
    });
    call.on('error', () => resolve(undefined));
    call.end(body);
  });
}
