import { createHmac, randomUUID } from 'node:crypto';
import { request } from 'node:http';

/** GitHub gives a receiver ten seconds; this one waits longer, for a receiver on a slow machine. */
const ANSWER_LIMIT_MS = 60_000;
const HOOK_ID = 480_001;
/** Every App gets these without subscribing: https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation */
const SENT_TO_ALL = ['installation', 'installation_repositories'];

/** One event, sent once or more often; every attempt carries the same GUID. */
export interface Delivery {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly action: string | undefined;
  readonly payload: unknown;
  /** The receiver's last answer; `undefined` while not sent, or if it never answered. */
  status: number | undefined;
  readonly attempts: Attempt[];
}

/** One attempt at a delivery: an item of `/app/hook/deliveries`. */
export interface Attempt {
  readonly id: number;
  readonly delivery: Delivery;
  readonly at: Date;
  readonly redelivery: boolean;
  readonly durationMs: number;
  readonly installationId: number | undefined;
  readonly repositoryId: number | undefined;
  /** `undefined` when no answer came. */
  readonly statusCode: number | undefined;
  /** `OK`, or why it failed. */
  readonly status: string;
}

export interface SignedRequest {
  headers: Record<string, string>;
  body: string;
}

/** Sends events to the app's webhook URL one after another, and records every attempt. */
export class Webhooks {
  secret: string;
  /** What the app is subscribed to, as its page says it. */
  readonly subscribed: readonly string[];
  readonly deliveries: Delivery[] = [];
  readonly attempts: Attempt[] = [];
  url: string | undefined;
  appId = 0;
  readonly #now: () => Date;
  #queue: Promise<unknown> = Promise.resolve();
  #held: Delivery[] | undefined;
  #nextId = 190_000_000_001;
  readonly #stopping = new AbortController();

  readonly #events: ReadonlySet<string>;

  constructor(options: {
    secret: string;
    now: () => Date;
    url: string | undefined;
    events: readonly string[];
  }) {
    this.subscribed = options.events;
    this.#events = new Set([...options.events, ...SENT_TO_ALL]);
    this.secret = options.secret;
    this.url = options.url;
    this.#now = options.now;
  }

  /**
   * Queues an event. The payload is a snapshot that never changes. An app without a webhook URL is sent nothing, now or later,
   * and an app gets only events that it subscribes to.
   */
  send(event: string, action: string | undefined, payload: object): void {
    if (this.url === undefined || !this.#events.has(event)) return;
    const delivery: Delivery = {
      id: this.#nextId++,
      guid: randomUUID(),
      event,
      action,
      payload,
      status: undefined,
      attempts: [],
    };
    this.deliveries.push(delivery);
    if (this.#held) this.#held.push(delivery);
    else this.#enqueue(delivery, false);
  }

  hold(): void {
    this.#held ??= [];
  }

  async release(order: 'fifo' | 'reverse'): Promise<void> {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const delivery of order === 'fifo' ? held : held.toReversed()) this.#enqueue(delivery, false);
    await this.#queue;
  }

  /** Sends again; resolves with the answered status, 0 if there was no answer. */
  async redeliver(delivery: Delivery): Promise<number> {
    return (await this.#enqueue(delivery, true)).statusCode ?? 0;
  }

  /** Resolves when everything queued so far was answered or given up. */
  async flush(): Promise<void> {
    await this.#queue;
  }

  /** Resolves when nothing is queued any more, including what the answers caused. */
  async settle(): Promise<void> {
    for (let last: unknown; last !== this.#queue; ) {
      last = this.#queue;
      await last;
    }
  }

  sign(event: string, payload: unknown, guid: string = randomUUID()): SignedRequest {
    const body = JSON.stringify(payload);
    return {
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/c0ffee1',
        'x-github-event': event,
        'x-github-delivery': guid,
        'x-github-hook-id': String(HOOK_ID),
        'x-github-hook-installation-target-id': String(this.appId),
        'x-github-hook-installation-target-type': 'integration',
        'x-hub-signature-256': `sha256=${createHmac('sha256', this.secret).update(body).digest('hex')}`,
      },
    };
  }

  async stop(): Promise<void> {
    this.#held = undefined;
    this.#stopping.abort();
    await this.#queue;
  }

  #enqueue(delivery: Delivery, redelivery: boolean): Promise<Attempt> {
    const sent = this.#queue.then(() => this.#attempt(delivery, redelivery));
    this.#queue = sent;
    return sent;
  }

  async #attempt(delivery: Delivery, redelivery: boolean): Promise<Attempt> {
    const at = this.#now();
    const started = performance.now();
    const answer = await post(
      this.url,
      this.sign(delivery.event, delivery.payload, delivery.guid),
      this.#stopping.signal,
    );
    const attempt: Attempt = {
      id: delivery.attempts.length === 0 ? delivery.id : this.#nextId++,
      delivery,
      at,
      redelivery,
      durationMs: performance.now() - started,
      installationId: idOf(delivery.payload, 'installation'),
      repositoryId: idOf(delivery.payload, 'repository'),
      ...answer,
    };
    delivery.attempts.push(attempt);
    delivery.status = attempt.statusCode;
    this.attempts.push(attempt);
    return attempt;
  }
}

function idOf(payload: unknown, key: string): number | undefined {
  const holder: unknown = isRecord(payload) ? payload[key] : undefined;
  return isRecord(holder) && typeof holder.id === 'number' ? holder.id : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

type Answer = Pick<Attempt, 'statusCode' | 'status'>;

/** Posts without keep-alive, so that a receiver can stop without waiting for us. Never rejects. */
function post(url: string | undefined, signed: SignedRequest, stopping: AbortSignal): Promise<Answer> {
  if (url === undefined || stopping.aborted)
    return Promise.resolve({ statusCode: undefined, status: 'failed to connect to host' });
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
  return new Promise((resolve) => {
    const call = request(url, {
      method: 'POST',
      agent: false,
      headers: { ...signed.headers, 'content-length': Buffer.byteLength(signed.body) },
      signal: AbortSignal.any([limit, stopping]),
    });
    call.on('response', (response) => {
      const code = response.statusCode ?? 0;
      response.resume();
      const done = (): void =>
        resolve({
          statusCode: code,
          status: code >= 200 && code < 300 ? 'OK' : `Invalid HTTP Response: ${code}`,
        });
      response.on('end', done);
      response.on('error', done);
    });
    call.on('error', () =>
      resolve({ statusCode: undefined, status: limit.aborted ? 'timed out' : 'failed to connect to host' }),
    );
    call.end(signed.body);
  });
}
