import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CountersignError } from '../../core/errors.ts';
import { localUrl } from '../../core/loopback.ts';

/**
 * When the server stops, the time for requests under way, in milliseconds. A delivery completes in a fraction
 * of it; a stalled sender is disconnected.
 */
export const LAST_REQUESTS_MS = 2_000;

/**
 * Starts listening.
 * @returns the URL that reaches the server from this machine
 * @throws CountersignError `http.cannot_listen` with the reason
 */
export function listen(server: Server, { port, host }: { port: number; host: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const because = error.code === 'EADDRINUSE' ? 'something else listens there already' : error.message;
      reject(new CountersignError('http.cannot_listen', `it cannot listen on ${host}:${port}: ${because}.`));
    });
    server.listen(port, host, () => {
      const { port: given } = server.address() as AddressInfo;
      resolve(localUrl(host, given));
    });
  });
}

/**
 * Answers the requests under way, then closes. Node checks no request timeouts on a closing server, hence the
 * timer.
 */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), LAST_REQUESTS_MS);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
