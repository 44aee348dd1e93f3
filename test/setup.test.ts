import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Environment, readConfig } from '../src/config.ts';
import { offerSetup } from '../src/setup.ts';
import { bareEnvironment } from './support/app-environment.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SECRET = 'drawn-by-github-for-the-webhook';
const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();

interface Setup {
  folder: string;
  /** Where the page is; `undefined` when the process ended instead. */
  url: string | undefined;
  /** What it said so far. */
  said: () => string;
  child: ChildProcess;
}

const running: Setup[] = [];

/** `node src/main.ts` without an App, in a folder of its own; resolves once it offers the page or has ended. */
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** What the page's form would send, and where to. */
async function formOf({ url }: Setup): Promise<{ action: string | undefined; manifest: unknown }> {
  const page = await (await fetch(`${url}/probot`)).text();
  const manifest = /name="manifest"[^>]* value='([^']*)'/.exec(page)?.[1] ?? 'null';
  return { action: /<form action="([^"]*)"/.exec(page)?.[1], manifest: JSON.parse(manifest) };
}

const register = ({ url }: Setup, body: object) =>
  fetch(`${url}/probot/import`, { method: 'POST', body: JSON.stringify(body) });

const modeOf = ({ folder }: Setup) => (statSync(join(folder, '.env')).mode & 0o777).toString(8);
const envFileOf = ({ folder }: Setup) => readFileSync(join(folder, '.env'), 'utf8');

/** As `docker run --env-file` reads it: a line a variable, and nothing is taken off. */
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

  it('sends to github.com just what app.yml says, from a folder with an app.yml of its own', async () => {
    expect(await formOf(github)).toEqual({
      action: 'https://github.com/settings/apps/new',
      manifest: {
        ...appYml,
        version: 'v1',
        hook_attributes: { url: 'https://countersign.example.com/api/github/webhooks' },
        redirect_url: `${github.url}/probot/setup`,
      },
    });
  });

  it('sends the same to an enterprise’s own GitHub', async () => {
    const { action, manifest } = await formOf(enterprise);
    expect(action).toBe(`http://127.0.0.1:${(api.address() as AddressInfo).port}/settings/apps/new`);
    expect(manifest).toMatchObject(appYml);
  });

  it('listens on loopback only, and says so where HOST opens it', async () => {
    const elsewhere = ({ url = '' }: Setup) => url.replace(/127\.0\.0\.1|0\.0\.0\.0/, '127.0.0.2');
    await expect(fetch(elsewhere(github))).rejects.toThrow();
    expect((await fetch(elsewhere(enterprise))).status).toBe(200);
    expect([github.said(), enterprise.said()].map((text) => text.includes('HOST lets others reach'))).toEqual(
      [false, true],
    );
  });

  it('is not taken for an app that works', async () => {
    const probes = ['healthz', 'readyz'].map(async (path) => (await fetch(`${github.url}/${path}`)).status);
    expect(await Promise.all(probes)).toEqual([404, 404]);
  });

  it('keeps what GitHub gives it for its owner alone, as both Node and Docker read it', async () => {
    const response = await fetch(`${enterprise.url}/probot/setup?code=the-code`, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('http://ghe/apps/countersign/installations/new');
    expect(modeOf(enterprise)).toBe('600');
    expect(readConfig(parseEnv(envFileOf(enterprise)))).toMatchObject(registered);
    expect(readConfig(asDockerReads(envFileOf(enterprise)))).toMatchObject(registered);
  });

  it('closes an env file that was open, and leaves its other lines', async () => {
    await register(github, { appId: '4711', pem: PEM, webhook_secret: SECRET });
    expect(modeOf(github)).toBe('600');
    expect(envFileOf(github)).toMatch(/^# Mine\.\nLOG_LEVEL=warn\nAPP_ID=4711\nPRIVATE_KEY="/);
    expect(readConfig(parseEnv(envFileOf(github)))).toMatchObject(registered);
  });

  it('does not give the App’s place to whoever comes later', async () => {
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
    ['in a folder that holds an App’s settings', '.env', {}, /holds the settings of an App already/],
    [
      'where those settings cannot be kept',
      'gone/.env',
      {},
      /gone\/\.env cannot be written \(ENOENT\).*docker run --env-file/,
    ],
    [
      'where GitHub’s API is at a place that Probot does not look',
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
