import { bounded } from '../../core/bounded-fetch.ts';
import type { Timers } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Span, Traces } from '../../ports/traces.ts';
import { encodeSpans } from './encode.ts';

/** The collector, and what is sent to it. */
interface Collector {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  service: string;
  /** The share of traces that are sent, from 0 to 1. */
  ratio: number;
}

interface Deps {
  timers: Timers;
  log: Log;
  /** How many spans were sent, or given up. */
  onSpans(result: 'sent' | 'dropped', count: number): void;
  fetch?: typeof globalThis.fetch;
}

/** OpenTelemetry's defaults for batches: https://opentelemetry.io/docs/specs/otel/trace/sdk/#batching-processor */
export const MAX_QUEUED = 2_048;
export const MAX_BATCH = 512;
export const EVERY_MS = 5_000;
const TIMEOUT_MS = 10_000;
/** The answer says how many spans the collector rejected, and nothing else. */
const MAX_ANSWER_BYTES = 64 * 1_024;
/** A batch is tried so often, each time with the next one. */
const MAX_TRIES = 3;
/** What a stop waits for the last batches. */
const STOP_MS = 1_500;
/** The collector may take it later: https://opentelemetry.io/docs/specs/otlp/#failures-1 */
const RETRYABLE = [429, 502, 503, 504];

/**
 * Sends spans in batches, one request at a time. What does not fit into the queue is dropped and counted, so a collector that hangs or
 * is down costs at most the queue's memory. Spans of a trace are sent together or not at all, by the trace's own id, so
 * that a restart changes nothing.
 */
export function createOtlpTraces(collector: Collector, { timers, log, onSpans, fetch }: Deps): Traces {
  const { endpoint, headers, service, ratio } = collector;
  const ask = bounded(fetch ?? globalThis.fetch, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES });
  let queue: Span[] = [];
  let tries = 0;
  let cancelTimer: (() => void) | undefined;
  let sending: Promise<void> | undefined;
  let isStopped = false;

  function drop(count: number, because: string): void {
    onSpans('dropped', count);
    log.warn({ outage: 'tracing', endpoint, because }, 'spans are not sent to the collector of traces');
  }

  async function post(batch: readonly Span[]): Promise<'sent' | 'later' | 'refused'> {
    const response = await ask(`${endpoint}/v1/traces`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(encodeSpans(batch, service)),
      // Following one would send the headers elsewhere.
      redirect: 'manual',
    });
    if (response.ok) return 'sent';
    return RETRYABLE.includes(response.status) ? 'later' : 'refused';
  }

  /** Sends what is there. After a failure, the rest waits for the next time. */
  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, MAX_BATCH);
      let because = 'the collector refused them';
      const result = await post(batch).catch((error: unknown) => {
        because = messageOf(error);
        return 'later' as const;
      });
      tries += 1;
      if (result === 'later' && tries < MAX_TRIES && !isStopped) return;
      tries = 0;
      queue = queue.slice(batch.length);
      if (result === 'sent') onSpans('sent', batch.length);
      else drop(batch.length, because);
      if (result === 'later') return;
    }
  }

  function send(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (queue.length > 0) later();
    });
    return sending;
  }

  function later(): void {
    if (!isStopped) cancelTimer ??= timers.after(EVERY_MS, () => void send());
  }

  return {
    record(span) {
      if (isStopped || !isChosen(span.traceId, ratio)) return;
      if (queue.length >= MAX_QUEUED) return drop(1, 'too many wait for the collector');
      queue.push(span);
      if (queue.length >= MAX_BATCH && !sending && tries === 0) void send();
      else later();
    },
    async stop() {
      isStopped = true;
      const late = Promise.withResolvers<void>();
      const cancel = timers.after(STOP_MS, late.resolve);
      // What is being sent, and then what came meanwhile.
      await Promise.race([send().then(send), late.promise]);
      cancel();
    },
  };
}

/** Traces whose last eight bytes are below that share of all numbers. */
function isChosen(traceId: string, ratio: number): boolean {
  return ratio >= 1 || Number(BigInt(`0x${traceId.slice(16)}`)) / 2 ** 64 < ratio;
}
