import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../../src/config/config.ts';
import type { Environment } from '../../../src/config/fields.ts';
import { offerSetup } from '../../../src/entrypoints/setup/setup.ts';
import { bareEnvironment, freePort } from '../../support/app-environment.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SECRET = 'drawn-by-github-for-the-webhook';
const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();

interface Setup {
  folder: string;
  /** The address of the page; `undefined` if the process ended instead. */
  url: string | undefined;
  /** Its output so far. */
  said: () => string;
  child: ChildProcess;
}

const running: Setup[] = [];

/** `node src/main.ts` without an App, in its own folder; resolves once it offers the page or has ended. */
async function startSetup(
  environment: Record<string, string> = {},
  files: Record<string, string> = {},
): Promise<Setup> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-setup-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o644 });
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts')], {
    cwd: folder,
    env: { ...bareEnvironment(), PORT: String(await freePort()), ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const url = await new Promise<string | undefined>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const page = /^Open (\S+)/m.exec(said)?.[1];
      if (page !== undefined) resolve(page);
    });
    child.on('close', () => resolve(undefined));
  });
  const setup = { folder, url, said: () => said, child };
  running.push(setup);
  return setup;
}

/** What the page's form sends, and where to. */
async function formOf({ url }: Setup): Promise<{ action: string | undefined; manifest: unknown }> {
  const page = await (await fetch(`${url}/probot`)).text();
  const manifest = /name="manifest"[^>]* value='([^']*)'/.exec(page)?.[1] ?? 'null';
  return { action: /<form action="([^"]*)"/.exec(page)?.[1], manifest: JSON.parse(manifest) };
}

/** What the page's other form sends, as a browser does. */
const register = ({ url = '' }: Setup, body: object, headers: Record<string, string> = { origin: url }) =>
  fetch(`${url}/probot/import`, { method: 'POST', body: JSON.stringify(body), headers });

/** The status of a request with its own headers: `fetch` does not allow `Host`. */
async function statusOf({ url }: Setup, path: string, headers: Record<string, string>): Promise<number> {
  const sent = request(`${url}${path}`, { headers }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

/** What GitHub sends to the address that people return to. */
async function stateOf(setup: Setup): Promise<string> {
  const { action = '' } = await formOf(setup);
  return new URL(action).searchParams.get('state') ?? '';
}

const modeOf = ({ folder }: Setup) => (statSync(join(folder, '.env')).mode & 0o777).toString(8);
const envFileOf = ({ folder }: Setup) => readFileSync(join(folder, '.env'), 'utf8');

/** As `docker run --env-file` reads it: one variable per line, without removing quotes. */
function asDockerReads(text: string): Environment {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]));
}

const appYml = parse(readFileSync(join(ROOT, 'app.yml'), 'utf8'));
const registered = { ok: true, config: { kind: 'app', appId: 4711, webhookSecret: SECRET } };

afterAll(() => {
  for (const { child, folder } of running) {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});

describe('the page that registers the App', () => {
  let github: Setup;
  let enterprise: Setup;
  let api: Server;

  beforeAll(async () => {
    api = createServer((request, response) => {
      const isConversion = request.url === '/api/v3/app-manifests/the-code/conversions';
      response.writeHead(isConversion ? 201 : 404, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 4711,
          client_id: 'Iv1.a',
          client_secret: 'b',
          webhook_secret: SECRET,
          pem: PEM,
          html_url: 'http://ghe/apps/countersign',
        }),
      );
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    const ghe = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    [github, enterprise] = await Promise.all([
      startSetup(
        { PUBLIC_URL: 'https://countersign.example.com', NODE_ENV: 'production', GHE_HOST: 'left-over' },
        { 'app.yml': 'name: somebody-elses', '.env': '# Mine.\nLOG_LEVEL=warn\nAPP_ID=\n' },
      ),
      startSetup({ GITHUB_API_URL: `${ghe}/api/v3`, HOST: '0.0.0.0' }),
    ]);
  });

  afterAll(() => api.close());

  it('sends app.yml with this server’s addresses to github.com, also from a folder with another app.yml', async () => {
    expect(await formOf(github)).toEqual({
      action: `https://github.com/settings/apps/new?state=${await stateOf(github)}`,
      manifest: {
        ...appYml,
        version: 'v1',
        hook_attributes: { url: 'https://countersign.example.com/api/github/webhooks' },
        redirect_url: `${github.url}/probot/setup`,
        callback_urls: ['https://countersign.example.com/sign-in/callback'],
      },
    });
  });

  it('sends the same to a GitHub Enterprise Server', async () => {
    const { action, manifest } = await formOf(enterprise);
    const { port } = api.address() as AddressInfo;
    expect(action?.replace(/\?.*/, '')).toBe(`http://127.0.0.1:${port}/settings/apps/new`);
    expect(manifest).toMatchObject(appYml);
  });

  it('listens on loopback only, and says so, unless HOST is set', async () => {
    const elsewhere = ({ url = '' }: Setup) => url.replace(/127\.0\.0\.1|0\.0\.0\.0/, '127.0.0.2');
    await expect(fetch(elsewhere(github))).rejects.toThrow();
    expect((await fetch(elsewhere(enterprise))).status).toBe(200);
    expect([github.said(), enterprise.said()].map((text) => text.includes('HOST lets others reach'))).toEqual(
      [false, true],
    );
  });

  it.each([
    ['a name that somebody else pointed at this machine', { host: 'evil.example:3000' }],
    ['a name that only begins like one of this machine', { host: 'localhost.evil.example' }],
    ['a name behind an at sign', { host: 'localhost@evil.example' }],
    ['such a name in a forwarded header', { 'x-forwarded-host': 'evil.example' }],
  ])('is not shown under %s', async (_what, headers) => {
    const own = new URL(github.url ?? '').host;
    expect(await statusOf(github, '/probot', { host: own, ...headers })).toBe(403);
  });

  it.each(['localhost:3000', '127.0.0.1', '[::1]:3000', '192.168.1.7:3000'])(
    'is shown under %s, which no DNS resolves',
    async (host) => {
      expect(await statusOf(github, '/probot', { host })).toBe(200);
    },
  );

  it.each<[string, Record<string, string>]>([
    ['another site', { origin: 'https://evil.example' }],
    ['the same machine’s other port', { origin: 'http://127.0.0.1:1' }],
    ['a frame without an origin', { origin: 'null' }],
    ['a request without an origin', {}],
  ])('accepts no credentials from %s', async (_what, headers) => {
    const before = envFileOf(github);
    const values = { appId: '666', pem: PEM, webhook_secret: 'known-to-somebody-else' };
    expect((await register(github, values, headers)).status).toBe(403);
    expect(envFileOf(github)).toBe(before);
  });

  it.each(['', '&state=guessed'])('accepts no code from a link on another site: %s', async (state) => {
    const back = await fetch(`${enterprise.url}/probot/setup?code=the-code${state}`, { redirect: 'manual' });
    expect(back.status).toBe(403);
    expect(existsSync(join(enterprise.folder, '.env'))).toBe(false);
  });

  it('accepts no body that is longer than an App’s settings can be', async () => {
    const long = await register(github, { appId: '666', pem: 'x'.repeat(70_000), webhook_secret: SECRET });
    expect(long.status).toBe(403);
  });

  it('does not pass the probes of a working app', async () => {
    const probes = ['healthz', 'readyz'].map(async (path) => (await fetch(`${github.url}/${path}`)).status);
    expect(await Promise.all(probes)).toEqual([404, 404]);
  });

  it('stores what GitHub returns for its owner only, in a form that both Node and Docker read', async () => {
    const back = `${enterprise.url}/probot/setup?code=the-code&state=${await stateOf(enterprise)}`;
    const response = await fetch(back, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('http://ghe/apps/countersign/installations/new');
    expect(modeOf(enterprise)).toBe('600');
    expect(readConfig(parseEnv(envFileOf(enterprise)))).toMatchObject(registered);
    expect(readConfig(asDockerReads(envFileOf(enterprise)))).toMatchObject(registered);
  });

  it('restricts an env file that others could read, and keeps its other lines', async () => {
    await register(github, { appId: '4711', pem: PEM, webhook_secret: SECRET });
    expect(modeOf(github)).toBe('600');
    expect(envFileOf(github)).toMatch(/^# Mine\.\nLOG_LEVEL=warn\nAPP_ID=4711\nPRIVATE_KEY="/);
    expect(readConfig(parseEnv(envFileOf(github)))).toMatchObject(registered);
  });

  it('does not let a later visitor replace the App', async () => {
    const before = envFileOf(github);
    const later = await register(github, {
      appId: '666',
      pem: PEM,
      webhook_secret: 'known-to-somebody-else',
    });
    expect(later.status).toBe(500);
    expect(envFileOf(github)).toBe(before);
  });

  it.each<[string, string, Environment, RegExp]>([
    ['in a folder with an App’s settings', '.env', {}, /holds the settings of an App already/],
    [
      'where those settings cannot be stored',
      'gone/.env',
      {},
      /gone\/\.env cannot be written \(ENOENT\).*docker run --env-file/,
    ],
    [
      'if GitHub’s API is at an address that Probot does not support',
      'other.env',
      { GITHUB_API_URL: 'https://api.acme.ghe.com' },
      /by hand at https:\/\/acme\.ghe\.com\/settings/,
    ],
  ])('is not offered %s', async (_where, name, env, sentence) => {
    const read = readConfig(env);
    if (!read.ok || read.config.kind !== 'setup') throw new Error('an App is set');
    const file = join(github.folder, name);
    await expect(offerSetup(read.config, { file, onRegistered() {} })).rejects.toThrow(sentence);
  });
});
