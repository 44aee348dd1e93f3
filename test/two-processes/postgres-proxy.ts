import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { memoryFolder } from '../support/memory-folder.ts';

/** The network between processes and a database: it passes everything on, until it is cut. */
export interface PostgresProxy {
  /** The database's address through it. */
  urlFor(databaseUrl: string): string;
  /** From now on nothing passes in either direction, and neither side hears of it: connections stay open, and new ones get no answer. */
  cut(): void;
  /**
   * Connections pass everything again.
   * @param old what becomes of what was sent meanwhile: it arrives late, or those connections stay silent for good, as when a
   * router has forgotten them
   */
  heal(old: 'resume' | 'forgotten'): void;
  stop(): Promise<void>;
}

const SOCKET = '.s.PGSQL.5432';

/** @param serverFolder with the server's Unix socket */
export async function startPostgresProxy(serverFolder: string): Promise<PostgresProxy> {
  const folder = mkdtempSync(join(memoryFolder(), 'countersign-proxy-'));
  const pairs = new Set<{ sockets: readonly [Socket, Socket]; isForgotten: boolean }>();
  let isCut = false;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = createConnection({ path: join(serverFolder, SOCKET), allowHalfOpen: true });
    const pair = { sockets: [client, upstream] as const, isForgotten: false };
    pairs.add(pair);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (chunk: Buffer) => void to.write(chunk));
      from.on('end', () => void to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
      if (isCut) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(join(folder, SOCKET), resolve));

  return {
    urlFor: (databaseUrl) => databaseUrl.replace(serverFolder, folder),
    cut() {
      isCut = true;
      for (const { sockets } of pairs) for (const socket of sockets) socket.pause();
    },
    heal(old) {
      isCut = false;
      for (const pair of pairs) {
        pair.isForgotten ||= old === 'forgotten';
        if (!pair.isForgotten) for (const socket of pair.sockets) socket.resume();
      }
    },
    async stop() {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
