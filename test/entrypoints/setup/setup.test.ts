import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../../src/config/config.ts';
import type { Environment } from '../../../src/config/fields.ts';
import { offerSetup } from '../../../src/entrypoints/setup/setup.ts';
import { bareEnvironment, freePort } from '../../support/app-environment.ts';
import { brokenRules } from '../../support/axe.ts';
import { noBrowser, openBrowser } from '../../support/chromium.ts';
import { startGitHub } from '../../support/github/stand-in.ts';

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

const FIELDS = {
  github: 'https://github.com',
  organisation: 'acme',
  name: 'countersign-acme',
  address: 'https://countersign.example.com',
};

/** Sends the first form, as a browser does. */
const choose = (
  { url = '' }: Setup,
  fields: Partial<typeof FIELDS> = {},
  headers: Record<string, string> = { origin: url },
) => fetch(`${url}/setup`, { method: 'POST', body: new URLSearchParams({ ...FIELDS, ...fields }), headers });

const unescaped = (text = '') =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

/** What the second form sends to GitHub, and where to. */
async function formOf(setup: Setup, fields: Partial<typeof FIELDS> = {}) {
  const page = await (await choose(setup, fields)).text();
  const manifest = unescaped(/name="manifest" value="([^"]*)"/.exec(page)?.[1]);
  return {
    action: unescaped(/<form method="post" action="([^"]*)"/.exec(page)?.[1]),
    manifest: JSON.parse(manifest),
  };
}

/** The status of a request with its own headers: `fetch` does not allow `Host`. */
async function statusOf({ url }: Setup, path: string, headers: Record<string, string>): Promise<number> {
  const sent = request(`${url}${path}`, { headers }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

/** What GitHub sends to the address that people return to. */
async function stateOf(setup: Setup, fields: Partial<typeof FIELDS> = {}): Promise<string> {
  const { action } = await formOf(setup, fields);
  return new URL(action).searchParams.get('state') ?? '';
}

/** What GitHub sends a person back to, after it has registered the App. */
const returnTo = (setup: Setup, state: string) =>
  fetch(`${setup.url}/setup/registered?code=the-code&state=${state}`, { redirect: 'manual' });

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
          name: 'countersign-acme',
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

  it('sends app.yml with this server’s addresses to the organisation on github.com, also from a folder with another app.yml', async () => {
    expect(await formOf(github)).toEqual({
      action: expect.stringMatching(
        /^https:\/\/github\.com\/organizations\/acme\/settings\/apps\/new\?state=[\w-]{43}$/,
      ),
      manifest: {
        ...appYml,
        name: 'countersign-acme',
        hook_attributes: { url: 'https://countersign.example.com/api/github/webhooks' },
        redirect_url: `${github.url}/setup/registered`,
        callback_urls: ['https://countersign.example.com/sign-in/callback'],
      },
    });
  });

  it.each([
    ['a personal account', { organisation: '' }, 'https://github.com/settings/apps/new'],
    [
      'a GitHub Enterprise Server',
      { github: 'https://github.acme.com/' },
      'https://github.acme.com/organizations/acme/settings/apps/new',
    ],
    [
      'GitHub Enterprise Cloud',
      { github: 'https://acme.ghe.com' },
      'https://acme.ghe.com/organizations/acme/settings/apps/new',
    ],
  ])('sends the same for %s', async (_, fields, address) => {
    const { action, manifest } = await formOf(github, fields);
    expect(action.replace(/\?.*/, '')).toBe(address);
    expect(manifest).toMatchObject({ default_permissions: appYml.default_permissions, public: false });
  });

  it('begins with the server and the address that the settings name', async () => {
    const page = await (await fetch(`${enterprise.url}/setup`)).text();
    expect(page).toContain(`name="github" value="http://127.0.0.1:${(api.address() as AddressInfo).port}"`);
    expect(await (await fetch(`${github.url}/setup`)).text()).toContain(
      'name="address" value="https://countersign.example.com"',
    );
  });

  it.each([
    ['organisation', 'https://github.com/acme'],
    ['organisation', '../x'],
    ['name', ''],
    ['name', 'x'.repeat(35)],
    ['name', '<b>'],
    ['address', 'countersign'],
    ['address', 'javascript:alert(1)'],
    ['github', 'http://github.acme.com'],
    ['github', 'https://github.com/acme'],
    ['github', 'https://github.acme.com;script-src'],
    ['address', 'http://localhost:3000'],
  ])('says at its field that this is no %s: %s', async (name, value) => {
    const answer = await choose(github, { [name]: value });
    const page = await answer.text();
    expect(answer.status).toBe(422);
    expect(page).toMatch(new RegExp(`<p class="wrong" id="${name}-wrong" role="alert">`));
    expect(page.match(/class="wrong"/g)).toHaveLength(1);
    expect(page).not.toContain('name="manifest"');
  });

  it('lets its form go to this server and to the chosen GitHub only, and runs no script', async () => {
    const policy = (answer: Response) => answer.headers.get('content-security-policy');
    expect(policy(await fetch(`${github.url}/setup`))).toMatch(/^default-src 'none'; .*form-action 'self';/);
    expect(policy(await choose(github))).toContain("form-action 'self' https://github.com;");
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
    expect(await statusOf(github, '/setup', { host: own, ...headers })).toBe(403);
  });

  it.each(['localhost:3000', '127.0.0.1', '[::1]:3000', '192.168.1.7:3000'])(
    'is shown under %s, which no DNS resolves',
    async (host) => {
      expect(await statusOf(github, '/setup', { host })).toBe(200);
    },
  );

  it.each<[string, Record<string, string>]>([
    ['another site', { origin: 'https://evil.example' }],
    ['the same machine’s other port', { origin: 'http://127.0.0.1:1' }],
    ['a frame without an origin', { origin: 'null' }],
    ['a request without an origin', {}],
  ])('accepts no form from %s', async (_what, headers) => {
    const answer = await choose(enterprise, {}, headers);
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining('Nothing was changed'),
    ]);
  });

  it.each(['', 'guessed'])('accepts no code from a link on another site: %j', async (state) => {
    await choose(enterprise, { github: addressOf(api) });
    expect((await returnTo(enterprise, state)).status).toBe(403);
    expect(existsSync(join(enterprise.folder, '.env'))).toBe(false);
  });

  it('accepts no body that is longer than a form can be', async () => {
    expect((await choose(github, { name: 'x'.repeat(20_000) })).status).toBe(403);
  });

  it('does not pass the probes of a working app', async () => {
    const probes = ['healthz', 'readyz'].map(async (path) => (await fetch(`${github.url}/${path}`)).status);
    expect(await Promise.all(probes)).toEqual([404, 404]);
  });

  it('says that GitHub gave no credentials, and stores nothing', async () => {
    const state = await stateOf(enterprise, { github: addressOf(api) });
    const answer = await fetch(`${enterprise.url}/setup/registered?code=old&state=${state}`, {
      redirect: 'manual',
    });
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('it answered 404')]);
    expect(existsSync(join(enterprise.folder, '.env'))).toBe(false);
  });

  it('stores what GitHub returns for its owner only, in a form that both Node and Docker read', async () => {
    const state = await stateOf(enterprise, { github: addressOf(api) });
    expect((await returnTo(enterprise, state)).headers.get('location')).toBe('/setup');
    expect(modeOf(enterprise)).toBe('600');
    expect(readConfig(parseEnv(envFileOf(enterprise)))).toMatchObject(registered);
    expect(readConfig(asDockerReads(envFileOf(enterprise)))).toMatchObject(registered);
  });

  it('then leads to the installation, and shows the check of the set-up', async () => {
    const page = await (await fetch(`${enterprise.url}/setup`)).text();
    expect(page).toContain('href="http://ghe/apps/countersign/installations/new"');
    // This GitHub knows only the conversion, and answers it to everything.
    expect(page).toContain('GitHub refuses the private key for the App 4711');
    expect(page).not.toContain(SECRET);
  });

  it('restricts an env file that others could read, keeps its other lines, and adds a server that it did not name', async () => {
    const state = await stateOf(github, { github: addressOf(api), address: 'https://other.example' });
    await returnTo(github, state);
    expect(modeOf(github)).toBe('600');
    expect(envFileOf(github)).toMatch(/^# Mine\.\nLOG_LEVEL=warn\nAPP_ID=4711\nPRIVATE_KEY="/);
    expect(readConfig(parseEnv(envFileOf(github)))).toMatchObject({
      config: { appId: 4711, publicUrl: 'https://other.example', githubApiUrl: `${addressOf(api)}/api/v3` },
    });
  });

  it('does not let a later visitor replace the App', async () => {
    const before = envFileOf(github);
    expect(await (await choose(github, { organisation: 'evil' })).text()).toContain('The App is registered');
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
  ])('is not offered %s', async (_where, name, env, sentence) => {
    const read = readConfig(env);
    if (!read.ok || read.config.kind !== 'setup') throw new Error('an App is set');
    const file = join(github.folder, name);
    await expect(
      offerSetup(read.config, { file, onRegistered() {}, selfCheck: async () => [] }),
    ).rejects.toThrow(sentence);
  });
});

/** A GitHub that only registers Apps, each with the code for a name. */
async function registrar(answer: (name: string, response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const code = /app-manifests\/([^/]*)\/conversions$/.exec(request.url ?? '')?.[1];
    if (code === undefined) return void response.writeHead(404).end('{}');
    asked.push(code);
    answer(code, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: addressOf(server), asked };
}

const credentialsOf = (name: string) =>
  JSON.stringify({
    id: name.length,
    name,
    client_id: 'Iv1.a',
    client_secret: 'b',
    webhook_secret: SECRET,
    pem: PEM,
    html_url: `https://github.com/apps/${name}`,
  });

/** What somebody sees whom GitHub sends back with a code. */
async function comeBack(setup: Setup, state: string, code: string) {
  const answer = await fetch(`${setup.url}/setup/registered?${new URLSearchParams({ code, state })}`);
  return { status: answer.status, page: await answer.text() };
}

describe('somebody who does not go straight through the setup', () => {
  it('gets the credentials from the GitHub that their own tab chose', async () => {
    const [mine, other] = await Promise.all([
      registrar((name, response) => response.end(credentialsOf(name))),
      registrar((name, response) => response.end(credentialsOf(name))),
    ]);
    const setup = await startSetup();
    const state = await stateOf(setup, { github: mine.url });
    await choose(setup, { github: other.url, address: 'https://other.example' });
    expect((await comeBack(setup, state, 'mine')).page).toContain('The credentials of “mine”');
    expect([mine.asked, other.asked]).toEqual([['mine'], []]);
    expect(parseEnv(envFileOf(setup))).toMatchObject({ PUBLIC_URL: FIELDS.address });
  });

  it('can load the page again while GitHub is asked and afterwards, and GitHub is asked once', {
    tags: 'slow',
  }, async () => {
    const held: (() => void)[] = [];
    const github = await registrar((name, response) => held.push(() => response.end(credentialsOf(name))));
    const setup = await startSetup();
    const state = await stateOf(setup, { github: github.url });
    const both = [comeBack(setup, state, 'one'), comeBack(setup, state, 'one')];
    while (held.length === 0) await fetch(`${setup.url}/setup/style.css`);
    for (const answer of held) answer();
    for (const { page } of [...(await Promise.all(both)), await comeBack(setup, state, 'one')])
      expect(page).toContain('The App is registered');
    expect(github.asked).toEqual(['one']);
  });

  it('hears that only the first of two Apps is kept', { tags: 'slow' }, async () => {
    const github = await registrar((name, response) => response.end(credentialsOf(name)));
    const setup = await startSetup();
    const state = await stateOf(setup, { github: github.url });
    await comeBack(setup, state, 'first');
    const before = envFileOf(setup);
    expect(await comeBack(setup, state, 'second')).toMatchObject({
      status: 500,
      page: expect.stringContaining('the App “first” was registered first'),
    });
    expect([envFileOf(setup), github.asked]).toEqual([before, ['first']]);
  });

  it.each([
    [
      'a page',
      (response: ServerResponse) => response.end(`<html>${SECRET}`),
      'its answer has no credentials',
    ],
    [
      'something else',
      (response: ServerResponse) => response.end(JSON.stringify({ id: SECRET })),
      'its answer has no credentials',
    ],
    [
      'more than credentials can be',
      (response: ServerResponse) => response.end(JSON.stringify(SECRET.repeat(20_000))),
      'the answer is larger than',
    ],
    ['nothing', (response: ServerResponse) => response.destroy(), 'other side closed'],
  ])(
    'reads why there are no credentials if GitHub answers %s, and the same page works later',
    {
      tags: 'slow',
    },
    async (_, bad, sentence) => {
      let isWell = false;
      const github = await registrar((name, response) =>
        isWell ? response.end(credentialsOf(name)) : bad(response),
      );
      const setup = await startSetup();
      const state = await stateOf(setup, { github: github.url });
      const { status, page } = await comeBack(setup, state, 'one');
      expect([status, page]).toEqual([500, expect.stringContaining(sentence)]);
      expect(page + setup.said()).not.toContain(SECRET);
      isWell = true;
      expect((await comeBack(setup, state, 'one')).page).toContain('The App is registered');
    },
  );

  it('finds the page that leads to GitHub again with the back button', { tags: 'slow' }, async () => {
    const setup = await startSetup();
    const { url, redirected } = await choose(setup);
    expect([redirected, (await fetch(url)).status]).toEqual([true, 200]);
  });

  it('is not sent to GitHub for a second App, if another process has registered one meanwhile', {
    tags: 'slow',
  }, async () => {
    const setup = await startSetup();
    writeFileSync(join(setup.folder, '.env'), 'APP_ID=7\n');
    const answer = await choose(setup);
    expect([answer.status, await answer.text()]).toEqual([
      500,
      expect.stringContaining('holds the settings of an App already'),
    ]);
  });

  it.each([
    ['::', /^http:\/\/127\.0\.0\.1:/, true],
    ['::1', /^http:\/\/\[::1\]:/, false],
  ])(
    'can open the page at the address that is printed for HOST=%s',
    {
      tags: 'slow',
    },
    async (HOST, address, isOpen) => {
      const setup = await startSetup({ HOST });
      expect(setup.url).toMatch(address);
      expect(setup.said().includes('HOST lets others reach')).toBe(isOpen);
      expect((await fetch(`${setup.url}/setup`)).status).toBe(200);
    },
  );

  it('hears that another program uses the port, and what to do', { tags: 'slow' }, async () => {
    const other = await registrar(() => {});
    const { url, said } = await startSetup({ PORT: new URL(other.url).port });
    expect([url, said()]).toEqual([
      undefined,
      expect.stringMatching(/another program uses port \d+: stop it, or set PORT/),
    ]);
  });
});

describe.skipIf(noBrowser !== undefined)('somebody in a browser without JavaScript', () => {
  it('registers the App for an organisation, installs it, and sees the check of the set-up turn green', {
    tags: 'slow',
  }, async () => {
    const github = await startGitHub();
    onTestFinished(() => github.stop());
    github.addOrganization('octo');
    github.addRepository({ owner: 'octo', name: 'app', files: { 'README.md': '# App\n' } });
    const setup = await startSetup({ GITHUB_API_URL: github.url });
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 360, height: 800 } });
    const checks = async () => {
      await page.waitForLoadState();
      return page.getByRole('listitem').allInnerTexts();
    };

    await page.goto(setup.url ?? '');
    expect(new URL(page.url()).pathname).toBe('/setup');
    await page.getByLabel('Organisation').fill('octo');
    await page.getByRole('button', { name: 'Continue' }).click();
    expect(await page.getByRole('alert').innerText()).toContain(
      'the address under which GitHub reaches this server',
    );
    expect(await page.getByLabel('Organisation').inputValue()).toBe('octo');
    await page.getByLabel('Address of this server').fill('http://127.0.0.1:9');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Register it on' }).click();

    await page.getByRole('heading', { name: 'The App is registered' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/setup');
    expect(await checks()).toEqual(
      expect.arrayContaining([
        expect.stringContaining('✓ app The private key works'),
        expect.stringContaining('✓ permissions The App has every permission and event'),
        expect.stringContaining('✗ installations The App is installed nowhere.'),
      ]),
    );
    github.installApp('octo');
    await page.getByRole('link', { name: 'Check again' }).click();
    expect(await checks()).toContainEqual(expect.stringContaining('✓ installations Installed for octo.'));
    expect(readConfig(parseEnv(envFileOf(setup)))).toMatchObject({
      config: { kind: 'app', appId: github.app.id, publicUrl: 'http://127.0.0.1:9' },
    });
  });

  it('can use the page: it breaks no rule of accessibility, in light and dark, and fits a phone', {
    tags: 'slow',
  }, async () => {
    const setup = await startSetup({ PUBLIC_URL: 'https://bot.example' });
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${setup.url}/setup`);
      expect(await brokenRules(page)).toEqual([]);
      await page.getByLabel('Name of the App').fill('');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('alert').waitFor();
      expect(await brokenRules(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    }
  });
});

it.runIf(noBrowser !== undefined)(`skips the setup page in a browser: ${noBrowser}`, () => {
  expect(noBrowser).toContain('apt-get install chromium');
});
