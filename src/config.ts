import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { LOG_LEVELS } from './core/log.ts';

/**
 * A variable's text. An empty one counts as not set: that is what `FOO=` in an env file or an unset substitution in
 * a compose file gives, and nobody means an empty secret by it.
 */
const text = (fault: string) =>
  z.preprocess((value) => (value === '' ? undefined : value), z.string({ error: fault }));

const optionalText = z.preprocess((value) => (value === '' ? undefined : value), z.string().optional());

const databaseUrl = optionalText.transform((value, ctx) => {
  if (value === undefined) return 'sqlite:data/countersign.db';
  return /^sqlite:.+$/s.test(value)
    ? value
    : refuse(ctx, 'must be sqlite:<path of a file>, such as sqlite:data/countersign.db');
});

/** How to reach this process and where it keeps things; the same before and after the App is registered. */
const surroundingsSchema = z
  .object({
    GITHUB_API_URL: optionalText.transform((value, ctx) => {
      const url = value === undefined ? new URL('https://api.github.com') : webUrl(value);
      if (typeof url === 'string')
        return refuse(ctx, `${url}, such as https://api.github.com or https://HOST/api/v3`);
      if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
        return refuse(
          ctx,
          'must be https; plain http is allowed for a loopback host only, as it carries tokens',
        );
      }
      return withoutTrailingSlash(url);
    }),
    // 0.0.0.0, because the usual place is a container, whose loopback no proxy and no health check can reach.
    HOST: optionalText.transform((value) => value ?? '0.0.0.0'),
    PORT: optionalText.transform((value, ctx) => {
      if (value === undefined) return 3000;
      const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
      return port <= 65_535 ? port : refuse(ctx, 'must be a whole number from 0 (any free port) to 65535');
    }),
    PUBLIC_URL: optionalText.transform((value, ctx) => {
      if (value === undefined) return undefined;
      const url = webUrl(value);
      return typeof url === 'string'
        ? refuse(ctx, `${url}, such as https://countersign.example.com`)
        : withoutTrailingSlash(url);
    }),
    DATABASE_URL: databaseUrl,
    ARTIFACTS_URL: optionalText.transform((value, ctx) => {
      if (value === undefined) return 'file:data/artifacts';
      return /^file:.+$/s.test(value)
        ? value
        : refuse(ctx, 'must be file:<path of a folder>, such as file:data/artifacts');
    }),
    LOG_LEVEL: optionalText.transform((value, ctx) => {
      const level = LOG_LEVELS.find((known) => known === (value ?? 'info'));
      return level ?? refuse(ctx, `must be one of ${LOG_LEVELS.join(', ')}`);
    }),
  })
  .transform((env) => ({
    githubApiUrl: env.GITHUB_API_URL,
    host: env.HOST,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL,
    databaseUrl: env.DATABASE_URL,
    artifactsUrl: env.ARTIFACTS_URL,
    logLevel: env.LOG_LEVEL,
  }));

const MISSING_SECRET = 'is missing; it is the webhook secret set in the GitHub App, and there is no default';

/** Who this process is to GitHub. */
const registrationSchema = z
  .object({
    APP_ID: text(
      'is missing although other settings of the App are there; it is the number on its settings page',
    ).transform((value, ctx) => {
      const id = /^[1-9]\d{0,14}$/.test(value) ? Number(value) : undefined;
      return id ?? refuse(ctx, 'must be the number of the GitHub App, such as 123456');
    }),
    WEBHOOK_SECRET: text(MISSING_SECRET).transform((value, ctx) => {
      if (value.length < 16) return refuse(ctx, 'must have at least 16 characters');
      // A line end that slipped into a secret file makes every signature wrong, and nothing would say why.
      if (value !== value.trim()) return refuse(ctx, 'must not begin or end with white space');
      return value;
    }),
    key: z.custom<FoundKey>().transform((key, ctx) => {
      if ('fault' in key) return refuse(ctx, key.fault);
      const pem = rsaPrivateKey(key.pem);
      return (
        pem ??
        refuse(ctx, 'must be an unencrypted RSA private key in PEM form, as GitHub lets you download it')
      );
    }),
  })
  .transform((env) => ({ appId: env.APP_ID, webhookSecret: env.WEBHOOK_SECRET, privateKey: env.key }));

type Surroundings = z.infer<typeof surroundingsSchema>;
type Registration = z.infer<typeof registrationSchema>;

/** `setup`: no App is registered yet, so all that can be offered is the page that registers one. */
export type Config = (Surroundings & { kind: 'setup' }) | (Surroundings & Registration & { kind: 'app' });

export type AppConfig = Extract<Config, { kind: 'app' }>;
export type SetupConfig = Extract<Config, { kind: 'setup' }>;

export type ConfigResult = { ok: true; config: Config } | { ok: false; faults: string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings from the environment: the only place that does. All faults are found at once, each a sentence
 * that names the variable and says what is allowed; no value is ever repeated in one, since it may be a secret.
 *
 * Without `APP_ID`, `PRIVATE_KEY`, `PRIVATE_KEY_PATH` and `WEBHOOK_SECRET` the result is the `setup` variant. With some of them
 * only it is a fault: a lost `APP_ID` must not turn a running installation into an open setup page.
 */
export function readConfig(
  env: Environment,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): ConfigResult {
  const surroundings = surroundingsSchema.safeParse(env);
  if (!REGISTRATION_VARIABLES.some((name) => env[name])) {
    return surroundings.success
      ? { ok: true, config: { kind: 'setup', ...surroundings.data } }
      : { ok: false, faults: faultsOf(surroundings.error, 'PRIVATE_KEY') };
  }
  const [keyVariable, key] = findKey(env, readFile);
  const registration = registrationSchema.safeParse({ ...env, key });
  if (surroundings.success && registration.success) {
    return { ok: true, config: { kind: 'app', ...surroundings.data, ...registration.data } };
  }
  return {
    ok: false,
    faults: [registration, surroundings].flatMap((part) =>
      part.success ? [] : faultsOf(part.error, keyVariable),
    ),
  };
}

const storageSchema = z
  .object({ DATABASE_URL: databaseUrl })
  .transform((env) => ({ databaseUrl: env.DATABASE_URL }));

export type StorageConfigResult =
  | { ok: true; config: z.infer<typeof storageSchema> }
  | { ok: false; faults: string[] };

/**
 * Reads only where the database is: what the command line needs beside a running server, on a machine or in a shell
 * that may hold none of the App's secrets.
 */
export function readStorageConfig(env: Environment): StorageConfigResult {
  const read = storageSchema.safeParse(env);
  return read.success
    ? { ok: true, config: read.data }
    : { ok: false, faults: faultsOf(read.error, 'PRIVATE_KEY') };
}

const REGISTRATION_VARIABLES = ['APP_ID', 'PRIVATE_KEY', 'PRIVATE_KEY_PATH', 'WEBHOOK_SECRET'] as const;

type FoundKey = { pem: string } | { fault: string };

/** The key's text, and the variable to name when something is wrong with it. */
function findKey(env: Environment, readFile: (path: string) => string): [variable: string, key: FoundKey] {
  const { PRIVATE_KEY: pem, PRIVATE_KEY_PATH: path } = env;
  if (pem && path)
    return ['PRIVATE_KEY', { fault: 'and PRIVATE_KEY_PATH are both set; set only one of them' }];
  if (path) {
    try {
      return ['PRIVATE_KEY_PATH', { pem: readFile(path) }];
    } catch (error) {
      return ['PRIVATE_KEY_PATH', { fault: `names a file that cannot be read (${codeOf(error)})` }];
    }
  }
  if (!pem)
    return ['PRIVATE_KEY', { fault: 'is missing; set it to the key, or PRIVATE_KEY_PATH to its file' }];
  // Env files and many secret stores hold one line a value, so line ends arrive written out as \n.
  return ['PRIVATE_KEY', { pem: pem.replaceAll('\\n', '\n') }];
}

/** The key as PKCS #8, which every crypto library reads; `undefined` when it is no RSA private key. */
function rsaPrivateKey(pem: string): string | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa'
      ? key.export({ type: 'pkcs8', format: 'pem' }).toString()
      : undefined;
  } catch {
    return undefined;
  }
}

/** The URL, or what is wrong with it. */
function webUrl(value: string): URL | string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'must be an http or https URL';
  if (url.username || url.password || url.search || url.hash)
    return 'must have no user name, query or fragment';
  return url;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function withoutTrailingSlash(url: URL): string {
  return url.href.replace(/\/+$/, '');
}

function refuse(ctx: z.RefinementCtx, message: string): never {
  ctx.addIssue({ code: 'custom', message });
  return z.NEVER;
}

function faultsOf(error: z.ZodError, keyVariable: string): string[] {
  return error.issues.map(({ path: [name], message }) => {
    return `${name === 'key' ? keyVariable : String(name)} ${message}`;
  });
}

/** The system's name of the error (`ENOENT`); its message would repeat the path, which may come from a secret store. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
