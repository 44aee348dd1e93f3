import type { Budget, BudgetScope } from '../domain/model/budget.ts';
import { formatModelName, type ProviderName } from '../domain/model/name.ts';
import type { RolloutLevel } from '../domain/policy/rollout.ts';
import type { S3Access } from '../ports/s3-location.ts';
import { SETTINGS, type SettingInForce, type SettingName } from '../ports/settings.ts';
import { shownDatabaseUrl } from './addresses.ts';
import type { Environment } from './fields.ts';
import type { MetricsAccess } from './metrics.ts';
import type { ModelConfig } from './model.ts';
import type { Retention } from './retention.ts';
import { ALL_ROLES, ROLES, type Roles } from './roles.ts';
import type { SkillIndexesConfig } from './skill-indexes.ts';
import type { StudioConfig } from './studio.ts';
import type { TracingConfig } from './tracing.ts';
import { variableOf, type WebhooksConfig } from './webhooks.ts';
import type { Workers } from './workers.ts';

/** What was read from the environment. The parts of the App are absent in a process that does not read them. */
interface Values {
  appId?: number;
  privateKey?: string;
  webhookSecret?: string;
  githubApiUrl: string;
  host: string;
  port: number;
  publicUrl?: string | undefined;
  databaseUrl: string;
  artifactsUrl: string;
  s3?: S3Access;
  logLevel: string;
  logFormat?: string | undefined;
  merging?: 'off';
  rollout?: RolloutLevel;
  shell?: 'allow';
  model?: ModelConfig;
  metricsAccess: MetricsAccess;
  agents?: Readonly<Partial<Record<string, string>>>;
  retention?: Retention;
  chat?: WebhooksConfig;
  skillIndexes?: SkillIndexesConfig;
  workers?: Workers;
  roles?: Roles;
  studio?: StudioConfig;
  tracing?: TracingConfig;
}

type Shown = string | number | undefined;
/** Of a secret, only whether it is used. */
type Reader = (values: Values, isGiven: (name: SettingName) => boolean) => Shown | boolean;

const budget =
  (scope: BudgetScope): Reader =>
  ({ model }) =>
    model && budgetText(model.budgets[scope]);
const key =
  (provider: ProviderName): Reader =>
  ({ model }) =>
    model?.name.provider === provider && model.apiKey !== undefined;

/**
 * The value in force of each setting, from what the process works with rather than from the variable's text, so that the
 * page cannot say anything else than what is done.
 */
const READERS: Readonly<
  Record<Exclude<SettingName, 'COUNTERSIGN_WEBHOOK_*' | 'COUNTERSIGN_WEBHOOKS_SECRET_*'>, Reader>
> = {
  APP_ID: ({ appId }) => appId,
  PRIVATE_KEY: ({ privateKey }, isGiven) => privateKey !== undefined && isGiven('PRIVATE_KEY'),
  PRIVATE_KEY_PATH: ({ privateKey }, isGiven) => privateKey !== undefined && isGiven('PRIVATE_KEY_PATH'),
  WEBHOOK_SECRET: ({ webhookSecret }) => webhookSecret !== undefined,
  GITHUB_API_URL: ({ githubApiUrl }) => githubApiUrl,
  HOST: ({ host }) => host,
  PORT: ({ port }) => port,
  PUBLIC_URL: ({ publicUrl }) => publicUrl,
  STUDIO: ({ studio }) => (studio ? 'on' : 'off'),
  STUDIO_OPERATORS: ({ studio }) => studio?.operators.join(', '),
  STUDIO_PUBLIC: ({ studio }) => (studio?.isPublic ? 'read' : undefined),
  GITHUB_CLIENT_ID: ({ studio }) => studio?.signIn?.clientId,
  GITHUB_CLIENT_SECRET: ({ studio }) => studio?.signIn !== undefined,
  METRICS_PORT: ({ metricsAccess: { own } }) => own?.port ?? 'off',
  METRICS_HOST: ({ metricsAccess: { own } }) => own?.host,
  METRICS_TOKEN: ({ metricsAccess: { token } }) => token !== undefined,
  OTEL_EXPORTER_OTLP_ENDPOINT: ({ tracing }) => tracing?.endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: ({ tracing }) => Object.keys(tracing?.headers ?? {}).length > 0,
  OTEL_SERVICE_NAME: ({ tracing }) => tracing?.service,
  OTEL_TRACES_SAMPLER: ({ tracing }) => tracing?.sampler,
  OTEL_TRACES_SAMPLER_ARG: ({ tracing }) => (tracing?.sampler.endsWith('ratio') ? tracing.ratio : undefined),
  LOG_LEVEL: ({ logLevel }) => logLevel,
  LOG_FORMAT: ({ logFormat }) => logFormat,
  DATABASE_URL: ({ databaseUrl }) => shownDatabaseUrl(databaseUrl),
  ARTIFACTS_URL: ({ artifactsUrl }) => artifactsUrl,
  AWS_ENDPOINT_URL_S3: ({ s3 }, isGiven) => (isGiven('AWS_ENDPOINT_URL_S3') ? s3?.endpoint : undefined),
  AWS_ENDPOINT_URL: ({ s3 }, isGiven) => (isGiven('AWS_ENDPOINT_URL_S3') ? undefined : s3?.endpoint),
  AWS_REGION: ({ s3 }, isGiven) =>
    isGiven('AWS_REGION') || !isGiven('AWS_DEFAULT_REGION') ? s3?.region : undefined,
  AWS_DEFAULT_REGION: ({ s3 }, isGiven) =>
    isGiven('AWS_DEFAULT_REGION') && !isGiven('AWS_REGION') ? s3?.region : undefined,
  AWS_ACCESS_KEY_ID: ({ s3 }) => s3 !== undefined,
  AWS_SECRET_ACCESS_KEY: ({ s3 }) => s3 !== undefined,
  AWS_SESSION_TOKEN: ({ s3 }) => s3?.sessionToken !== undefined,
  RETENTION: ({ retention }) => retention && retentionText(retention),
  COUNTERSIGN_MERGING: ({ merging }) => merging ?? 'on',
  COUNTERSIGN_ROLLOUT: ({ rollout }) => rollout ?? 'enforce',
  COUNTERSIGN_WORKERS: ({ workers }) => workers?.others,
  COUNTERSIGN_REVIEW_WORKERS: ({ workers }) => workers?.reviews,
  ROLE: ({ roles = ALL_ROLES }) => ROLES.filter((role) => roles[role]).join(', '),
  COUNTERSIGN_SHELL: ({ shell }) => shell,
  COUNTERSIGN_AGENTS: ({ agents = {} }) =>
    Object.entries(agents)
      .map(([name, path]) => `${name}=${path}`)
      .join(', '),
  COUNTERSIGN_SKILL_INDEXES: ({ skillIndexes }) => skillIndexes?.indexes.map(({ href }) => href).join(', '),
  COUNTERSIGN_SKILL_CHECK: ({ skillIndexes }) => skillIndexes && periodText(skillIndexes.everyMs),
  COUNTERSIGN_MODEL: ({ model }) => model && formatModelName(model.name),
  COUNTERSIGN_MODEL_BASE_URL: ({ model }) => model?.baseUrl,
  COUNTERSIGN_MODEL_PRICE: ({ model }) => model?.price && `${model.price.input}/${model.price.output}`,
  COUNTERSIGN_MODEL_BUDGET_RUN: budget('run'),
  COUNTERSIGN_MODEL_BUDGET_PULL_REQUEST: budget('pull_request'),
  COUNTERSIGN_MODEL_BUDGET_DAY: budget('day'),
  OPENAI_API_KEY: key('openai'),
  ANTHROPIC_API_KEY: key('anthropic'),
  GOOGLE_GENERATIVE_AI_API_KEY: key('google'),
  OPENAI_COMPATIBLE_API_KEY: key('openai-compatible'),
  COUNTERSIGN_WEBHOOKS_PRIVATE: ({ chat }) => (chat?.allowsPrivate ? 'allow' : undefined),
};

/** All settings with their values in force. Secrets are only said to be there. */
export function settingsInForce(values: Values, env: Environment): SettingInForce[] {
  const isGiven = (name: string) => (env[name] ?? '') !== '';
  return SETTINGS.flatMap((setting): SettingInForce[] => {
    const { name: of } = setting;
    const one = (name: string, value: SettingInForce['value']): SettingInForce => ({
      name,
      of,
      from: isGiven(name) ? 'environment' : 'default',
      value,
    });
    if (of === 'COUNTERSIGN_WEBHOOK_*' || of === 'COUNTERSIGN_WEBHOOKS_SECRET_*') {
      const names =
        (of === 'COUNTERSIGN_WEBHOOK_*' ? values.chat?.webhooks : values.chat?.secrets) ?? new Map();
      return names.size === 0
        ? [one(of, { kind: 'unset' })]
        : [...names.keys()].map((name) => one(variableOf(of, name), { kind: 'secret' }));
    }
    const value = READERS[of](values, isGiven);
    if ('secret' in setting) return [one(of, { kind: value === true ? 'secret' : 'unset' })];
    return value === undefined || value === '' || typeof value === 'boolean'
      ? [one(of, { kind: 'unset' })]
      : [one(of, { kind: 'text', text: String(value) })];
  });
}

function budgetText({ tokens, cost }: Budget): string {
  const parts = [tokens, cost === undefined ? undefined : `$${cost / 1_000_000}`];
  return parts.filter((part) => part !== undefined).join(', ');
}

function retentionText(retention: Retention): string {
  return Object.entries(retention)
    .map(([kind, ms]) => `${kind}:${ms === null ? 'off' : periodText(ms)}`)
    .join(',');
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** As `parseDuration` reads it. */
function periodText(ms: number): string {
  const [size, unit] = UNITS.find(([one]) => ms % one === 0) ?? [1_000, 's'];
  return `${ms / size}${unit}`;
}
