import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { bytesIn } from '../scripts/prune-packages.ts';
import { readLock } from '../scripts/published-package.ts';
import { appEnvironment, freePort } from './support/app-environment.ts';
import { startGitHub } from './support/github/stand-in.ts';

/**
 * Packs the package as a release does, installs it into an empty folder and uses it from there. The installation reads from the
 * npm registry, or from npm's cache, and takes as long as both: `COUNTERSIGN_LONG=1` runs it, and so does `.ci/run`.
 */
const LONG = process.env.COUNTERSIGN_LONG === '1';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What `npm pack` reads. The checkout itself stays as it is, because packing builds, and other tests run at the same time. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'LICENSE',
  'app.yml',
  'chains',
  'docs/schema',
  'migrations',
  'scripts',
  'skills',
  'src',
  'studio',
];

const OPTIONS = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), dev: z.boolean().optional() })),
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

describe.skipIf(!LONG)('the npm package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-package-'));
  const checkout = join(folder, 'checkout');
  const home = join(folder, 'home');
  let packed: string[] = [];

  beforeAll(async () => {
    for (const name of SOURCES) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    mkdirSync(join(checkout, 'dist'));
    writeFileSync(join(checkout, 'dist/of-an-earlier-build.js'), '');
    mkdirSync(home);

    expect(await run(checkout, process.execPath, ['scripts/pack.ts'])).toMatchObject({ code: 0 });
    const { stdout } = await run(checkout, 'npm', [
      'pack',
      './package',
      '--json',
      '--pack-destination',
      folder,
    ]);
    const [{ filename, files }] = z
      .tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })])
      .parse(JSON.parse(stdout));
    packed = files.map(({ path }) => path);

    writeFileSync(join(home, 'package.json'), '{ "private": true }\n');
    const installed = await run(home, 'npm', ['install', ...OPTIONS, join(folder, filename)]);
    expect(installed).toMatchObject({ code: 0 });
  }, 900_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const countersign = (...args: string[]) => run(home, 'npx', ['countersign', ...args]);

  it('contains the build and what ships with it, and nothing else', () => {
    expect([...new Set(packed.map((path) => path.split('/')[0]))].sort()).toEqual([
      'LICENSE',
      'README.md',
      'app.yml',
      'chains',
      'dist',
      'docs',
      'migrations',
      'npm-shrinkwrap.json',
      'package.json',
      'skills',
      'studio',
    ]);
    expect(packed).not.toContain('dist/of-an-earlier-build.js');
  });

  it('pins every package that it needs to the version in the lock file', () => {
    const read = (path: string) => lockSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).packages;
    const locked = read(join(ROOT, 'package-lock.json'));
    const pinned = Object.entries(read(join(home, 'node_modules/countersign/npm-shrinkwrap.json'))).filter(
      ([path]) => path !== '',
    );
    expect(pinned.length).toBeGreaterThan(30);
    for (const [path, { version }] of pinned) expect([path, version]).toEqual([path, locked[path]?.version]);
    const installed = readLock(readFileSync(join(home, 'package-lock.json'), 'utf8')).packages;
    const known = new Set(pinned.map(([path, { version }]) => `${path} ${version}`));
    const others = Object.entries(installed).filter(
      ([path, { version }]) =>
        !/^(node_modules\/countersign)?$/.test(path) &&
        !known.has(`${path.replace(/^node_modules\/countersign\//, '')} ${version}`),
    );
    expect(others.map(([path]) => path)).toEqual([]);
  });

  it('takes at most 115 MB with everything that it needs', () => {
    expect(bytesIn(join(home, 'node_modules'))).toBeLessThan(115_000_000);
  });

  it('has the licence of everything that its build contains', () => {
    const dist = join(home, 'node_modules/countersign/dist');
    const licences = readdirSync(join(dist, 'licences'));
    for (const name of ['zod', 'kysely', 'ai', '@ax-llm-ax', 'markdownlint', 'hono'])
      expect(licences).toContain(`${name}.txt`);
  });

  it('answers npx countersign --help', async () => {
    const { code, stdout } = await countersign('--help');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: countersign/) });
  });

  it('checks a chain, and finds the error in an invalid one', async () => {
    const chain = readFileSync(join(ROOT, 'chains/pr-review.yaml'), 'utf8');
    writeFileSync(join(home, 'good.yaml'), chain);
    writeFileSync(join(home, 'bad.yaml'), chain.replace('skill: pr-review', 'skill: pr-reveiw'));
    const [good, bad] = [
      await countersign('chain', 'lint', 'good.yaml'),
      await countersign('chain', 'lint', 'bad.yaml'),
    ];
    expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining('Checked 1 file: no errors.') });
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringContaining('did you mean "pr-review"?') });
  });

  it('finds the shipped skills and their analyzers, which run in a sandbox', async () => {
    const { code, stdout } = await countersign('skill', 'test', '--json');
    const { cases } = z
      .object({ cases: z.array(z.object({ skill: z.string(), kind: z.string() })) })
      .parse(JSON.parse(stdout));
    expect(code).toBe(0);
    expect(new Set(cases.map(({ skill }) => skill))).toContain('pr-review');
    expect(new Set(cases.map(({ kind }) => kind))).toEqual(new Set(['passed']));
  });

  it('runs in a Probot server, by its name', async () => {
    const { devDependencies } = z
      .looseObject({ devDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
    const probot = await run(home, 'npm', ['install', ...OPTIONS, `probot@${devDependencies.probot}`]);
    expect(probot).toMatchObject({ code: 0 });
    const github = await startGitHub();
    onTestFinished(() => github.stop());
    const port = await freePort();
    const { PATH: _path, ...settings } = appEnvironment(github, {
      databaseUrl: 'sqlite:hosted/countersign.db',
      artifactsUrl: 'file:hosted/artifacts',
      port,
    });
    const server = spawn('node_modules/.bin/probot', ['run', 'countersign'], {
      cwd: home,
      env: { ...environment(), ...settings, GHE_HOST: new URL(github.url).host, GHE_PROTOCOL: 'http' },
      stdio: 'ignore',
    });
    const ended = once(server, 'close');
    const health = async () =>
      (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status;
    await expect.poll(health).toBe(200);
    server.kill('SIGTERM');
    await ended;
  });

  it.each([
    ['as npx countersign serve', 'npx', ['countersign']],
    ['by its bin, as a supervisor starts it', 'node_modules/.bin/countersign', []],
  ])(
    'starts the app with the settings of a file, and stops it on SIGTERM: %s',
    async (_how, command, first) => {
      const github = await startGitHub();
      onTestFinished(() => github.stop());
      const { PATH: _path, ...settings } = appEnvironment(github, {
        databaseUrl: 'sqlite:data/countersign.db',
        artifactsUrl: 'file:data/artifacts',
      });
      const lines = Object.entries(settings).map(
        ([name, value]) => `${name}=${value.replaceAll('\n', '\\n')}`,
      );
      writeFileSync(join(home, 'app.env'), `${lines.join('\n')}\n`);

      const app = spawn(command, [...first, 'serve', '--settings', 'app.env'], {
        cwd: home,
        env: environment(),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      // When the log is closed, so not before the app itself has ended, whatever npm started in between.
      const ended = once(app, 'close');
      const { url, log } = await listening(app);
      const health = await fetch(`${url}/healthz`);
      app.kill('SIGTERM');
      const [code] = await ended;
      expect(health.status).toBe(200);
      expect(log.join('\n')).toContain('"signal":"SIGTERM"');
      // npm itself may end by the signal, whatever the app's exit code is.
      if (command !== 'npx') expect(code).toBe(0);
    },
  );
});

/** Where the app listens, and its log, which continues. */
async function listening(child: ChildProcess): Promise<{ url: string; log: string[] }> {
  if (!child.stderr) throw new Error('the log is not read');
  const log: string[] = [];
  const lines = createInterface({ input: child.stderr });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      log.push(line);
      const found = /"url":"([^"]+)"/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error(`ended before it listened:\n${log.join('\n')}`)));
  });
  return { url, log };
}

/** A person's environment: without the tests' own npm and the checkout's settings. The Node is the one that runs this test. */
function environment(): NodeJS.ProcessEnv {
  const { PATH = '', HOME } = process.env;
  const ofNpm = Object.entries(process.env).filter(([name]) =>
    /^npm_config_(registry|cache|userconfig|globalconfig)$/i.test(name),
  );
  return { ...Object.fromEntries(ofNpm), HOME, PATH: [dirname(process.execPath), PATH].join(delimiter) };
}

async function run(cwd: string, command: string, args: string[]): Promise<Ended> {
  try {
    const options = { cwd, env: environment(), maxBuffer: 64 * 1024 * 1024 };
    return { code: 0, ...(await promisify(execFile)(command, args, options)) };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
}
