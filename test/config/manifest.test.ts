import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/fields.ts';
import { WEBHOOK_NAMES } from '../../src/entrypoints/webhook/event/from-webhook.ts';
import { SETTINGS } from '../../src/ports/settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

describe('app.yml', () => {
  const manifest = parse(read('app.yml'));

  it('subscribes to exactly the webhooks that the app handles', () => {
    expect([...manifest.default_events].sort()).toEqual([...WEBHOOK_NAMES].sort());
  });

  it('asks for exactly these permissions', () => {
    expect(manifest.default_permissions).toEqual({
      checks: 'write',
      contents: 'write',
      pull_requests: 'write',
      issues: 'write',
      statuses: 'write',
      actions: 'write',
      members: 'read',
      merge_queues: 'write',
      metadata: 'read',
    });
  });

  it('asks for the permissions that the page about security lists', () => {
    const listed = [...read('docs/security.md').matchAll(/^\| (write|read) \| (`.*`) \|$/gm)].flatMap(
      ([, access, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => [name, access]),
    );
    expect(Object.fromEntries(listed)).toEqual(manifest.default_permissions);
  });

  it('does not let others install the App', () => {
    expect(manifest.public).toBe(false);
  });
});

describe('.env.example', () => {
  const example = { ...parseEnv(read('.env.example')) };

  it('is a valid configuration as it is: the one without an App', () => {
    expect(readConfig(example)).toMatchObject({ ok: true, config: { kind: 'setup' } });
  });

  it('shows the defaults', () => {
    const valuesOf = (env: Environment) => {
      const read = readConfig(env);
      return read.ok && { ...read.config, settings: read.config.settings.map(({ value }) => value) };
    };
    expect(valuesOf(example)).toEqual(valuesOf({}));
  });

  it('names each setting', () => {
    const text = read('.env.example');
    const missing = SETTINGS.filter(({ name }) => !text.includes(name.replace('*', '')));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });
});
