import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Json } from '../../../core/canonical.ts';
import { messageOf } from '../../../core/errors.ts';
import type { ModelName } from '../../../domain/model/name.ts';
import type { Tokens } from '../../../domain/model/price.ts';
import type { Ledger } from '../../../engine/models/ledger.ts';
import { describeFailure } from '../../../messages/skills/model.ts';
import type { Failure, Purpose, Spent } from '../../../ports/model.ts';
import { admittedRequest, MAX_OUTPUT_TOKENS, type Protocol, protocolOf } from './proxy-rules.ts';
import { tokensIn } from './usage.ts';

/** The model that agents may use, and its ledger. */
export interface AgentModel {
  name: ModelName;
  apiKey: string | undefined;
  /** Without a trailing slash; the provider's own by default. */
  baseUrl: string | undefined;
  ledger: Ledger;
}

export interface AgentProxy {
  /** The secret prefix of every path. */
  path: string;
  token: string;
  /** The usage of all forwarded calls so far. */
  spent(): Spent;
  /** Why a call was refused, for the first refusal. */
  refused(): string | undefined;
  /** Ends every call. Their usage stays counted. */
  stop(): Promise<void>;
}

const MAX_BODY_BYTES = 4_000_000;
const MAX_ANSWER_BYTES = 10_000_000;
const CALL_TIMEOUT_MS = 300_000;
/** An agent works on one thing at a time, and may have a title generated besides. */
const MAX_CONCURRENT_CALLS = 4;
/** Agents call repeatedly, but this many calls are a loop. */
const MAX_CALLS = 300;
const OWN_URL = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com/v1' } as const;
const JSON_TYPE = { 'content-type': 'application/json' };

/**
 * The proxy between an agent and its model, for one run. It holds the key, which the agent must not have,
 * forwards only questions to the one model, and reserves the highest possible cost of each before it forwards
 * it.
 * @param socket a path in a folder that no other user can enter
 */
export async function startProxy(
  socket: string,
  { name, apiKey, baseUrl, ledger }: AgentModel,
  purpose: Purpose,
): Promise<AgentProxy> {
  const path = `/${randomBytes(16).toString('hex')}`;
  const token = randomBytes(24).toString('base64url');
  const stopped = new AbortController();
  let running = 0;
  let begun = 0;
  let forwarded = 0;
  let total: Tokens | null = { input: 0, output: 0 };
  let cost: number | null = 0;
  let refusal: string | undefined;
  const own = name.provider === 'anthropic' ? OWN_URL.anthropic : OWN_URL.openai;
  const upstream = baseUrl ?? own;

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 502, messageOf(error));
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isOurs(request)) return refuse(response, 403, 'this is no call of the run');
    const { pathname } = new URL(request.url ?? '', 'http://proxy');
    const prefix = `${path}/v1`;
    const rest = pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : '';
    const protocol = protocolOf(request.method, rest);
    if (!protocol) return refuse(response, 404, `${request.method} ${rest} is not let through`);
    if (running >= MAX_CONCURRENT_CALLS || begun >= MAX_CALLS) return refuse(response, 403, 'too many calls');
    // Counted before any wait. Otherwise many calls with slow bodies could all pass the check first.
    running += 1;
    begun += 1;
    try {
      await forward(rest, protocol, request, response);
    } finally {
      running -= 1;
    }
  }

  async function forward(
    to: string,
    protocol: Protocol,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const text = await bodyOf(request);
    if (text === undefined) return refuse(response, 413, `more than ${MAX_BODY_BYTES} bytes`);
    const admission = admittedRequest(parsed(text), protocol, name.model);
    if ('refused' in admission) return refuse(response, 400, admission.refused);
    const body = JSON.stringify(admission.body);

    const most = { input: Buffer.byteLength(body), output: MAX_OUTPUT_TOKENS };
    const reserved = await ledger.reserve(purpose, most);
    if (!reserved.ok) {
      const failure: Failure = { kind: 'no_budget', exceeded: reserved.exceeded };
      // A status that agents do not retry.
      return refuse(response, 403, describeFailure(failure));
    }
    forwarded += 1;
    let tokens: Tokens | null = null;
    let error: string | null = null;
    try {
      tokens = await passOn(to, body, request, response);
    } catch (thrown) {
      error = messageOf(thrown);
      throw thrown;
    } finally {
      total = total && tokens && { input: total.input + tokens.input, output: total.output + tokens.output };
      const paid = await ledger.settle(reserved.id, tokens, error);
      cost = cost === null || paid === null ? null : cost + paid;
    }
  }

  /** @returns the usage, if the provider reports it */
  async function passOn(
    to: string,
    body: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Tokens | null> {
    const answered = await fetch(`${upstream}${to}`, {
      method: 'POST',
      body,
      redirect: 'error',
      headers: { ...JSON_TYPE, ...credentials(), ...betas(request) },
      signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
    });
    response.writeHead(answered.status, {
      'content-type': answered.headers.get('content-type') ?? 'application/json',
    });
    const decoder = new TextDecoder();
    let text = '';
    let bytes = 0;
    for await (const part of answered.body ?? []) {
      bytes += part.byteLength;
      if (bytes > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
      text += decoder.decode(part, { stream: true });
      response.write(part);
    }
    response.end();
    // A provider charges nothing for a request that it rejects.
    if (answered.status >= 400 && answered.status < 500) return { input: 0, output: 0 };
    return tokensIn(text);
  }

  function credentials(): Record<string, string> {
    if (apiKey === undefined) return {};
    return name.provider === 'anthropic' ? { 'x-api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
  }

  function betas({ headers }: IncomingMessage): Record<string, string> {
    if (name.provider !== 'anthropic') return {};
    const beta = headers['anthropic-beta'];
    const isPlain = typeof beta === 'string' && /^[\w,.-]{1,500}$/.test(beta);
    return { 'anthropic-version': '2023-06-01', ...(isPlain ? { 'anthropic-beta': beta } : {}) };
  }

  /** Only this run knows the path and the token. */
  function isOurs({ url = '', headers }: IncomingMessage): boolean {
    const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '') ?? '';
    return url.startsWith(`${path}/`) && isSame(String(given), token);
  }

  function refuse(response: ServerResponse, status: number, because: string): void {
    if (status !== 404) refusal ??= because;
    response
      .writeHead(status, JSON_TYPE)
      .end(JSON.stringify({ error: { message: because, type: 'refused' } }));
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  return {
    path,
    token,
    spent: () => ({ calls: forwarded, tokens: total, cost }),
    refused: () => refusal,
    stop() {
      stopped.abort();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
