import type { MiddlewareHandler } from 'hono';
import type { Env } from './frame.ts';

/**
 * What a browser may do with a page. No script, style or frame but our own files; forms go only to this server.
 * https://www.w3.org/TR/CSP3/
 */
export const secureHeaders: MiddlewareHandler<Env> = async (context, next) => {
  await next();
  const { headers } = context.res;
  const set = (name: string, value: string) => {
    if (!headers.has(name)) context.header(name, value);
  };
  set(
    'content-security-policy',
    [
      "default-src 'none'",
      `script-src 'self' 'nonce-${context.get('nonce')}'`,
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
  );
  set('x-content-type-options', 'nosniff');
  set('referrer-policy', 'same-origin');
  set('cross-origin-opener-policy', 'same-origin');
  set('cross-origin-resource-policy', 'same-origin');
  set('cache-control', 'private, no-store');
};
