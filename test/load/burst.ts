import { Agent, request } from 'node:http';
import type { SignedRequest } from '../support/github/webhooks.ts';

export interface BurstResult {
  /** How often each status was answered; 0 means no answer. */
  statuses: Record<number, number>;
  /** Milliseconds from the beginning of the burst to the last answer. */
  lastAnswerMs: number;
}

export interface BurstOptions {
  /** How many connections are open at once. A delivery that waits for one waits inside `lastAnswerMs`. */
  connections?: number;
  onAnswer?: (status: number) => void;
}

/** GitHub gives up on a receiver after this long. */
export const GITHUB_WAITS_MS = 10_000;

/** Sends all of them at once, as GitHub does when a bot or a release changes everything, and waits for every answer. */
export async function burst(
  url: string,
  deliveries: readonly SignedRequest[],
  { connections = 200, onAnswer }: BurstOptions = {},
): Promise<BurstResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const begun = performance.now();
  const answers = await Promise.all(
    deliveries.map(async (delivery) => {
      const status = await post(url, delivery, agent);
      onAnswer?.(status);
      return status;
    }),
  );
  const lastAnswerMs = Math.round(performance.now() - begun);
  agent.destroy();
  const statuses: Record<number, number> = {};
  for (const status of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return { statuses, lastAnswerMs };
}

/** The answer's status, 0 if there was none. Never rejects. */
function post(url: string, { headers, body }: SignedRequest, agent?: Agent): Promise<number> {
  return new Promise((resolve) => {
    const call = request(url, {
      method: 'POST',
      agent: agent ?? false,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    call.on('response', (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? 0));
    });
    call.on('error', () => resolve(0));
    call.end(body);
  });
}
