/**
 * All settings of a server: the environment variables that it reads, in the order in which people see them. A `secret` is
 * never shown. A test holds that nothing else is read (test/config/settings.test.ts).
 */
export const SETTINGS = [
  { name: 'APP_ID', group: 'app' },
  { name: 'PRIVATE_KEY', group: 'app', secret: true },
  // The path may come from a secret store.
  { name: 'PRIVATE_KEY_PATH', group: 'app', secret: true },
  { name: 'WEBHOOK_SECRET', group: 'app', secret: true },
  { name: 'GITHUB_API_URL', group: 'app' },
  { name: 'HOST', group: 'address' },
  { name: 'PORT', group: 'address' },
  { name: 'PUBLIC_URL', group: 'address' },
  { name: 'STUDIO', group: 'studio' },
  { name: 'STUDIO_OPERATORS', group: 'studio' },
  { name: 'STUDIO_PUBLIC', group: 'studio' },
  { name: 'GITHUB_CLIENT_ID', group: 'studio' },
  { name: 'GITHUB_CLIENT_SECRET', group: 'studio', secret: true },
  { name: 'METRICS_PORT', group: 'metrics' },
  { name: 'METRICS_HOST', group: 'metrics' },
  { name: 'METRICS_TOKEN', group: 'metrics', secret: true },
  { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', group: 'metrics' },
  { name: 'OTEL_EXPORTER_OTLP_HEADERS', group: 'metrics', secret: true },
  { name: 'OTEL_SERVICE_NAME', group: 'metrics' },
  { name: 'OTEL_TRACES_SAMPLER', group: 'metrics' },
  { name: 'OTEL_TRACES_SAMPLER_ARG', group: 'metrics' },
  { name: 'LOG_LEVEL', group: 'metrics' },
  { name: 'LOG_FORMAT', group: 'metrics' },
  { name: 'DATABASE_URL', group: 'storage' },
  { name: 'ARTIFACTS_URL', group: 'storage' },
  { name: 'AWS_ENDPOINT_URL_S3', group: 'storage' },
  { name: 'AWS_ENDPOINT_URL', group: 'storage' },
  { name: 'AWS_REGION', group: 'storage' },
  { name: 'AWS_DEFAULT_REGION', group: 'storage' },
  { name: 'AWS_ACCESS_KEY_ID', group: 'storage', secret: true },
  { name: 'AWS_SECRET_ACCESS_KEY', group: 'storage', secret: true },
  { name: 'AWS_SESSION_TOKEN', group: 'storage', secret: true },
  { name: 'RETENTION', group: 'storage' },
  { name: 'COUNTERSIGN_MERGING', group: 'work' },
  { name: 'COUNTERSIGN_ROLLOUT', group: 'work' },
  { name: 'COUNTERSIGN_WORKERS', group: 'work' },
  { name: 'COUNTERSIGN_REVIEW_WORKERS', group: 'work' },
  { name: 'ROLE', group: 'work' },
  { name: 'COUNTERSIGN_SHELL', group: 'work' },
  { name: 'COUNTERSIGN_AGENTS', group: 'work' },
  { name: 'COUNTERSIGN_SKILL_INDEXES', group: 'work' },
  { name: 'COUNTERSIGN_SKILL_CHECK', group: 'work' },
  { name: 'COUNTERSIGN_MODEL', group: 'model' },
  { name: 'COUNTERSIGN_MODEL_BASE_URL', group: 'model' },
  { name: 'COUNTERSIGN_MODEL_PRICE', group: 'model' },
  { name: 'COUNTERSIGN_MODEL_BUDGET_RUN', group: 'model' },
  { name: 'COUNTERSIGN_MODEL_BUDGET_PULL_REQUEST', group: 'model' },
  { name: 'COUNTERSIGN_MODEL_BUDGET_DAY', group: 'model' },
  { name: 'OPENAI_API_KEY', group: 'model', secret: true },
  { name: 'ANTHROPIC_API_KEY', group: 'model', secret: true },
  { name: 'GOOGLE_GENERATIVE_AI_API_KEY', group: 'model', secret: true },
  { name: 'OPENAI_COMPATIBLE_API_KEY', group: 'model', secret: true },
  // Each stands for all variables that begin so.
  { name: 'COUNTERSIGN_WEBHOOK_*', group: 'webhooks', secret: true },
  { name: 'COUNTERSIGN_WEBHOOKS_SECRET_*', group: 'webhooks', secret: true },
  { name: 'COUNTERSIGN_WEBHOOKS_PRIVATE', group: 'webhooks' },
] as const satisfies readonly { name: string; group: string; secret?: true }[];

export type SettingName = (typeof SETTINGS)[number]['name'];
export type SettingGroup = (typeof SETTINGS)[number]['group'];

/** A setting as an operator sees it. */
export interface SettingInForce {
  /** The variable. */
  name: string;
  /** The entry of the list that it belongs to. */
  of: SettingName;
  from: 'environment' | 'default';
  /**
   * `unset` although it comes from the environment: another setting makes this process ignore it, or it concerns a program
   * that this process is not.
   */
  value: { kind: 'text'; text: string } | { kind: 'secret' } | { kind: 'unset' };
}
