import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { FORGED } from '../../messages/studio/words.ts';
import type { Env, Request } from './frame.ts';

const SECRET_BYTES = 32;

/** The secret that the forms of a sign-in prove to know. */
export function newFormSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * The secret under a mask that differs in each answer. Answers are compressed and can repeat what a request says, so
 * that their length would otherwise give the secret away bit by bit: https://breachattack.com
 */
export function masked(secret: string): string {
  const bytes = Buffer.from(secret, 'base64url');
  const mask = randomBytes(bytes.length);
  return Buffer.concat([mask, xor(mask, bytes)]).toString('base64url');
}

export function isMasked(token: string, secret: string): boolean {
  const given = Buffer.from(token, 'base64url');
  const bytes = Buffer.from(secret, 'base64url');
  if (given.length !== 2 * bytes.length || bytes.length === 0) return false;
  return timingSafeEqual(xor(given.subarray(0, bytes.length), given.subarray(bytes.length)), bytes);
}

function xor(one: Uint8Array, other: Uint8Array): Buffer {
  return Buffer.from(one.map((byte, index) => byte ^ (other[index] ?? 0)));
}

/** Its requests change nothing. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a request that changes something and that another site could have caused. Browsers name the site that a
 * form comes from (https://fetch.spec.whatwg.org/#origin-header), and the form carries the secret of the sign-in, in
 * its field `csrf` or in the header `X-CSRF-Token`. A request that carries no cookie needs neither, because no browser
 * adds other credentials by itself.
 * @param isProven whether the token belongs to whoever sends the request; `undefined` for somebody without a form
 * secret
 */
export function refuseForgeries(
  publicUrl: string | undefined,
  isProven: (context: Request, token: string) => Promise<boolean | undefined>,
): MiddlewareHandler<Env> {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return async (context, next) => {
    const { req } = context;
    if (SAFE.has(req.method) || req.header('cookie') === undefined) return next();
    const origin = req.header('origin');
    const site = req.header('sec-fetch-site');
    const isForeign =
      (site !== undefined && site !== 'same-origin' && site !== 'none') ||
      (origin !== undefined && origin !== own && URL.parse(origin)?.host !== req.header('host'));
    if (isForeign || (origin === undefined && site === undefined)) return context.text(`${FORGED}\n`, 403);
    const token = req.header('x-csrf-token') ?? (await fieldOf(context));
    return (await isProven(context, token)) === false ? context.text(`${FORGED}\n`, 403) : next();
  };
}

async function fieldOf({ req }: Request): Promise<string> {
  const type = req.header('content-type') ?? '';
  if (!/^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(type)) return '';
  const { csrf } = await req.parseBody();
  return typeof csrf === 'string' ? csrf : '';
}
