import { z } from 'zod';
import { isLoopback } from '../core/loopback.ts';
import {
  type Environment,
  optionalText,
  type Read,
  read,
  refuse,
  webUrl,
  withoutTrailingSlash,
} from './fields.ts';

/*
 * Where the database and GitHub are. Most commands need no other setting, and nothing else of this folder.
 */

/** The host may be left out, for the server of this machine, or a parameter. */
export function isPostgresUrl(value: string): boolean {
  return /^postgres(ql)?:\/\/[^\s/]*\/[^\s/?]+(\?\S*)?$/.test(value);
}

/** The address of a database as people may read it: without user, password and parameters. */
export function shownDatabaseUrl(value: string): string {
  return value.replace(/^(postgres(?:ql)?:\/\/)(?:[^@/]*@)?([^?]*)(\?.*)?$/s, '$1$2');
}

export const databaseUrl = optionalText.transform((value, ctx) => {
  if (value === undefined) return 'sqlite:data/countersign.db';
  return /^sqlite:.+$/s.test(value) || isPostgresUrl(value)
    ? value
    : refuse(
        ctx,
        'must be sqlite:<path of a file>, such as sqlite:data/countersign.db, or postgres://<user>:<password>@<host>/<database>',
      );
});

export const apiUrl = optionalText.transform((value, ctx) => {
  const url = value === undefined ? new URL('https://api.github.com') : webUrl(value);
  if (typeof url === 'string')
    return refuse(ctx, `${url}, such as https://api.github.com or https://HOST/api/v3`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return refuse(ctx, 'must be https; plain http is allowed for a loopback host only, as it carries tokens');
  }
  return withoutTrailingSlash(url);
});

const storageSchema = z
  .object({ DATABASE_URL: databaseUrl })
  .transform((env) => ({ databaseUrl: env.DATABASE_URL }));

/**
 * Reads only where the database is, for the command line beside a running server, whose environment may have
 * none of the App's secrets.
 */
export function readStorageConfig(env: Environment): Read<z.infer<typeof storageSchema>> {
  return read(storageSchema, env);
}

/**
 * GitHub's pages for an API address: `https://api.github.com` and an enterprise's `https://api.NAME.ghe.com`
 * have a separate host, `https://HOST/api/v3` is on GitHub's own host.
 * https://docs.github.com/en/enterprise-server/rest/using-the-rest-api/getting-started-with-the-rest-api
 */
export function gitHubPages(apiUrl: string): string {
  const { origin, protocol, hostname } = new URL(apiUrl);
  const hasSeparateHost = hostname === 'api.github.com' || /^api\.[a-z0-9-]+\.ghe\.com$/.test(hostname);
  return hasSeparateHost ? `${protocol}//${hostname.slice('api.'.length)}` : origin;
}

/**
 * The address of the API for that of GitHub's pages: the opposite of `gitHubPages`. `undefined` if it cannot be one.
 */
export function apiOfPages(pages: string): string | undefined {
  const { origin, protocol, hostname, pathname } = new URL(pages);
  const hasSeparateHost = hostname === 'github.com' || /^[a-z0-9-]+\.ghe\.com$/.test(hostname);
  const read = apiUrl.safeParse(hasSeparateHost ? `${protocol}//api.${hostname}` : `${origin}/api/v3`);
  return read.success && pathname === '/' ? read.data : undefined;
}

/** The pages for links to evidence, for a process that only shows it. `null` if the address is invalid. */
export function readPages(env: Environment): { github: string | null } {
  const api = apiUrl.safeParse(env.GITHUB_API_URL);
  return { github: api.success ? gitHubPages(api.data) : null };
}
