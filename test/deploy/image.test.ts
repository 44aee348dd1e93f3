import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bytesIn, prune } from '../../scripts/prune-packages.ts';
import { publishedLock, publishedManifest, readLock, readManifest } from '../../scripts/published-package.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const manifest = publishedManifest(readManifest(text('package.json')));
const lock = publishedLock(readLock(text('package-lock.json')), manifest);
/** The packages that are in `node_modules` for themselves, not within another. */
const outermost = Object.keys(lock.packages).filter((path) => path.lastIndexOf('node_modules/') === 0);

/** A `node_modules` as npm installs it for the published package on this machine. */
function installed(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-image-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of outermost) {
    // Packages for other platforms are in the lock, and not here.
    if (bytesIn(join(ROOT, path)) === 0) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, verbatimSymlinks: true });
  }
  return join(folder, 'node_modules');
}

/** As docs/performance.md promises, in bytes. `npm run test:package` measures the whole installation. */
const MOST = { installed: 100_000_000, image: 66_000_000 };

describe('the packages of an installation', () => {
  it('take at most 100 MB, and at most 66 MB in the image', () => {
    const modules = installed();
    expect(bytesIn(modules)).toBeLessThan(MOST.installed);
    prune(modules);
    expect(bytesIn(modules)).toBeLessThan(MOST.image);
  });

  it('work without what the image leaves out', () => {
    const modules = installed();
    prune(modules);
    const load = createRequire(join(modules, 'of-a-test.js'));
    const Database = load('better-sqlite3');
    const database = new Database(':memory:');
    expect(database.prepare('SELECT 1 + 1 AS two').get()).toEqual({ two: 2 });
    database.close();
    for (const language of ['@ast-grep/lang-go', '@ast-grep/lang-python']) {
      const { libraryPath } = load(language).default ?? load(language);
      expect(libraryPath.startsWith(modules)).toBe(true);
      expect(bytesIn(libraryPath)).toBeGreaterThan(100_000);
      expect(readdirSync(join(modules, language, 'prebuilds'))).toHaveLength(1);
    }
    expect(readdirSync(join(modules, 'better-sqlite3/prebuilds'))).toHaveLength(1);
  });

  it('keep every licence', () => {
    const licences = (modules: string) =>
      readdirSync(modules, { recursive: true, encoding: 'utf8' }).filter((path) =>
        /\/licen[cs]e[^/]*$/i.test(path),
      );
    const modules = installed();
    // The sources of native code name the licence of their package again.
    const before = licences(modules).filter((path) => !/node-addon-api|\/deps\//.test(path));
    prune(modules);
    expect(before.length).toBeGreaterThan(20);
    expect(licences(modules)).toEqual(before);
  });
});

describe('the Dockerfile', () => {
  const lines = text('Dockerfile').replaceAll('\\\n', ' ').split('\n');
  const [, ...stages] = lines.join('\n').split(/^FROM /m);
  const [build = '', final = ''] = stages;

  it('copies everything that the package is made of into the stage that makes it', () => {
    const copied = [...build.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
    const made = ['dist', 'npm-shrinkwrap.json'];
    const needed = [
      ...manifest.files.filter((name) => !made.includes(name)),
      'README.md',
      'LICENSE',
      'src',
      'scripts',
    ];
    expect(needed.filter((name) => !copied.includes(name))).toEqual([]);
  });

  it('makes the image of the published package, pruned, without npm', () => {
    expect(build).toMatch(
      /npm run package\b.*npm ci --omit=dev --ignore-scripts\b.*prune-packages\.ts node_modules/,
    );
    expect(final).toMatch(/^debian:bookworm-slim$/m);
    expect(final).toMatch(/^COPY --from=build \/app\/package \.\/$/m);
    expect(final.match(/^COPY .+$/gm)).toHaveLength(2);
  });

  it('runs the app as the user that compose.yaml and the manifest for Kubernetes name', () => {
    expect(final).toMatch(/useradd --uid 1000 --gid node\b.* node$/m);
    expect(final.indexOf('\nUSER node')).toBeLessThan(final.indexOf('\nCMD'));
    expect(final).toMatch(/HEALTHCHECK[\s\S]*\/healthz/);
  });
});
