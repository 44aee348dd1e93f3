/** Access to a bucket, from `ARTIFACTS_URL` and the standard AWS variables. */
export interface S3Access {
  /** Of a store other than Amazon's, such as MinIO; without a trailing slash. */
  endpoint: string | undefined;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
}

export interface S3Place {
  bucket: string;
  /** The prefix of all keys: empty, or with a trailing slash. */
  prefix: string;
}

/**
 * Parses `s3://bucket/prefix`; `undefined` if it is invalid. Bucket names follow Amazon's rules:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
 */
export function parseS3Url(url: string): S3Place | undefined {
  const [, bucket, path] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w.-]+)*)\/?$/.exec(url) ?? [];
  if (bucket === undefined || path === undefined || bucket.includes('..')) return undefined;
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.some((part) => part === '.' || part === '..')) return undefined;
  return { bucket, prefix: parts.map((part) => `${part}/`).join('') };
}

/**
 * The address of the bucket, with a trailing slash. Amazon requires the bucket in the host name. Other stores
 * rarely have a name and certificate per bucket, and no certificate matches a bucket with a dot, so there the
 * bucket is in the path. https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 */
export function bucketUrl(bucket: string, { endpoint, region }: S3Access): string {
  if (endpoint !== undefined) return `${endpoint}/${bucket}/`;
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.') ? `https://${host}/${bucket}/` : `https://${bucket}.${host}/`;
}

/** A key in a URL: everything except slashes is encoded as Amazon's signatures require (RFC 3986). */
export function encodeKey(key: string): string {
  return key
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll(/[!'()*]/g, encodeByte))
    .join('/');
}

function encodeByte(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}
