import { CountersignError } from '../../core/errors.ts';

/** Thrown for what another attempt may mend; the message says what was wrong with this one. */
export class Passing extends Error {}

/** What stores call a failure that passes although its status is not 5xx. */
const PASSING_CODES: readonly (string | undefined)[] = ['RequestTimeout', 'SlowDown'];

export interface Refusal {
  status: number;
  /** As in the answer's XML; `undefined` when it has none, as answers to HEAD. */
  code: string | undefined;
  /** Where the bucket is, when that is another region than the one asked. */
  elsewhere: string | undefined;
}

/** Takes no more of an answer than names of a plain form: whatever else the store says is not for our errors. */
export function refusalOf(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  body: string,
  asked: string,
): Refusal {
  const region = /^[a-z0-9-]{1,30}$/.exec(headers.get('x-amz-bucket-region') ?? '')?.[0];
  return {
    status,
    code: /<Code>([A-Za-z]{1,64})<\/Code>/.exec(body)?.[1],
    elsewhere: region === asked ? undefined : region,
  };
}

export function isPassing({ status, code }: Refusal): boolean {
  return status >= 500 || status === 429 || PASSING_CODES.includes(code);
}

/** A sentence for whoever can mend it. */
export function refused(bucket: string, refusal: Refusal): CountersignError {
  return new CountersignError('storage.unavailable', `The S3 bucket ${bucket} ${remedy(refusal)}.`);
}

/** @param because what was wrong with the last attempt. */
export function outOfReach(bucket: string, because: string): CountersignError {
  return new CountersignError(
    'storage.unavailable',
    `The S3 bucket ${bucket} cannot be used now: ${because}.`,
  );
}

export function statusWords({ status, code }: Pick<Refusal, 'status' | 'code'>): string {
  return code === undefined ? `status ${status}` : `${code}, status ${status}`;
}

/** Codes as in https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
function remedy({ status, code, elsewhere }: Refusal): string {
  if (elsewhere !== undefined) return `is in the region ${elsewhere}: set AWS_REGION to that`;
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
