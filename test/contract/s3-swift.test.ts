// @module-tag slow
import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openBlobs } from '../../src/composition/blobs.ts';
import { hasSwift, type SwiftServer, startSwift, WITHOUT_SWIFT } from '../support/swift.ts';
import { blobsContract } from './blobs.contract.ts';

const BUCKET = 'artifacts';

describe.skipIf(!hasSwift)(`S3 blobs on a real store, OpenStack Swift${WITHOUT_SWIFT}`, () => {
  let swift: SwiftServer;
  let stores = 0;

  beforeAll(async () => {
    swift = await startSwift();
    await asked('', { method: 'PUT' });
  });
  afterAll(() => swift?.stop());

  /** By a client of its own, so that nothing of the adapter is in it. */
  async function asked(key: string, request: RequestInit): Promise<Response> {
    const { endpoint, region, accessKeyId, secretAccessKey } = swift.access;
    const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });
    const answer = await client.fetch(`${endpoint}/${BUCKET}${key}`, request);
    expect(answer.ok, `${request.method} ${key}: ${answer.status}`).toBe(true);
    return answer;
  }

  blobsContract(() => {
    stores += 1;
    const prefix = `store-${stores}`;
    return {
      blobs: openBlobs(`s3://${BUCKET}/${prefix}`, swift.access),
      async damage(path, bytes) {
        const { headers } = await asked(`/${prefix}/${path}`, { method: 'HEAD' });
        await asked(`/${prefix}/${path}`, {
          method: 'PUT',
          body: Buffer.from(bytes),
          headers: { 'x-amz-meta-sha256': headers.get('x-amz-meta-sha256') ?? '' },
        });
      },
      forgetHash: async (path) => void (await asked(`/${prefix}/${path}`, { method: 'PUT', body: 'x' })),
    };
  });
});
