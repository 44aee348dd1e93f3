import type { IncomingMessage, ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { messageOf, unreachable } from '../../core/errors.ts';
import { OWN_CODE, OWN_EXTENSION } from '../../core/package-root.ts';
import { STUDIO_FAILED } from '../../messages/studio/words.ts';
import type { AppHealth } from '../../ports/app-health.ts';
import type { FromStudio, RunningStudio, StudioStart, ToStudio } from './messages.ts';

/** Studio as the server for webhooks sees it. */
export interface StudioGate {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends its streams and stops it. */
  close(): Promise<void>;
}

/** Bodies are forms, tokens and pasted YAML. */
const MAX_BODY_BYTES = 1_000_000;

/** They concern one connection only: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/**
 * Passes requests on to Studio, which starts with the first of them: a server that nobody looks at needs no memory for
 * it. Studio runs in a thread of its own, so that no page delays a delivery, and starts again after it ended.
 */
export function studioGate(start: () => Promise<RunningStudio>): StudioGate {
  let running: Promise<RunningStudio> | undefined;
  let isClosing = false;
  const open = new Set<{ destroy(): void }>();

  function studio(): Promise<RunningStudio> {
    if (running) return running;
    const starting = start();
    running = starting;
    const forget = () => {
      if (running === starting) running = undefined;
    };
    starting.then(({ ended }) => ended.then(forget), forget);
    return starting;
  }

  return {
    async answer(request, response) {
      if (isClosing) return fail(response, 503);
      if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return fail(response, 413);
      // A body of unknown length could be of any.
      if (request.headers['transfer-encoding'] !== undefined) return fail(response, 411);
      const { socketPath } = await studio();
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => !HOP_BY_HOP.has(name)),
      );
      // Loaded only now: Node's HTTP client takes 4 MB of a thread.
      const { request: send } = process.getBuiltinModule('node:http');
      // For limits on attempts. What came before is only what others say.
      const before = headers['x-forwarded-for'];
      const peer = request.socket.remoteAddress ?? '';
      headers['x-forwarded-for'] = before === undefined ? peer : `${before}, ${peer}`;
      const { method, url: path } = request;
      await new Promise<void>((resolve) => {
        const passed = send({ socketPath, method, path, headers, agent: false }, (answer) => {
          const kept = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name));
          response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
          answer.pipe(response);
        });
        open.add(passed);
        passed.on('error', () => {
          if (!response.headersSent) fail(response, 502);
          else response.destroy();
        });
        response.on('close', () => {
          open.delete(passed);
          passed.destroy();
          resolve();
        });
        request.pipe(passed);
      });
    },
    async close() {
      isClosing = true;
      for (const one of open) one.destroy();
      await running?.then(
        ({ stop }) => stop(),
        () => undefined,
      );
    },
  };
}

function fail(response: ServerResponse, status: 411 | 413 | 502 | 503): void {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    .end(`${STUDIO_FAILED[status]}\n`);
}

/** Starts Studio in a thread of its own, which can ask how the app is. */
export async function startStudioThread(
  start: StudioStart,
  health: () => Promise<AppHealth>,
): Promise<RunningStudio> {
  const worker = new Worker(`${OWN_CODE}studio-thread.${OWN_EXTENSION}`, {
    name: 'studio',
    workerData: start,
  });
  const listening = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  const send = (message: ToStudio) => worker.postMessage(message);
  worker.on('message', (message: FromStudio) => {
    switch (message.kind) {
      case 'listening':
        return listening.resolve(message.socketPath);
      case 'ask': {
        const { id } = message;
        // The engine's log says why it could not be asked.
        return void health().then(
          (found) => send({ kind: 'answer', id, health: found }),
          () => send({ kind: 'answer', id }),
        );
      }
      default:
        return unreachable(message);
    }
  });
  worker.on('error', (error) => listening.reject(new Error(`Studio failed: ${messageOf(error)}`)));
  worker.on('exit', () => {
    listening.reject(new Error('Studio ended before it listened'));
    ended.resolve();
  });
  return {
    socketPath: await listening.promise,
    ended: ended.promise,
    async stop() {
      send({ kind: 'close' });
      await ended.promise;
    },
  };
}
