import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AppConfig, readBaseConfig, readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/fields.ts';
import { SETTING_WORDS, settingsPage } from '../../src/messages/studio/settings.ts';
import { SETTINGS, type SettingInForce } from '../../src/ports/settings.ts';

const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const APP: Environment = { APP_ID: '123456', PRIVATE_KEY, WEBHOOK_SECRET: 'a-long-enough-secret' };
const LISTED: ReadonlySet<string> = new Set(SETTINGS.map(({ name }) => name));

function configOf(env: Environment): AppConfig {
  const read = readConfig({ ...APP, ...env });
  if (!read.ok || read.config.kind !== 'app') throw new Error('these settings are wrong');
  return read.config;
}

function settingOf(env: Environment, name: string): SettingInForce | undefined {
  return configOf(env).settings.find((setting) => setting.name === name);
}

/** The names that are looked up in the environment. */
function namesReadFrom(env: Environment): Set<string> {
  const names = new Set<string>();
  const watched = new Proxy(env, {
    get(target, name) {
      if (typeof name === 'string' && /^[A-Z]/.test(name)) names.add(name);
      return Reflect.get(target, name);
    },
  });
  readConfig(watched, () => PRIVATE_KEY);
  return names;
}

describe('the list of settings', () => {
  it('has every variable that the configuration reads, and no other', () => {
    const read = namesReadFrom({
      ...APP,
      ARTIFACTS_URL: 's3://bucket/prefix',
      COUNTERSIGN_MODEL: 'openai/x',
    });
    expect([...read].filter((name) => !LISTED.has(name))).toEqual([]);
    expect([...LISTED].filter((name) => !name.endsWith('*') && !read.has(name))).toEqual([]);
  });

  it('is the reference of settings in the documentation', async () => {
    const base = readBaseConfig({});
    const defaults = new Map(base.ok ? base.config.settings.map(({ of, value }) => [of, value]) : []);
    const rows = SETTINGS.map((setting) => {
      const value = defaults.get(setting.name);
      const shown = value?.kind === 'text' ? `\`${value.text}\`` : '–';
      const about = SETTING_WORDS[setting.name];
      return `| \`${setting.name}\` | ${about}${'secret' in setting ? ' Secret.' : ''} | ${shown} |\n`;
    });
    await expect(
      `# Settings

All settings are environment variables. This page lists them with their defaults; [.env.example](../.env.example) shows how to write each. Operators see
the values in force in Studio, at \`/operations/settings\`, where a secret is only said to be set.

| variable | what it decides | default |
|---|---|---|
${rows.join('')}`,
    ).toMatchFileSnapshot('../../docs/settings.md');
  });
});

describe('a setting in force', () => {
  it.each<[Environment, string, SettingInForce['from'], string]>([
    [{}, 'PORT', 'default', '3000'],
    [{ PORT: '3000' }, 'PORT', 'environment', '3000'],
    [{ PORT: '' }, 'PORT', 'default', '3000'],
    [
      { RETENTION: 'bodies:36h,runs:off' },
      'RETENTION',
      'environment',
      'bodies:36h,runs:off,artifacts:90d,traces:90d',
    ],
    [{ STUDIO_OPERATORS: 'Mia, max' }, 'STUDIO_OPERATORS', 'environment', 'mia, max'],
    [{ STUDIO: 'off' }, 'STUDIO', 'environment', 'off'],
    [{ METRICS_TOKEN: 'a-token-only-for-tests' }, 'METRICS_PORT', 'default', 'off'],
    [
      {
        COUNTERSIGN_MODEL: 'openai/gpt-5-mini',
        OPENAI_API_KEY: 'k',
        COUNTERSIGN_MODEL_BUDGET_DAY: '5, $2.50',
      },
      'COUNTERSIGN_MODEL_BUDGET_DAY',
      'environment',
      '5, $2.5',
    ],
  ])('of %j shows %s from the %s as %s', (env, name, from, text) => {
    expect(settingOf(env, name)).toMatchObject({ from, value: { kind: 'text', text } });
  });

  it.each<[Environment, string]>([
    [{ OPENAI_API_KEY: 'a-key' }, 'OPENAI_API_KEY'],
    [{ STUDIO: 'off', STUDIO_OPERATORS: 'mia' }, 'STUDIO_OPERATORS'],
    [{ AWS_REGION: 'eu-central-1' }, 'AWS_REGION'],
    [{ METRICS_PORT: 'off', METRICS_HOST: '10.0.0.1' }, 'METRICS_HOST'],
  ])('of %j has no value for %s, which nothing uses', (env, name) => {
    expect(settingOf(env, name)).toMatchObject({ from: 'environment', value: { kind: 'unset' } });
  });

  it('names each webhook, and says of its address only that it is set', () => {
    const env = { COUNTERSIGN_WEBHOOK_TEAM_CHAT: 'https://hooks.example.test/services/T0' };
    expect(settingOf(env, 'COUNTERSIGN_WEBHOOK_TEAM_CHAT')).toEqual({
      name: 'COUNTERSIGN_WEBHOOK_TEAM_CHAT',
      of: 'COUNTERSIGN_WEBHOOK_*',
      from: 'environment',
      value: { kind: 'secret' },
    });
  });
});

const secret = fc.stringMatching(/^[A-Za-z0-9]{24,40}$/);

it('the page of settings never contains the value of a secret, whichever are set', () => {
  const values = fc.record({
    WEBHOOK_SECRET: secret,
    METRICS_TOKEN: secret,
    GITHUB_CLIENT_SECRET: secret,
    OPENAI_API_KEY: secret,
    ANTHROPIC_API_KEY: secret,
    GOOGLE_GENERATIVE_AI_API_KEY: secret,
    OPENAI_COMPATIBLE_API_KEY: secret,
    AWS_ACCESS_KEY_ID: secret,
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_SESSION_TOKEN: secret,
    OTEL_EXPORTER_OTLP_HEADERS: secret.map((text) => `authorization=Bearer%20${text}`),
    COUNTERSIGN_WEBHOOK_CHAT: secret.map((text) => `https://hooks.example.test/${text}`),
    COUNTERSIGN_WEBHOOKS_SECRET_CHAT: fc
      .uint8Array({ minLength: 24, maxLength: 64 })
      .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`),
  });
  const others = fc.record({
    COUNTERSIGN_MODEL: fc.constantFrom('', 'openai/x', 'anthropic/x', 'google/x'),
    ARTIFACTS_URL: fc.constantFrom('', 's3://bucket/prefix'),
    OTEL_EXPORTER_OTLP_ENDPOINT: fc.constantFrom('', 'http://collector:4318'),
    STUDIO: fc.constantFrom('', 'off'),
  });
  // The list is complete, so a new secret must be added here.
  const isSecret = (name: string) => SETTINGS.some((one) => 'secret' in one && name === one.name);
  fc.assert(
    fc.property(values, others, (secrets, rest) => {
      const { settings } = configOf({
        ...secrets,
        ...rest,
        GITHUB_CLIENT_ID: 'Iv1.0000',
        AWS_REGION: 'eu-central-1',
      });
      const page = String(settingsPage({ settings, isOfApp: true }));
      for (const value of [...Object.values(secrets), ...PRIVATE_KEY.split('\n').filter(Boolean)])
        expect(page).not.toContain(
          value.replace(/^(https:\/\/hooks\.example\.test\/|authorization=Bearer%20)/, ''),
        );
      expect(page).toContain('WEBHOOK_SECRET');
    }),
    { numRuns: 50 },
  );
  const [known] = fc.sample(values, 1);
  const tried = new Set(Object.keys({ ...known, PRIVATE_KEY, PRIVATE_KEY_PATH: '' }));
  expect(SETTINGS.filter(({ name }) => isSecret(name) && !name.endsWith('*') && !tried.has(name))).toEqual(
    [],
  );
});
