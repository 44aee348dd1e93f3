import { CountersignError } from '../../core/errors.ts';

/** An error that a retry may resolve; the message says what went wrong in this attempt. */
export class TransientError extends Error {}

/** Codes of transient failures whose status is not 5xx. */
const TRANSIENT_CODES: readonly (string | undefined)[] = ['RequestTimeout', 'SlowDown'];

export interface Refusal {
  status: number;
  /** From the response's XML; `undefined` if it has none, as in responses to HEAD. */
  code: string | undefined;
  /** The bucket's region, if it is another one than requested. */
  actualRegion: string | undefined;
}

/** Extracts only names in a plain format. Other content of the response must not get into our errors. */
export function refusalOf(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  body: string,
  asked: string,
): Refusal {
  const region = /^[a-z0-9-]{1,30}$/.exec(headers.get('x-amz-bucket-region') ?? '')?.[0];
  return {
    status,
    code: /<Code>([A-Za-z]{1,64})<\/Code>/.exec(body)?.[1],
    actualRegion: region === asked ? undefined : region,
  };
}

export function isTransient({ status, code }: Refusal): boolean {
  return status >= 500 || status === 429 || TRANSIENT_CODES.includes(code);
}

/** A sentence for the person who can fix it. */
export function refused(bucket: string, refusal: Refusal): CountersignError {
  return new CountersignError('storage.unavailable', `The S3 bucket ${bucket} ${remedy(refusal)}.`);
}

/** @param because what went wrong in the last attempt */
export function unavailable(bucket: string, because: string): CountersignError {
  return new CountersignError(
    'storage.unavailable',
    `The S3 bucket ${bucket} cannot be used now: ${because}.`,
  );
}

export function statusWords({ status, code }: Pick<Refusal, 'status' | 'code'>): string {
  return code === undefined ? `status ${status}` : `${code}, status ${status}`;
}

/** Codes of https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
function remedy({ status, code, actualRegion }: Refusal): string {
  if (actualRegion !== undefined) return `is in the region ${actualRegion}: set AWS_REGION to that`;
  switch (code) {
    case 'NoSuchBucket':
      return 'does not exist: make it, or correct ARTIFACTS_URL';
    case 'InvalidAccessKeyId':
      return 'does not know the access key: correct AWS_ACCESS_KEY_ID';
    case 'SignatureDoesNotMatch':
      return 'refuses the signature: correct AWS_SECRET_ACCESS_KEY';
    case 'ExpiredToken':
    case 'InvalidToken':
      return 'refuses the session token: set AWS_SESSION_TOKEN to a new one, with the keys that belong to it';
    case 'RequestTimeTooSkewed':
      return 'refuses the time of the request: set the clock of this machine';
  }
  const said = statusWords({ status, code });
  if (status === 401 || status === 403) {
    return (
      `refuses this app (${said}): its credentials must allow s3:GetObject, s3:PutObject and s3:DeleteObject ` +
      'on the objects, and s3:ListBucket on the bucket'
    );
  }
  return `answered what this app cannot use (${said}): look at ARTIFACTS_URL, AWS_REGION and AWS_ENDPOINT_URL_S3`;
}
