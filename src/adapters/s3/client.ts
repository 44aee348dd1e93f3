import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { formatDuration } from '../../core/duration.ts';
import { bucketUrl, encodeKey, type S3Access } from '../../ports/s3-location.ts';
import { isTransient, refusalOf, refused, statusWords, TransientError, unavailable } from './failure.ts';

/** The client's retries; tests use shorter times. */
export interface RetryPolicy {
  /** For the first byte of a response, and for each further piece, in milliseconds. */
  timeoutMs: number;
  attempts: number;
  /** Before the second attempt, in milliseconds; doubled before each further one. */
  backoffMs: number;
  /** From 0 to 1, so that requests that failed together do not retry together. */
  random: () => number;
  /** Replaced in tests, so that they need not wait. */
  wait: (ms: number) => Promise<void>;
}

export const RETRIES: RetryPolicy = {
  timeoutMs: 20_000,
  attempts: 4,
  backoffMs: 250,
  random: Math.random,
  wait: (ms) => sleep(ms),
};

/** The slowest assumed connection for a large body, in bytes per millisecond. */
const SLOWEST = 50;

interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Empty for the bucket itself. */
  key: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** Of the body, in hex. The store refuses a body with another hash. */
  sha256: string;
}

export interface S3Answer {
  headers: Headers;
  /** @throws TransientError if the connection breaks or times out */
  pieces: AsyncIterable<Uint8Array>;
}

export interface S3Client {
  /**
   * Sends a request and reads the response, which is `undefined` for a missing object. Retries both after a
   * transient failure: 5xx, 429, a broken connection or a time-out. All requests to this store are safe to
   * repeat.
   * @throws CountersignError `storage.unavailable` for other failures
   */
  send<T>(request: S3Request, read: (answer: S3Answer | undefined) => Promise<T>): Promise<T>;
}

/**
 * Signed requests to one bucket. aws4fetch signs; its own retries handle neither time-outs nor broken
 * connections.
 */
export function createS3Client(bucket: string, access: S3Access, retries: RetryPolicy): S3Client {
  const base = bucketUrl(bucket, access);

  async function attempt(request: S3Request): Promise<S3Answer | undefined> {
    const { method, key, query, headers, body, sha256 } = request;
    const signed = await new AwsV4Signer({
      accessKeyId: access.accessKeyId,
      secretAccessKey: access.secretAccessKey,
      sessionToken: access.sessionToken,
      region: access.region,
      service: 's3',
      method,
      url: `${base}${encodeKey(key)}${query ? `?${new URLSearchParams(query)}` : ''}`,
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
    }).sign();
    const timeoutMs = retries.timeoutMs + (body?.byteLength ?? 0) / SLOWEST;
    const controller = new AbortController();
    const { signal } = controller;
    const response = await withTimeout(timeoutMs, controller, () =>
      // Following a redirect would send the signature to another host.
      fetch(signed.url, {
        method,
        headers: signed.headers,
        redirect: 'manual',
        signal,
        body: body && Buffer.from(body),
      }),
    );
    if (response.ok)
      return { headers: response.headers, pieces: pieces(response, retries.timeoutMs, controller) };
    const errorBody = await withTimeout(retries.timeoutMs, controller, () => response.text());
    const refusal = refusalOf(response, errorBody, access.region);
    if (isTransient(refusal)) throw new TransientError(`it answered with ${statusWords(refusal)}`);
    if (refusal.status === 404 && refusal.code !== 'NoSuchBucket' && method !== 'PUT' && key !== '') {
      return undefined;
    }
    throw refused(bucket, refusal);
  }

  return {
    async send(request, read) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await read(await attempt(request));
        } catch (error) {
          if (!(error instanceof TransientError)) throw error;
          if (tries >= retries.attempts) throw unavailable(bucket, error.message);
        }
        const full = retries.backoffMs * 2 ** (tries - 1);
        await retries.wait((full * (1 + retries.random())) / 2);
      }
    },
  };
}

async function* pieces(
  response: Response,
  timeoutMs: number,
  controller: AbortController,
): AsyncIterable<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await withTimeout(timeoutMs, controller, () => reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // Closes the connection if the reader stops early.
    controller.abort();
  }
}

/** Reports only the system's error code, because the message may contain an address. */
async function withTimeout<T>(
  timeoutMs: number,
  controller: AbortController,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    return await work();
  } catch (error) {
    if (controller.signal.aborted) throw new TransientError(`it was silent for ${formatDuration(timeoutMs)}`);
    throw new TransientError(`the connection to it failed${nameOf(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

function nameOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
}
