import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { formatDuration } from '../../core/duration.ts';
import { bucketUrl, encodeKey, type S3Access } from '../../ports/s3-location.ts';
import { isPassing, outOfReach, Passing, refusalOf, refused, statusWords } from './failure.ts';

/** How patient the client is; tests put in less. */
export interface RetryPolicy {
  /** For the first word of an answer, and for each piece of it after that, in milliseconds. */
  timeoutMs: number;
  attempts: number;
  /** Before the second attempt, in milliseconds; doubled before each one after it. */
  backoffMs: number;
  /** From 0 to 1, so that what failed together does not come again together. */
  random: () => number;
  /** Tests need not wait to know for how long it would. */
  wait: (ms: number) => Promise<void>;
}

export const RETRIES: RetryPolicy = {
  timeoutMs: 20_000,
  attempts: 4,
  backoffMs: 250,
  random: Math.random,
  wait: (ms) => sleep(ms),
};

/** The slowest line that a large body is sent over, in bytes a millisecond. */
const SLOWEST = 50;

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Empty for the bucket itself. */
  key: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** Of the body, in hex. The store refuses a body that arrives as another. */
  sha256: string;
}

export interface S3Answer {
  headers: Headers;
  /** @throws Passing when the connection breaks or falls silent. */
  pieces: AsyncIterable<Uint8Array>;
}

export interface S3Client {
  /**
   * Asks, and reads the answer, `undefined` for an object that is not there; both again when something fails that can pass: an
   * answer of 5xx or 429, a connection that breaks or falls silent. Whatever this store is asked may be asked twice.
   * @throws CountersignError `storage.unavailable` for what does not pass.
   */
  send<T>(request: S3Request, read: (answer: S3Answer | undefined) => Promise<T>): Promise<T>;
}

/** Signed requests to one bucket. aws4fetch signs; its own retries know neither time-outs nor connections that break. */
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
    const response = await within(timeoutMs, controller, () =>
      // A redirect would take the signature to another host.
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
    const said = await within(retries.timeoutMs, controller, () => response.text());
    const refusal = refusalOf(response, said, access.region);
    if (isPassing(refusal)) throw new Passing(`it answered with ${statusWords(refusal)}`);
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
          if (!(error instanceof Passing)) throw error;
          if (tries >= retries.attempts) throw outOfReach(bucket, error.message);
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
      const { done, value } = await within(timeoutMs, controller, () => reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // A reader that has seen enough must not keep the connection.
    controller.abort();
  }
}

/** Only the system's name of an error is told: its message may hold an address. */
async function within<T>(timeoutMs: number, controller: AbortController, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    return await work();
  } catch (error) {
    if (controller.signal.aborted) throw new Passing(`it was silent for ${formatDuration(timeoutMs)}`);
    throw new Passing(`the connection to it failed${nameOf(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

function nameOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
}
