import { html } from 'hono/html';
import { SETTINGS, type SettingGroup, type SettingInForce, type SettingName } from '../../ports/settings.ts';
import type { Html } from './layout.ts';
import { operationTabs } from './operations.ts';
import { said } from './untrusted.ts';

const GROUPS: Readonly<Record<SettingGroup, string>> = {
  app: 'The App on GitHub',
  address: 'Addresses',
  studio: 'Studio',
  metrics: 'Metrics and log',
  storage: 'Storage',
  work: 'Work',
  model: 'Language model',
  webhooks: 'Webhooks that are sent',
};

/** What each setting decides, for this page and for docs/settings.md. */
export const SETTING_WORDS: Readonly<Record<SettingName, string>> = {
  APP_ID: 'The number of the GitHub App.',
  PRIVATE_KEY: 'The App’s private key.',
  PRIVATE_KEY_PATH: 'The file with that key.',
  WEBHOOK_SECRET: 'What GitHub signs webhooks with.',
  GITHUB_API_URL: 'The address of GitHub’s API.',
  HOST: 'The address of this machine that the server listens on.',
  PORT: 'The port for webhooks, Studio and the API.',
  PUBLIC_URL: 'The address by which people and GitHub reach the server.',
  STUDIO: 'Whether there are Studio and the API: on or off.',
  STUDIO_OPERATORS: 'The logins that see operations.',
  STUDIO_PUBLIC: '“read”: everybody may read about public repositories.',
  GITHUB_CLIENT_ID: 'The App’s client, for sign-in to Studio.',
  GITHUB_CLIENT_SECRET: 'The secret of that client.',
  METRICS_PORT: 'The port for metrics, or off.',
  METRICS_HOST: 'The address that this port listens on.',
  METRICS_TOKEN: 'Who sends it reads the metrics on PORT.',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'The collector to which traces are sent.',
  OTEL_EXPORTER_OTLP_HEADERS: 'What is sent with them, such as a key.',
  OTEL_SERVICE_NAME: 'The name that they have there.',
  OTEL_TRACES_SAMPLER: 'Which traces are sent.',
  OTEL_TRACES_SAMPLER_ARG: 'The share of them, if they are chosen by chance.',
  LOG_LEVEL: 'How much the log says.',
  LOG_FORMAT: 'pretty or json; pretty on a terminal and json elsewhere if it is not set.',
  DATABASE_URL: 'Where the database is.',
  ARTIFACTS_URL: 'Where large artifacts are: a folder or a bucket.',
  AWS_ENDPOINT_URL_S3: 'The address of the bucket’s store, if it is not Amazon’s.',
  AWS_ENDPOINT_URL: 'The same, if the one for S3 is not set.',
  AWS_REGION: 'The region of the bucket.',
  AWS_DEFAULT_REGION: 'The same, if AWS_REGION is not set.',
  AWS_ACCESS_KEY_ID: 'The key for the bucket.',
  AWS_SECRET_ACCESS_KEY: 'The secret of that key.',
  AWS_SESSION_TOKEN: 'The session of that key, if it has one.',
  RETENTION: 'How long finished data is kept.',
  COUNTERSIGN_MERGING: '“off”: nothing is merged.',
  COUNTERSIGN_ROLLOUT: 'The most that this server rolls out: off, observe, comment or enforce.',
  COUNTERSIGN_WORKERS: 'How many jobs run at once, apart from reviews.',
  COUNTERSIGN_REVIEW_WORKERS: 'How many reviews run at once.',
  ROLE: 'What this process does: take webhooks, work for installations, do what belongs to none, show Studio.',
  COUNTERSIGN_SHELL: '“allow”: chains may run commands in a sandbox.',
  COUNTERSIGN_AGENTS: 'The command-line agents that skills may use.',
  COUNTERSIGN_SKILL_INDEXES: 'The indexes that are checked for new versions of skills.',
  COUNTERSIGN_SKILL_CHECK: 'How often they are checked.',
  COUNTERSIGN_MODEL: 'The language model.',
  COUNTERSIGN_MODEL_BASE_URL: 'The address of its server.',
  COUNTERSIGN_MODEL_PRICE: 'Its price in dollars per million tokens, in and out.',
  COUNTERSIGN_MODEL_BUDGET_RUN: 'The most that a run may use.',
  COUNTERSIGN_MODEL_BUDGET_PULL_REQUEST: 'The most that a pull request may use.',
  COUNTERSIGN_MODEL_BUDGET_DAY: 'The most that a day may use.',
  OPENAI_API_KEY: 'The key for OpenAI.',
  ANTHROPIC_API_KEY: 'The key for Anthropic.',
  GOOGLE_GENERATIVE_AI_API_KEY: 'The key for Google.',
  OPENAI_COMPATIBLE_API_KEY: 'The key for another server that speaks as OpenAI’s does.',
  'COUNTERSIGN_WEBHOOK_*': 'The address of the webhook with that name.',
  'COUNTERSIGN_WEBHOOKS_SECRET_*': 'The key that signs its messages.',
  COUNTERSIGN_WEBHOOKS_PRIVATE: '“allow”: they may lead to private addresses.',
};

const GROUP_OF: ReadonlyMap<SettingName, SettingGroup> = new Map(
  SETTINGS.map(({ name, group }) => [name, group]),
);

/** The settings in force, without secrets. */
export function settingsPage({
  settings,
  isOfApp,
}: {
  settings: readonly SettingInForce[];
  /** Whether Studio runs in the app, and has its settings. */
  isOfApp: boolean;
}): Html {
  return html`<h1>Settings in force</h1>
${operationTabs('settings')}
<p>${
    isOfApp
      ? 'These are the values that the app works with. A change of the environment takes effect when you restart it.'
      : 'This Studio is a process of its own, so these are its settings. The app can have others.'
  } Of a secret, this page says only that it is set. “Not used” is what another setting makes the app ignore.</p>
${Object.entries(GROUPS).map(([group, title]) => {
  const rows = settings.filter(({ of }) => GROUP_OF.get(of) === group);
  return rows.length === 0
    ? ''
    : html`<h2>${title}</h2>
<table class="settings">
<thead><tr><th scope="col">Setting</th><th scope="col">Value</th></tr></thead>
<tbody>
${rows.map((row) => html`<tr><td><code>${row.name}</code><br><span class="quiet">${SETTING_WORDS[row.of]}</span></td><td>${shownValue(row)}</td></tr>\n`)}</tbody></table>`;
})}`;
}

function shownValue({ value, from }: SettingInForce): Html {
  const source = html`<br><span class="quiet">${from === 'environment' ? 'from the environment' : 'default'}</span>`;
  switch (value.kind) {
    case 'text':
      return html`<code>${said(value.text)}</code>${source}`;
    case 'secret':
      return html`Set${source}`;
    case 'unset':
      return from === 'environment' ? html`Not used${source}` : html`<span class="quiet">Not set</span>`;
  }
}
