import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '../core/log.ts';
import { ROLLOUT_LEVELS } from '../domain/policy/rollout.ts';
import type { AgentName } from '../domain/skill/agent-file.ts';
import { parseS3Url, type S3Access } from '../ports/s3-location.ts';
import type { SettingInForce } from '../ports/settings.ts';
import { apiUrl, databaseUrl } from './addresses.ts';
import { agentsSchema } from './agents.ts';
import {
  diagnosticsOf,
  type Environment,
  optionalText,
  type Read,
  read,
  refuse,
  webUrl,
  withoutTrailingSlash,
} from './fields.ts';
import { type MetricsAccess, metricsSchema } from './metrics.ts';
import { modelSchema } from './model.ts';
import { type Retention, retentionSchema } from './retention.ts';
import { type Roles, rolesSchema } from './roles.ts';
import { settingsInForce } from './settings.ts';
import { type SkillIndexesConfig, skillIndexesSchema } from './skill-indexes.ts';
import { type StudioConfig, studioSchema } from './studio.ts';
import { type TracingConfig, tracingSchema } from './tracing.ts';
import { type WebhooksConfig, webhooksSchema } from './webhooks.ts';
import { type Workers, workersSchema } from './workers.ts';

/**
 * A variable's text. An empty one counts as not set: `FOO=` in an env file and an unset substitution in a
 * compose file produce it, and an empty secret is never intended.
 */
const text = (diagnostic: string) =>
  z.preprocess((value) => (value === '' ? undefined : value), z.string({ error: diagnostic }));

const publicUrl = optionalText.transform((value, ctx) => {
  if (value === undefined) return undefined;
  const url = webUrl(value);
  return typeof url === 'string'
    ? refuse(ctx, `${url}, such as https://countersign.example.com`)
    : withoutTrailingSlash(url);
});

/** Addresses and locations of this process, the same before and after the App is registered. */
const baseSchema = z
  .object({
    GITHUB_API_URL: apiUrl,
    // 0.0.0.0, because most deployments are containers, whose loopback no proxy and no health check can
    // reach.
    HOST: optionalText.transform((value) => value ?? '0.0.0.0'),
    PORT: optionalText.transform((value, ctx) => {
      if (value === undefined) return 3000;
      const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
      return port <= 65_535 ? port : refuse(ctx, 'must be a whole number from 0 (any free port) to 65535');
    }),
    PUBLIC_URL: publicUrl,
    DATABASE_URL: databaseUrl,
    COUNTERSIGN_MERGING: optionalText.transform((value, ctx) =>
      value === undefined || value === 'on' || value === 'off' ? value : refuse(ctx, 'must be on or off'),
    ),
    COUNTERSIGN_ROLLOUT: optionalText.transform((value, ctx) =>
      value === undefined
        ? undefined
        : (ROLLOUT_LEVELS.find((level) => level === value) ??
          refuse(ctx, `must be one of ${ROLLOUT_LEVELS.join(', ')}`)),
    ),
    COUNTERSIGN_SHELL: optionalText.transform((value, ctx) =>
      value === undefined || value === 'allow' ? value : refuse(ctx, 'must be allow, or unset'),
    ),
    LOG_LEVEL: optionalText.transform((value, ctx) => {
      const level = LOG_LEVELS.find((known) => known === (value ?? 'info'));
      return level ?? refuse(ctx, `must be one of ${LOG_LEVELS.join(', ')}`);
    }),
    LOG_FORMAT: optionalText.transform((value, ctx) => {
      const format = LOG_FORMATS.find((known) => known === value);
      return value === undefined ? undefined : (format ?? refuse(ctx, `must be ${LOG_FORMATS.join(' or ')}`));
    }),
  })
  .transform((env) => ({
    githubApiUrl: env.GITHUB_API_URL,
    host: env.HOST,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL,
    databaseUrl: env.DATABASE_URL,
    logLevel: env.LOG_LEVEL,
    ...(env.LOG_FORMAT === undefined ? {} : { logFormat: env.LOG_FORMAT }),
    ...(env.COUNTERSIGN_MERGING === 'off' ? { merging: 'off' as const } : {}),
    ...(env.COUNTERSIGN_ROLLOUT !== undefined && env.COUNTERSIGN_ROLLOUT !== 'enforce'
      ? { rollout: env.COUNTERSIGN_ROLLOUT }
      : {}),
    ...(env.COUNTERSIGN_SHELL === 'allow' ? { shell: 'allow' as const } : {}),
  }));

/**
 * Where large artifacts are stored. The S3 variables are those of Amazon's own tools; the one for S3 takes
 * precedence over the one for all services:
 * https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html. They are read only if
 * ARTIFACTS_URL is an s3: URL, because they may be set for another program.
 */
const artifactsSchema = z
  .object({
    ARTIFACTS_URL: optionalText.transform((value, ctx) => {
      if (value === undefined) return 'file:data/artifacts';
      return /^file:.+$/s.test(value) || parseS3Url(value)
        ? value
        : refuse(
            ctx,
            'must be file:<path of a folder>, such as file:data/artifacts, or s3://<bucket>/<prefix>',
          );
    }),
    AWS_ENDPOINT_URL_S3: optionalText,
    AWS_ENDPOINT_URL: optionalText,
    AWS_REGION: optionalText,
    AWS_DEFAULT_REGION: optionalText,
    AWS_ACCESS_KEY_ID: optionalText,
    AWS_SECRET_ACCESS_KEY: optionalText,
    AWS_SESSION_TOKEN: optionalText,
  })
  .transform((env, ctx): { artifactsUrl: string; s3?: S3Access } => {
    const artifactsUrl = env.ARTIFACTS_URL;
    if (!parseS3Url(artifactsUrl)) return { artifactsUrl };
    const diagnostic = (name: string, message: string) => {
      ctx.addIssue({ code: 'custom', path: [name], message });
      return '';
    };
    const missing = (name: string) => diagnostic(name, 'is missing; ARTIFACTS_URL names an S3 bucket');
    const endpointName = env.AWS_ENDPOINT_URL_S3 === undefined ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3';
    const given = env[endpointName];
    const endpoint = given === undefined ? undefined : webUrl(given);
    if (typeof endpoint === 'string') diagnostic(endpointName, `${endpoint}, such as http://minio:9000`);
    const regionName = env.AWS_REGION === undefined ? 'AWS_DEFAULT_REGION' : 'AWS_REGION';
    // Other stores than Amazon's use this name for their only region, or ignore it.
    const region = env[regionName] ?? (given === undefined ? missing('AWS_REGION') : 'us-east-1');
    if (!/^[a-z0-9-]{0,30}$/.test(region))
      diagnostic(regionName, 'must be the name of a region, such as eu-central-1');
    const accessKeyId = env.AWS_ACCESS_KEY_ID ?? missing('AWS_ACCESS_KEY_ID');
    const secretAccessKey = env.AWS_SECRET_ACCESS_KEY ?? missing('AWS_SECRET_ACCESS_KEY');
    return {
      artifactsUrl,
      s3: {
        endpoint: endpoint instanceof URL ? withoutTrailingSlash(endpoint) : undefined,
        region,
        accessKeyId,
        secretAccessKey,
        sessionToken: env.AWS_SESSION_TOKEN,
      },
    };
  });

const MISSING_SECRET = 'is missing; it is the webhook secret set in the GitHub App, and there is no default';

/** This process's identity on GitHub. */
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
      // A line end that got into a secret file makes every signature invalid, and no error would say why.
      if (value !== value.trim()) return refuse(ctx, 'must not begin or end with white space');
      return value;
    }),
    key: z.custom<FoundKey>().transform((key, ctx) => {
      if ('diagnostic' in key) return refuse(ctx, key.diagnostic);
      const pem = rsaPrivateKey(key.pem);
      return (
        pem ??
        refuse(ctx, 'must be an unencrypted RSA private key in PEM form, as GitHub lets you download it')
      );
    }),
  })
  .transform((env) => ({ appId: env.APP_ID, webhookSecret: env.WEBHOOK_SECRET, privateKey: env.key }));

/** The settings that do not depend on who holds the App's key and receives its webhooks. */
export type BaseConfig = z.infer<typeof baseSchema> &
  z.infer<typeof artifactsSchema> &
  z.infer<typeof modelSchema> & { metricsAccess: MetricsAccess } & {
    agents?: Readonly<Partial<Record<AgentName, string>>>;
    /** Without it, everything is kept forever. */
    retention?: Retention;
    /** Without it, no chat is notified. */
    chat?: WebhooksConfig;
    /** Without it, no index of skills is checked for new versions. */
    skillIndexes?: SkillIndexesConfig;
    /** Without it, no traces are sent. */
    tracing?: TracingConfig;
    /** Without it, the queue's own limits. */
    workers?: Workers;
    /** Without it, all. */
    roles?: Roles;
    /** The browser interface; without it, there is none. */
    studio?: StudioConfig;
    /** All of this as operators see it, without secrets. */
    settings: readonly SettingInForce[];
  };
type Registration = z.infer<typeof registrationSchema>;

/** `setup`: no App is registered yet, so only the setup page is available. */
export type Config = (BaseConfig & { kind: 'setup' }) | (BaseConfig & Registration & { kind: 'app' });

export type AppConfig = Extract<Config, { kind: 'app' }>;
export type SetupConfig = Extract<Config, { kind: 'setup' }>;

export type ConfigResult = Read<Config>;

/**
 * Reads the settings from the environment; no other code does. Reports all errors at once, each as a sentence
 * that names the variable and what is allowed. No value is ever quoted, because it may be a secret.
 *
 * Without `APP_ID`, `PRIVATE_KEY`, `PRIVATE_KEY_PATH` and `WEBHOOK_SECRET` the result is the `setup` variant.
 * With only some of them it is an error: a lost `APP_ID` must not turn a running installation into an open
 * setup page.
 */
export function readConfig(
  env: Environment,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): ConfigResult {
  const base = readBaseConfig(env);
  if (!namesAnApp(env)) {
    if (!base.ok) return base;
    // Anybody who reaches the setup page decides which App this is, so it listens on loopback unless the
    // operator sets HOST.
    const host = env.HOST ? base.config.host : '127.0.0.1';
    return { ok: true, config: { kind: 'setup', ...base.config, host } };
  }
  const [keyVariable, key] = findKey(env, readFile);
  const registration = registrationSchema.safeParse({ ...env, key });
  if (base.ok && registration.success) {
    const config = { ...base.config, ...registration.data };
    return { ok: true, config: { kind: 'app', ...config, settings: settingsInForce(config, env) } };
  }
  return {
    ok: false,
    diagnostics: [
      ...(registration.success ? [] : diagnosticsOf(registration.error, keyVariable)),
      ...(base.ok ? [] : base.diagnostics),
    ],
  };
}

/** Reads all settings but those of the App itself, for an app in somebody else's server. */
export function readBaseConfig(env: Environment): Read<BaseConfig> {
  const base = baseSchema.safeParse(env);
  const artifacts = artifactsSchema.safeParse(env);
  const model = modelSchema.safeParse(env);
  const agents = agentsSchema.safeParse(env);
  const metrics = metricsSchema.safeParse(env);
  const retention = retentionSchema.safeParse(env);
  const webhooks = webhooksSchema.safeParse(env);
  const workers = workersSchema.safeParse(env);
  const roles = rolesSchema.safeParse(env);
  const skillIndexes = skillIndexesSchema.safeParse(env);
  const studio = studioSchema.safeParse(env);
  const tracing = tracingSchema.safeParse(env);
  const parts = [
    base,
    artifacts,
    model,
    agents,
    metrics,
    retention,
    webhooks,
    workers,
    roles,
    skillIndexes,
    studio,
    tracing,
  ];
  if (
    base.success &&
    artifacts.success &&
    model.success &&
    agents.success &&
    metrics.success &&
    retention.success &&
    webhooks.success &&
    workers.success &&
    roles.success &&
    skillIndexes.success &&
    studio.success &&
    tracing.success
  ) {
    const config = {
      ...base.data,
      ...artifacts.data,
      ...model.data,
      ...agents.data,
      ...metrics.data,
      ...retention.data,
      ...webhooks.data,
      ...workers.data,
      ...roles.data,
      ...skillIndexes.data,
      ...studio.data,
      ...tracing.data,
    };
    return { ok: true, config: { ...config, settings: settingsInForce(config, env) } };
  }
  const diagnostics = parts.flatMap((part) => (part.success ? [] : diagnosticsOf(part.error)));
  return { ok: false, diagnostics };
}

/** Reads only where the large artifacts are. */
export function readArtifactsConfig(env: Environment): Read<z.infer<typeof artifactsSchema>> {
  return read(artifactsSchema, env);
}

/** Reads only the language model, for a command that asks it beside a running server. */
export function readModelConfig(env: Environment): Read<z.infer<typeof modelSchema>> {
  return read(modelSchema, env);
}

const REGISTRATION_VARIABLES = ['APP_ID', 'PRIVATE_KEY', 'PRIVATE_KEY_PATH', 'WEBHOOK_SECRET'] as const;

/** Whether any setting of a registered App is set. */
export function namesAnApp(env: Environment): boolean {
  return REGISTRATION_VARIABLES.some((name) => env[name]);
}

type FoundKey = { pem: string } | { diagnostic: string };

/** The key's text, and the variable that an error message should name. */
function findKey(env: Environment, readFile: (path: string) => string): [variable: string, key: FoundKey] {
  const { PRIVATE_KEY: pem, PRIVATE_KEY_PATH: path } = env;
  if (pem && path)
    return ['PRIVATE_KEY', { diagnostic: 'and PRIVATE_KEY_PATH are both set; set only one of them' }];
  if (path) {
    try {
      return ['PRIVATE_KEY_PATH', { pem: readFile(path) }];
    } catch (error) {
      return ['PRIVATE_KEY_PATH', { diagnostic: `names a file that cannot be read (${codeOf(error)})` }];
    }
  }
  if (!pem)
    return ['PRIVATE_KEY', { diagnostic: 'is missing; set it to the key, or PRIVATE_KEY_PATH to its file' }];
  // Env files and many secret stores allow only one line per value, so line ends arrive as \n. Docker's env
  // files keep quotes that other tools remove.
  const unquoted = /^"(.*)"$/s.exec(pem)?.[1] ?? pem;
  return ['PRIVATE_KEY', { pem: unquoted.replaceAll('\\n', '\n') }];
}

/** The key as PKCS #8, which every crypto library reads; `undefined` if it is no RSA private key. */
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

/**
 * The system's error code (`ENOENT`). The message would repeat the path, which may come from a secret store.
 */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
