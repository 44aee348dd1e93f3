import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RetryPolicy } from '../../src/adapters/s3/client.ts';
import { parseListing } from '../../src/adapters/s3/listing.ts';
import { createS3Blobs } from '../../src/adapters/s3/s3-blobs.ts';
import { openBlobs } from '../../src/composition/blobs.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import { bucketUrl, parseS3Url, type S3Access } from '../../src/ports/s3-location.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { blobsContract } from './blobs.contract.ts';
import { ACCESS_KEY, BUCKET, type S3Fault, type S3Store, SECRET_KEY, startS3 } from './s3-store.ts';

/** A busy machine must not look like a store that does not answer. */
const QUICK: RetryPolicy = {
  timeoutMs: 60_000,
  attempts: 3,
  backoffMs: 2,
  random: () => 0.5,
  wait: async () => undefined,
};

let s3: S3Store;
let stores = 0;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.close());

const access = (over: Partial<S3Access> = {}): S3Access => ({
  endpoint: s3.url,
  region: 'eu-central-1',
  accessKeyId: ACCESS_KEY,
  secretAccessKey: SECRET_KEY,
  sessionToken: undefined,
  ...over,
});

describe('S3 blobs', () => {
  blobsContract(() => {
    stores += 1;
    const prefix = `store-${stores}`;
    return {
      blobs: openBlobs(`s3://${BUCKET}/${prefix}`, access()),
      async damage(path, bytes) {
        const key = `${prefix}/${path}`;
        const { headers } = await fetch(`${s3.raw}/${BUCKET}/${key}`);
        await s3.putRaw(key, bytes, { 'x-amz-meta-sha256': headers.get('x-amz-meta-sha256') ?? '' });
      },
      forgetHash: (path) => s3.putRaw(`${prefix}/${path}`, 'x'),
    };
  });
});

describe('a bucket', () => {
  let prefix: string;
  let blobs: Blobs;
  const place = () => ({ bucket: BUCKET, prefix: `${prefix}/` });
  beforeEach(async () => {
    stores += 1;
    prefix = `store-${stores}`;
    blobs = createS3Blobs(place(), access(), QUICK);
    await blobs.put('a', 'some bytes');
    s3.asked.length = 0;
  });

  const calls: [string, (blobs: Blobs) => Promise<unknown>][] = [
    ['put', (of) => of.put('b', 'x')],
    ['get', (of) => of.get('a')],
    ['has', (of) => of.has('a')],
    ['delete', (of) => of.delete('a')],
    ['list', (of) => pathsOf(of)],
  ];

  it.each(calls)('that fails temporarily is asked to %s again', async (_name, call) => {
    s3.fail({ kind: 'answers', status: 503 }, { kind: 'resets' });
    await call(blobs);
    expect(s3.asked).toHaveLength(3);
  });

  const passing: [string, S3Fault, RegExp][] = [
    [
      'answers 503',
      { kind: 'answers', status: 503, code: 'SlowDown' },
      /it answered with SlowDown, status 503/,
    ],
    ['answers 429', { kind: 'answers', status: 429 }, /it answered with status 429/],
    [
      'answers 400 RequestTimeout',
      { kind: 'answers', status: 400, code: 'RequestTimeout' },
      /it answered with RequestTimeout, status 400/,
    ],
    [
      'breaks the connection',
      { kind: 'resets' },
      /the connection to it failed \((ECONNRESET|UND_ERR_SOCKET)\)/,
    ],
    ['is silent', { kind: 'silent' }, /it was silent for 100 ms/],
    ['stops in the middle', { kind: 'stalls' }, /it was silent for 100 ms/],
    [
      'breaks off in the middle',
      { kind: 'breaks' },
      /the connection to it failed \((ECONNRESET|UND_ERR_SOCKET)\)/,
    ],
  ];
  eachFirstQuick(passing)(
    'that %s is asked again, and given up with a sentence',
    async (_what, diagnostic, because) => {
      const silent = diagnostic.kind === 'silent' || diagnostic.kind === 'stalls';
      const waiting = (timeoutMs: number) =>
        silent ? createS3Blobs(place(), access(), { ...QUICK, timeoutMs }) : blobs;
      s3.fail(diagnostic);
      // Enough for an answer, also on a busy machine.
      expect(String(await waiting(1_000).get('a'))).toBe('some bytes');
      s3.fail(diagnostic, diagnostic, diagnostic);
      await expect(waiting(100).get('a')).rejects.toMatchObject({
        code: 'storage.unavailable',
        message: expect.stringMatching(
          new RegExp(`^The S3 bucket artifacts cannot be used now: ${because.source}\\.$`),
        ),
      });
      if (!silent) expect(s3.asked).toHaveLength(2 + 3);
    },
  );

  it('that cannot be connected to is reported as such', async () => {
    const gone = await startS3();
    await gone.close();
    const nobody = createS3Blobs(place(), access({ endpoint: gone.url }), QUICK);
    await expect(nobody.put('a', 'x')).rejects.toMatchObject({
      code: 'storage.unavailable',
      message: 'The S3 bucket artifacts cannot be used now: the connection to it failed (ECONNREFUSED).',
    });
  });

  it('is retried with longer waits each time', async () => {
    s3.fail(...Array.from({ length: 2 }, (): S3Fault => ({ kind: 'resets' })));
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    const patient = createS3Blobs(place(), access(), { ...QUICK, backoffMs: 60, random: () => 1, wait });
    await patient.has('a');
    expect(waits).toEqual([60, 120]);
  });

  it('whose complete answer holds half of the bytes returns none', async () => {
    s3.fail({ kind: 'halves' });
    await expect(blobs.get('a')).rejects.toMatchObject({ code: 'blobs.damaged' });
    expect(s3.asked).toHaveLength(1);
  });

  it('that breaks off a stream ends it with an error, not with a shorter blob', async () => {
    s3.fail({ kind: 'breaks' });
    const pieces = await blobs.open('a');
    const reading = async () => {
      for await (const _ of pieces ?? []);
    };
    await expect(reading()).rejects.toMatchObject({ code: 'storage.unavailable' });
  });

  it('frees its connection when a reader of a stream has seen enough', { tags: 'slow' }, async () => {
    await blobs.put('large', 'x'.repeat(1_000_000));
    for (const _ of Array(3)) {
      for await (const piece of (await blobs.open('large')) ?? []) {
        expect(piece.byteLength).toBeGreaterThan(0);
        break;
      }
    }
    expect(await blobs.has('a')).toBe(true);
  });

  it.each<[string, S3Fault, RegExp]>([
    [
      'AccessDenied',
      { kind: 'answers', status: 403, code: 'AccessDenied' },
      /refuses this app \(AccessDenied, status 403\): its credentials must allow s3:GetObject, .* on the bucket\.$/,
    ],
    [
      'a wrong signature',
      { kind: 'answers', status: 403, code: 'SignatureDoesNotMatch' },
      /AWS_SECRET_ACCESS_KEY/,
    ],
    ['an unknown key', { kind: 'answers', status: 403, code: 'InvalidAccessKeyId' }, /AWS_ACCESS_KEY_ID/],
    ['an old token', { kind: 'answers', status: 400, code: 'ExpiredToken' }, /AWS_SESSION_TOKEN/],
    [
      'a wrong clock',
      { kind: 'answers', status: 403, code: 'RequestTimeTooSkewed' },
      /clock of this machine/,
    ],
    [
      'no bucket',
      { kind: 'answers', status: 404, code: 'NoSuchBucket' },
      /does not exist: make it, or correct/,
    ],
    [
      'another region',
      { kind: 'answers', status: 301, headers: { 'x-amz-bucket-region': 'us-west-2', location: 'http://x' } },
      /is in the region us-west-2: set AWS_REGION to that/,
    ],
    [
      'anything else',
      { kind: 'answers', status: 405, code: 'MethodNotAllowed' },
      /cannot use \(MethodNotAllowed/,
    ],
  ])(
    'that answers with %s is asked once, and reported in a sentence without its text',
    async (_what, diagnostic, says) => {
      s3.fail(diagnostic);
      const failure: unknown = await blobs.get('a').catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'storage.unavailable', message: expect.stringMatching(says) });
      const all = inspect(failure, { depth: 9 });
      for (const secret of [SECRET_KEY, ACCESS_KEY, 'you sent']) expect(all).not.toContain(secret);
      expect(s3.asked).toHaveLength(1);
    },
  );

  it('refuses requests without its keys', async () => {
    const withoutKeys = createS3Blobs(place(), access({ secretAccessKey: 'another' }), QUICK);
    await expect(withoutKeys.get('a')).rejects.toThrow(
      'refuses the signature: correct AWS_SECRET_ACCESS_KEY',
    );
    await expect(withoutKeys.has('a')).rejects.toThrow('refuses this app (status 403)');
  });

  it('gets the session token under the signature', async () => {
    const lent = createS3Blobs(place(), access({ sessionToken: 'lent+for/an=hour' }), QUICK);
    expect(await lent.has('a')).toBe(true);
    expect(s3.tokens.at(-1)).toBe('lent+for/an=hour');
  });

  it('is listed page by page, without invalid names', async () => {
    for (const path of ['b', 'c', 'd', 'e']) await blobs.put(path, path);
    await s3.putRaw(`${prefix}/`, '');
    await s3.putRaw(`${prefix}/.countersign/x`, '');
    await s3.putRaw(`${prefix}-other/x`, '');
    s3.asked.length = 0;
    s3.pageSize = 2;
    expect((await pathsOf(blobs)).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    s3.pageSize = 1_000;
    expect(s3.asked.length).toBeGreaterThan(2);
  });

  it('accepts a key of S3’s maximum length, and no longer one', async () => {
    const parts = (last: number) => [...Array<string>(4).fill('x'.repeat(200)), 'y'.repeat(last)].join('/');
    const room = 1_024 - `${prefix}/${parts(0)}`.length;
    await blobs.put(parts(room), 'x');
    await expect(blobs.put(parts(room + 1), 'x')).rejects.toMatchObject({ code: 'blobs.unsafe_path' });
  });
});

describe('a page of a list', () => {
  const page = (inner: string) =>
    `<?xml version="1.0"?><ListBucketResult xmlns="x">${inner}</ListBucketResult>`;
  const object = (key: string) =>
    `<Contents><Key>${key}</Key><LastModified>2026-01-05T12:00:00.000Z</LastModified><Size>3</Size></Contents>`;
  const keysIn = (xml: string) => parseListing(xml)?.objects.map(({ key }) => key);

  it('is read with its entities', () => {
    expect(keysIn(page(object('a&amp;lt;&#x41;&#66;&quot;')))).toEqual(['a&lt;AB"']);
  });

  it('is read with encoded keys if the store encodes them', () => {
    expect(keysIn(page(`<EncodingType>url</EncodingType>${object('a+b%2Bc%0A%C3%BC')}`))).toEqual([
      'a b+c\nü',
    ]);
  });

  it.each([
    ['cut short', page(object('a')).slice(0, -30)],
    ['another document', '<Error><Code>x</Code></Error>'],
    ['more pages and no place to continue', page(`<IsTruncated>true</IsTruncated>${object('a')}`)],
    ['an object without a size', page(object('a').replace(/<Size>.*<.Size>/, ''))],
    ['an object without a time', page(object('a').replace('2026', 'never'))],
    ['a key that cannot be decoded', page(`<EncodingType>url</EncodingType>${object('%E0%A4%A')}`)],
  ])('is invalid with %s', (_what, xml) => {
    expect(parseListing(xml)).toBeUndefined();
  });
});

describe('an address', () => {
  it.each([
    ['s3://artifacts', { bucket: 'artifacts', prefix: '' }],
    ['s3://artifacts/', { bucket: 'artifacts', prefix: '' }],
    ['s3://my.bucket/one/two/', { bucket: 'my.bucket', prefix: 'one/two/' }],
    ...[
      's3://',
      's3://ab',
      's3://Bucket/x',
      's3://a..b/x',
      's3://bucket/../x',
      's3://bucket//x',
      's3://bucket/a?b',
    ].map((url): [string, undefined] => [url, undefined]),
    ['s3://key:secret@bucket/x', undefined],
    ['file:data/artifacts', undefined],
  ])('%s', (url, place) => {
    expect(parseS3Url(url)).toEqual(place);
  });

  it.each([
    ['logs', {}, 'https://logs.s3.eu-central-1.amazonaws.com/'],
    ['my.logs', {}, 'https://s3.eu-central-1.amazonaws.com/my.logs/'],
    ['logs', { region: 'cn-north-1' }, 'https://logs.s3.cn-north-1.amazonaws.com.cn/'],
    ['logs', { endpoint: 'http://minio:9000' }, 'http://minio:9000/logs/'],
  ])('of the bucket %s with %j', (bucket, over, url) => {
    expect(bucketUrl(bucket, { ...access(), endpoint: undefined, ...over })).toBe(url);
  });

  it.each(['s3://bucket', 's3://Bucket/x'])('%s opens nothing without credentials', (url) => {
    expect(() => openBlobs(url)).toThrow(/ARTIFACTS_URL must be file:folder, .* with the credentials/);
  });
});

async function pathsOf(blobs: Blobs): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of blobs.list()) paths.push(path);
  return paths;
}
