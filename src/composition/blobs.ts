import { redactedBlobs } from '../adapters/blobs/redacted-blobs.ts';
import { createFileBlobs } from '../adapters/files/file-blobs.ts';
import { createS3Blobs } from '../adapters/s3/s3-blobs.ts';
import { CountersignError } from '../core/errors.ts';
import { neverShow } from '../core/redact/redact.ts';
import type { Blobs } from '../ports/blobs.ts';
import { parseS3Url, type S3Access } from '../ports/s3-location.ts';
import { localPath } from './storage.ts';

/**
 * Opens the store of large artifacts that `ARTIFACTS_URL` names: `file:folder`, which is created if
 * necessary, or `s3://bucket/prefix`, to which it sends no request yet.
 * @param s3 the access to the bucket
 * @throws CountersignError `blobs.bad_url`, or `storage.unavailable` if the folder cannot be created
 */
export function openBlobs(artifactsUrl: string, s3?: S3Access): Blobs {
  const place = parseS3Url(artifactsUrl);
  if (place && s3) {
    neverShow('S3 secret access key', s3.secretAccessKey);
    if (s3.sessionToken !== undefined) neverShow('S3 session token', s3.sessionToken);
    return redactedBlobs(createS3Blobs(place, s3));
  }
  const folder = artifactsFolder(artifactsUrl);
  if (folder === undefined) {
    throw new CountersignError(
      'blobs.bad_url',
      'ARTIFACTS_URL must be file:folder, such as file:data/artifacts or file:/var/lib/countersign/artifacts, or ' +
        's3://bucket/prefix with the credentials of the bucket.',
    );
  }
  return redactedBlobs(createFileBlobs(folder));
}

/** The folder that `ARTIFACTS_URL` names, if it is not a bucket. */
export function artifactsFolder(artifactsUrl: string): string | undefined {
  return localPath(artifactsUrl, 'file:');
}
