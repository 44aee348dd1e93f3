import type { Server } from 'node:http';

/**
 * Listens on a free loopback port and reports it to the parent process. Answers each message with the CPU
 * time used so far.
 */
export function listenAndReport(server: Server): void {
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
  process.on('message', () => process.send?.(process.cpuUsage()));
}
