import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CountersignError } from '../../core/errors.ts';

/** A delivery that is being sent when we stop is whole long before this, in milliseconds; a sender that stalls is cut off. */
export const LAST_REQUESTS_MS = 2_000;

/**
 * Has the server listen, and returns where this machine reaches it.
 * @throws CountersignError `http.cannot_listen` with the reason.
 */
export function listen(server: Server, { port, host }: { port: number; host: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const because = error.code === 'EADDRINUSE' ? 'something else listens there already' : error.message;
      reject(new CountersignError('http.cannot_listen', `it cannot listen on ${host}:${port}: ${because}.`));
    });
    server.listen(port, host, () => {
      const { port: given } = server.address() as AddressInfo;
      resolve(`http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${given}`);
    });
  });
}

/** Lets requests under way be answered. A server that closes does not look at its time limits any more, so there is one here. */
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
