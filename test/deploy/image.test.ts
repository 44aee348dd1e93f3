import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
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
const MOST = { installed: 100_000_000, image: 64_000_000 };

describe('the packages of an installation', () => {
  it('take at most 100 MB, and at most 64 MB in the image', () => {
    const modules = installed();
    expect(bytesIn(modules)).toBeLessThan(MOST.installed);
    prune(modules);
    expect(bytesIn(modules)).toBeLessThan(MOST.image);
  });

  it('work without what the image leaves out', { tags: 'slow' }, () => {
    const modules = installed();
    prune(modules);
    const load = createRequire(join(modules, 'of-a-test.js'));
    const Database = load('better-sqlite3');
    const database = new Database(':memory:');
    expect(database.prepare('SELECT 1 + 1 AS two').get()).toEqual({ two: 2 });
    database.close();
    expect(load('minijinja-js').Environment).toBeTypeOf('function');
    for (const language of ['@ast-grep/lang-go', '@ast-grep/lang-python']) {
      const { libraryPath } = load(language).default ?? load(language);
      expect(libraryPath.startsWith(modules)).toBe(true);
      expect(bytesIn(libraryPath)).toBeGreaterThan(100_000);
      expect(readdirSync(join(modules, language, 'prebuilds'))).toHaveLength(1);
    }
    expect(readdirSync(join(modules, 'better-sqlite3/prebuilds'))).toHaveLength(1);
  });

  it('keep every licence', { tags: 'slow' }, () => {
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

const hasDebian = spawnSync('dpkg-deb', ['--version']).status === 0;

describe.skipIf(!hasDebian)('the root of the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-root-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const root = join(folder, 'root');

  /** Packs a package as Debian does, with these files. */
  function pack(name: string, files: Record<string, string>): void {
    const tree = join(folder, 'trees', name);
    const control = `Package: ${name}\nVersion: 1\nArchitecture: all\nMaintainer: m\nDescription: d\n`;
    for (const [path, content] of Object.entries({ ...files, 'DEBIAN/control': control })) {
      mkdirSync(join(tree, dirname(path)), { recursive: true });
      writeFileSync(join(tree, path), content);
      chmodSync(join(tree, path), path.includes('bin/') ? 0o755 : 0o644);
    }
    execFileSync('dpkg-deb', ['--build', tree, join(folder, 'debs', `${name}_1_all.deb`)]);
  }

  beforeAll(() => {
    mkdirSync(join(folder, 'debs'));
    pack('busybox', { 'bin/busybox': '#!/bin/sh\nprintf "%s\\n" ls sh unshare\n' });
    pack('dash', {
      'bin/sh': 'dash',
      'usr/share/doc/dash/copyright': '©',
      'usr/share/doc/dash/changelog.gz': '',
    });
    pack('libc6', { 'lib/a-linux-gnu/libc.so.6': 'c', 'usr/lib/a-linux-gnu/gconv/KOI8-R.so': 'table' });
    pack('util-linux', {
      'usr/bin/unshare': 'real',
      'usr/bin/prlimit': 'real',
      'bin/lsblk': 'unused',
      'usr/share/doc/util-linux/copyright': '©',
    });
    execFileSync(join(ROOT, 'scripts/image-root'), [join(folder, 'debs'), root]);
  });

  it('has of the packages what runs, and every licence', () => {
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      // The same again behind links of the root.
      .filter((path) => !/^(bin|lib)\//.test(path));
    expect(files.sort()).toEqual([
      'bin',
      'etc/group',
      'etc/nsswitch.conf',
      'etc/passwd',
      'lib',
      'lib64',
      'sbin',
      'usr/bin/busybox',
      'usr/bin/ls',
      'usr/bin/prlimit',
      'usr/bin/sh',
      'usr/bin/unshare',
      'usr/lib/a-linux-gnu/libc.so.6',
      'usr/share/doc/dash/copyright',
      'usr/share/doc/util-linux/copyright',
      'var/lib/dpkg/status.d/busybox',
      'var/lib/dpkg/status.d/dash',
      'var/lib/dpkg/status.d/libc6',
      'var/lib/dpkg/status.d/util-linux',
    ]);
  });

  it('prefers the programs of packages to those of busybox', () => {
    expect(readFileSync(join(root, 'bin/unshare'), 'utf8')).toBe('real');
    expect(readFileSync(join(root, 'bin/sh'), 'utf8')).toBe('dash');
    expect(readlinkSync(join(root, 'usr/bin/ls'))).toBe('busybox');
  });

  it('tells scanners the version of each package', () => {
    expect(readFileSync(join(root, 'var/lib/dpkg/status.d/libc6'), 'utf8')).toMatch(
      /^Package: libc6\nVersion: 1$/m,
    );
  });
});

describe('the Dockerfile', () => {
  const lines = text('Dockerfile').replaceAll('\\\n', ' ').split('\n');
  const [, ...stages] = lines.join('\n').split(/^FROM /m);
  const [build = '', root = '', final = ''] = stages;

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
    expect(final).toMatch(/^scratch$/m);
    expect(final).toMatch(/^COPY --from=root \/image \/$/m);
    expect(final).toMatch(/^COPY --from=build \/app\/package \.\/$/m);
    expect(final.match(/^COPY .+$/gm)).toHaveLength(2);
    expect(final).not.toMatch(/^RUN /m);
  });

  it('fails to build if a program of the image lacks a library', () => {
    expect(root).toMatch(/^COPY --from=build \/usr\/local\/bin\/node \/image\/usr\/local\/bin\/node$/m);
    expect(root).toMatch(
      /chroot \/image \/bin\/sh -c 'node --version && unshare --version && prlimit --version'/,
    );
  });

  it('finds its programs by a path of its own, because an empty image has none', () => {
    expect(final).toMatch(/^ENV PATH=\/usr\/local\/bin:\/usr\/bin$/m);
  });

  it('runs the app as the user that compose.yaml and the manifest for Kubernetes name', () => {
    expect(text('scripts/image-root')).toContain("'node:x:1000:1000:node:/home/node:/bin/sh'");
    expect(root).toMatch(/chown 1000:1000 \/image\/app\/data\b/);
    expect(final.indexOf('\nUSER node')).toBeLessThan(final.indexOf('\nCMD'));
    expect(final).toMatch(/HEALTHCHECK[\s\S]*\/healthz/);
  });

  it('starts the app as the image on Debian of docs/operations.md does', () => {
    const [, recipe = ''] = /^```dockerfile\n([\s\S]+?)^```$/m.exec(text('docs/operations.md')) ?? [];
    const settings = (stage: string) =>
      [...stage.matchAll(/^ENV (.+)$/gm)].flatMap(([, line = '']) => line.split(' ')).sort();
    const start = /^CMD .+$/m;
    expect(settings(recipe)).toEqual(settings(final).filter((setting) => !setting.startsWith('PATH=')));
    expect(recipe).toContain(start.exec(final)?.[0]);
    expect(recipe).toMatch(/^USER 1000:1000$/m);
  });
});
