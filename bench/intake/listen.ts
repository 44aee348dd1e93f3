import type { Server } from 'node:http';

/** Listens on a free loopback port and tells it to the parent process. */
export function listenAndTell(server: Server): void {
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
}
