import { z } from 'zod';

/** A variable's text; an empty one counts as not set. */
export const optionalText = z.preprocess(
  (value) => (value === '' ? undefined : value),
  z.string().optional(),
);

/** The URL, or what is wrong with it. */
export function webUrl(value: string): URL | string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'must be an http or https URL';
  if (url.username || url.password || url.search || url.hash)
    return 'must have no user name, query or fragment';
  // `URL` allows more, such as the semicolon that separates directives of a content security policy.
  if (!/^[a-z0-9._:[\]-]+$/.test(url.hostname)) return 'must have a host of letters, digits, dots and dashes';
  return url;
}

export function withoutTrailingSlash(url: URL): string {
  return url.href.replace(/\/+$/, '');
}

export function refuse(ctx: z.RefinementCtx, message: string): never {
  ctx.addIssue({ code: 'custom', message });
  return z.NEVER;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export type Read<T> = { ok: true; config: T } | { ok: false; diagnostics: string[] };

export function read<T>(schema: z.ZodType<T>, env: Environment): Read<T> {
  const result = schema.safeParse(env);
  return result.success
    ? { ok: true, config: result.data }
    : { ok: false, diagnostics: diagnosticsOf(result.error) };
}

export function diagnosticsOf(error: z.ZodError, keyVariable = 'PRIVATE_KEY'): string[] {
  return error.issues.map(({ path: [name], message }) => {
    return `${name === 'key' ? keyVariable : String(name)} ${message}`;
  });
}
