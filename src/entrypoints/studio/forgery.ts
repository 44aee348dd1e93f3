import type { MiddlewareHandler } from 'hono';
import { FORGED, NO_FORM } from '../../messages/studio/words.ts';
import type { Env, Request } from './frame.ts';

/** Its requests change nothing. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** How browsers send the forms of our pages. */
const FORM = /^application\/x-www-form-urlencoded *(;|$)/i;

/**
 * Refuses a request that changes something and that another site could have caused. Browsers name the site that a
 * form comes from (https://fetch.spec.whatwg.org/#origin-header), and the form carries the secret of the sign-in, in
 * its field `csrf` or in the header `X-CSRF-Token`. A request that carries no cookie needs neither, because no browser
 * adds other credentials by itself.
 * @param isProven whether the token belongs to the person who sends the request; `undefined` for somebody without a form
 * secret
 */
export function refuseForgeries(
  publicUrl: string | undefined,
  isProven: (context: Request, token: string) => Promise<boolean | undefined>,
): MiddlewareHandler<Env> {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return async (context, next) => {
    const { req } = context;
    if (SAFE.has(req.method)) return next();
    const type = req.header('content-type');
    // Other kinds of bodies are sent by no page, and what reads them fails on a broken one.
    if (type !== undefined && !FORM.test(type)) return context.text(`${NO_FORM}\n`, 415);
    if (req.header('cookie') === undefined) return next();
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
  const { csrf } = await req.parseBody();
  return typeof csrf === 'string' ? csrf : '';
}
