import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { bodyFor, type StubAnswer } from './answers.ts';

/** One answer of the stub model, good or bad. */
export type Script =
  | StubAnswer
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The connection is cut before the answer, or in the middle of it. */
  | { reset: 'at_once' | 'halfway' }
  | { silent: true }
  /** A whole answer, a byte at a time. */
  | { drip: StubAnswer; everyMs: number }
  /** So many bytes of white space before the answer. */
  | { padded: number; gzip?: boolean }
  | ((request: Asked) => Script);

/** What the stub was asked. */
export interface Asked {
  path: string;
  headers: IncomingMessage['headers'];
  /** The text of the whole request. */
  text: string;
  body: { messages?: { role: string; content: string }[]; tools?: unknown; max_tokens?: number };
}

export interface StubModel {
  url: string;
  asked: Asked[];
  /** Second questions of reviews, which are to refute findings. They take no answers of the others. */
  second: Asked[];
  /** The answer to each second question. By default, it judges no finding. */
  judges(script: Script): void;
  /** The answers to come, in this order; the last one is repeated. */
  answers(...scripts: Script[]): void;
  stop(): Promise<void>;
}

/** Only `skills/pr-review/prompts/refute.md` has these words. */
const SECOND_QUESTION = 'Try to refute each of the findings below';

/** A server on loopback that speaks the protocols of the model providers and gives the answers that a test sets. */
export async function startStubModel(): Promise<StubModel> {
  const asked: Asked[] = [];
  const second: Asked[] = [];
  let scripts: Script[] = [];
  let judgements: Script = { text: '{"judgements":[]}' };
  const timers = new Set<NodeJS.Timeout>();

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const question = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) };
    if (text.includes(SECOND_QUESTION)) {
      second.push(question);
      await play(judgements, question, response);
      return;
    }
    asked.push(question);
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    await play(script ?? { status: 500, body: 'no answer was scripted' }, question, response);
  });

  async function play(script: Script, question: Asked, response: ServerResponse): Promise<void> {
    if (typeof script === 'function') return play(script(question), question, response);
    if ('silent' in script) return;
    if ('status' in script) {
      response.writeHead(script.status, { 'content-type': 'application/json', ...script.headers });
      response.end(script.body ?? JSON.stringify({ error: { message: `status ${script.status}` } }));
      return;
    }
    if ('reset' in script) {
      if (script.reset === 'halfway') {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
        response.write('{"id": "chatcmpl-1", "cho');
        await new Promise((resolve) => timers.add(setTimeout(resolve, 20)));
      }
      response.socket?.resetAndDestroy();
      return;
    }
    if ('padded' in script) return padded(script, question, response);
    response.writeHead(200, { 'content-type': 'application/json' });
    if (!('drip' in script)) {
      response.end(JSON.stringify(bodyFor(question.path, script)));
      return;
    }
    const letters = [...JSON.stringify(bodyFor(question.path, script.drip))];
    const timer = setInterval(() => {
      const letter = letters.shift();
      if (letter === undefined) response.end();
      else response.write(letter);
    }, script.everyMs);
    timers.add(timer);
    response.on('close', () => clearInterval(timer));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    second,
    judges(script) {
      judgements = script;
    },
    answers(...next) {
      scripts = next;
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function padded(
  { padded, gzip = false }: { padded: number; gzip?: boolean },
  { path }: Asked,
  response: ServerResponse,
): void {
  const body = Buffer.concat([Buffer.alloc(padded, ' '), Buffer.from(JSON.stringify(bodyFor(path, {})))]);
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
  });
  response.end(gzip ? gzipSync(body) : body);
}
