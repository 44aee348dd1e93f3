import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEmulator } from 'emulate';

export const BUCKET = 'artifacts';
export const ACCESS_KEY = 'AKIDEXAMPLE';
export const SECRET_KEY = 'not/a+secret-of-anybody-in-particular';

/** What the next request gets instead of an answer. */
export type S3Fault =
  | { kind: 'answers'; status: number; code?: string; headers?: Record<string, string> }
  /** The connection breaks before the first byte. */
  | { kind: 'resets' }
  /** No answer comes. */
  | { kind: 'silent' }
  /** The head and half of the body come, and then nothing, or the connection breaks. */
  | { kind: 'stalls' }
  | { kind: 'breaks' }
  /** A complete answer that holds half of what it should. */
  | { kind: 'halves' };

export interface S3Store {
  /** Its address, as for `AWS_ENDPOINT_URL_S3`. */
  url: string;
  /** Its requests: `GET /artifacts/a`. */
  asked: string[];
  /** The session tokens that came with a valid signature. */
  tokens: unknown[];
  /** How many objects a list holds at most. */
  pageSize: number;
  fail(...diagnostics: S3Fault[]): void;
  /** The address of the store behind the proxy. */
  raw: string;
  /** Stores an object without any checks. */
  putRaw(key: string, bytes: Uint8Array | string, headers?: Record<string, string>): Promise<void>;
  close(): Promise<void>;
}

/** An emulated S3 behind a proxy that checks every signature itself, and fails when told. */
export async function startS3(): Promise<S3Store> {
  const emulator = await createEmulator({
    service: 'aws',
    port: 0,
    seed: { aws: { s3: { buckets: [{ name: BUCKET }] } } },
  });
  const diagnostics: S3Fault[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const body = Buffer.concat(await request.toArray());
    store.asked.push(`${method} ${url}`);
    const diagnostic = diagnostics.shift();
    if (diagnostic?.kind === 'silent') return;
    if (diagnostic?.kind === 'resets') return void response.destroy();
    if (diagnostic?.kind === 'answers')
      return refuse(response, diagnostic.status, diagnostic.code, diagnostic.headers);
    const wrong = signatureDiagnostic(request, body);
    if (wrong !== undefined) return refuse(response, 403, wrong);
    store.tokens.push(request.headers['x-amz-security-token']);
    const found = await fetch(
      `${emulator.url}${url}${url.includes('list-type') ? `&max-keys=${store.pageSize}` : ''}`,
      {
        method,
        headers: Object.entries(request.headers).filter(
          (header): header is [string, string] =>
            typeof header[1] === 'string' && /^(content-type|x-amz-meta-.*)$/.test(header[0]),
        ),
        ...(method === 'PUT' ? { body } : {}),
      },
    );
    const bytes = Buffer.from(await found.arrayBuffer());
    const headers = Object.fromEntries(
      [...found.headers].filter(([name]) => /^(content-|last-|x-amz)/.test(name)),
    );
    const half = bytes.subarray(0, bytes.byteLength / 2);
    if (diagnostic?.kind === 'halves') {
      return void response
        .writeHead(found.status, { ...headers, 'content-length': half.byteLength })
        .end(half);
    }
    response.writeHead(found.status, headers);
    if (diagnostic === undefined) return void response.end(bytes);
    response.write(half, () => {
      if (diagnostic.kind === 'breaks') response.destroy();
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const store: S3Store = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    raw: emulator.url,
    asked: [],
    tokens: [],
    pageSize: 1_000,
    fail: (...more) => void diagnostics.push(...more),
    async putRaw(key, bytes, headers = {}) {
      const path = key.split('/').map(encodeURIComponent).join('/');
      const body = Buffer.from(bytes);
      await fetch(`${emulator.url}/${BUCKET}/${path}`, { method: 'PUT', headers, body });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await emulator.close();
    },
  };
  return store;
}

function refuse(
  response: ServerResponse,
  status: number,
  code?: string,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, headers)
    .end(
      code === undefined
        ? ''
        : `<Error><Code>${code}</Code><Message>you sent ${SECRET_KEY}</Message></Error>`,
    );
}

/**
 * Signature version 4 as Amazon describes it, written a second time so that the code that signs does not check itself:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
function signatureDiagnostic(
  { method, url = '/', headers }: IncomingMessage,
  body: Buffer,
): string | undefined {
  const bodyHash = createHash('sha256').update(body).digest('hex');
  if (headers['x-amz-content-sha256'] !== bodyHash) return 'XAmzContentSHA256Mismatch';
  const [, date = '', region = '', names = '', signature = ''] =
    new RegExp(
      `^AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/(\\d{8})/([a-z0-9-]+)/s3/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$`,
    ).exec(headers.authorization ?? '') ?? [];
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const query = [...searchParams]
    .map((pair) => pair.map((text) => encodeURIComponent(text).replaceAll(/[!'()*]/g, hexOf)).join('='))
    .sort()
    .join('&');
  const signed = names.split(';');
  const must = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  if (!must.every((name) => signed.includes(name))) return 'AccessDenied';
  const canonical = [
    method,
    pathname,
    query,
    ...signed.map((name) => `${name}:${String(headers[name])}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const toSign = [
    'AWS4-HMAC-SHA256',
    headers['x-amz-date'],
    `${date}/${region}/s3/aws4_request`,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n');
  const key = [date, region, 's3', 'aws4_request'].reduce<Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    Buffer.from(`AWS4${SECRET_KEY}`),
  );
  return createHmac('sha256', key).update(toSign).digest('hex') === signature
    ? undefined
    : 'SignatureDoesNotMatch';
}

function hexOf(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}
