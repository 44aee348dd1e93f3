import { createHash } from 'node:crypto';
import type { BlobFacts, Blobs } from '../../ports/blobs.ts';
import type { S3Access, S3Place } from '../../ports/s3-location.ts';
import { expectBlobPath, isBlobPath, unsafePath } from '../blobs/blob-path.ts';
import { checkedRead, wholeOf } from '../blobs/checked-read.ts';
import { createS3Client, RETRIES, type RetryPolicy, type S3Answer } from './client.ts';
import { TransientError, unavailable } from './failure.ts';
import { parseListing } from './listing.ts';

/** In bytes; https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */
const LONGEST_KEY = 1_024;

/** The hash is in the object's metadata: it is written together with the bytes and returned with them. */
const HASH_HEADER = 'x-amz-meta-sha256';

const NOTHING_SHA256 = sha256Of(new Uint8Array());

/**
 * Blobs as objects of an S3 bucket, with the prefix before every key. Sends no request before the first use.
 * @throws CountersignError `storage.unavailable`, from every call, for problems that the bucket's owner can
 * fix
 */
export function createS3Blobs(place: S3Place, access: S3Access, retries: RetryPolicy = RETRIES): Blobs {
  const { bucket, prefix } = place;
  const client = createS3Client(bucket, access, retries);

  function keyOf(path: string): string {
    expectBlobPath(path);
    const key = prefix + path;
    if (Buffer.byteLength(key) <= LONGEST_KEY) return key;
    throw unsafePath(path, `with what all keys begin with it is longer than ${LONGEST_KEY} bytes`);
  }

  function ask<T>(method: 'GET' | 'HEAD' | 'DELETE', path: string, read: (answer?: S3Answer) => Promise<T>) {
    return client.send({ method, key: keyOf(path), sha256: NOTHING_SHA256 }, read);
  }

  function checked(path: string, { headers, pieces }: S3Answer): AsyncIterable<Uint8Array> {
    const known = headers.get(HASH_HEADER);
    return checkedRead(path, pieces, known === null ? [] : [known]);
  }

  async function stat(path: string): Promise<BlobFacts | undefined> {
    return ask('HEAD', path, async (answer) => answer && blobFacts(path, answer.headers));
  }

  return {
    async put(path, data) {
      const body = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
      const sha256 = sha256Of(body);
      const key = keyOf(path);
      const headers = { [HASH_HEADER]: sha256, 'content-type': 'application/octet-stream' };
      await client.send({ method: 'PUT', key, headers, body, sha256 }, drained);
      return { path, size: body.byteLength, sha256 };
    },

    async get(path) {
      return ask('GET', path, async (answer) => answer && wholeOf(checked(path, answer)));
    },

    async open(path) {
      const answer = await ask('GET', path, async (opened) => opened);
      return answer && withoutRetries(bucket, checked(path, answer));
    },

    async has(path) {
      return (await stat(path)) !== undefined;
    },

    stat,

    async *list() {
      const query = { 'list-type': '2', 'encoding-type': 'url', ...(prefix === '' ? {} : { prefix }) };
      for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
        const page = await client.send(
          {
            method: 'GET',
            key: '',
            query: next === undefined ? query : { ...query, 'continuation-token': next },
            sha256: NOTHING_SHA256,
          },
          listingIn,
        );
        for (const { key, size, modifiedAt } of page.objects) {
          const path = key.slice(prefix.length);
          // Another program created names that no blob can have, such as a console's "folder".
          if (key.startsWith(prefix) && isBlobPath(path)) yield { path, size, modifiedAt };
        }
        next = page.next;
      }
    },

    async delete(path) {
      await ask('DELETE', path, drained);
    },
  };
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Reading the response to its end frees the connection for the next request. */
async function drained(answer: S3Answer | undefined): Promise<void> {
  if (answer) await wholeOf(answer.pieces);
}

async function listingIn(answer: S3Answer | undefined) {
  const xml = new TextDecoder().decode(answer && (await wholeOf(answer.pieces)));
  const listing = parseListing(xml);
  if (!listing) throw new TransientError('its list of objects is not whole');
  return listing;
}

function blobFacts(path: string, headers: Headers): BlobFacts {
  const size = Number(headers.get('content-length') ?? Number.NaN);
  const modifiedAt = new Date(headers.get('last-modified') ?? Number.NaN);
  if (Number.isNaN(size) || Number.isNaN(modifiedAt.getTime())) {
    throw new TransientError('it does not say how large and how old an object is');
  }
  return { path, size, modifiedAt };
}

/** Pieces that were already yielded cannot be taken back, so a stream that breaks ends with an error. */
async function* withoutRetries(bucket: string, pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    throw error instanceof TransientError ? unavailable(bucket, error.message) : error;
  }
}
