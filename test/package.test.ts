import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { publishedLock, publishedManifest, readLock, readManifest } from '../scripts/published-package.ts';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

it('every dependency with an install script is allowed or denied by name, and only the pinned Node is allowed', () => {
  const lock = z
    .object({ packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })) })
    .parse(read('package-lock.json'));
  const { allowScripts } = z
    .object({ allowScripts: z.record(z.string(), z.boolean()) })
    .parse(read('package.json'));
  const withScripts = Object.entries(lock.packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));

  expect(withScripts.filter((name) => allowScripts[name] === undefined)).toEqual([]);
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node']);
});

describe('the published package', () => {
  const manifest = readManifest(
    JSON.stringify({
      name: 'x',
      private: true,
      scripts: { test: 'x' },
      files: [],
      dependencies: { pino: '1.0.0', hono: '2.0.0' },
      devDependencies: { vitest: '3.0.0' },
    }),
  );
  const lock = readLock(
    JSON.stringify({
      lockfileVersion: 3,
      packages: {
        '': { name: 'x', dependencies: manifest.dependencies },
        'node_modules/hono': { version: '2.0.0' },
        'node_modules/pino': {
          version: '1.0.0',
          dependencies: { a: '1' },
          optionalDependencies: { absent: '1' },
        },
        'node_modules/pino/node_modules/a': { version: '1.0.0', dependencies: { b: '1' }, devOptional: true },
        'node_modules/a': { version: '2.0.0' },
        'node_modules/b': { version: '1.0.0', dependencies: { a: '2', pino: '1' } },
        'node_modules/c': { version: '1.0.0' },
        'node_modules/vitest': { version: '3.0.0', dev: true, dependencies: { c: '1' } },
      },
    }),
  );

  it('depends only on what the build does not contain, and has nothing of a checkout', () => {
    expect(publishedManifest(manifest)).toEqual({ name: 'x', files: [], dependencies: { pino: '1.0.0' } });
  });

  it('locks what its dependencies need, as Node finds it, and nothing else', () => {
    const published = publishedLock(lock, publishedManifest(manifest));
    expect(published.packages).toEqual({
      '': { name: 'x', dependencies: { pino: '1.0.0' } },
      'node_modules/pino': lock.packages['node_modules/pino'],
      'node_modules/pino/node_modules/a': { version: '1.0.0', dependencies: { b: '1' } },
      'node_modules/a': { version: '2.0.0' },
      'node_modules/b': lock.packages['node_modules/b'],
    });
  });

  it('cannot be published from the checkout by mistake', () => {
    expect(read('package.json')).toMatchObject({ private: true });
  });

  it('asks for Probot only from those who run it in a Probot server, in the version that the tests run', () => {
    const { peerDependencies, peerDependenciesMeta, devDependencies } = z
      .looseObject({ devDependencies: z.record(z.string(), z.string()) })
      .parse(read('package.json'));
    expect(peerDependencies).toEqual({ probot: `^${devDependencies.probot}` });
    expect(peerDependenciesMeta).toEqual({ probot: { optional: true } });
  });
});
