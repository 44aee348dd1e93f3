import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonWithLines } from '../../../src/analyzers/builtin/dependencies/json-lines.ts';
import { looseness } from '../../../src/analyzers/builtin/dependencies/looseness.ts';
import { similarName } from '../../../src/analyzers/builtin/dependencies/near-name.ts';
import { checkDependencies } from '../../../src/analyzers/builtin/dependencies.ts';
import { describeRules, lookAt, type Row, rulesOf } from './table.ts';

interface Change {
  /** The file under test; the others exist too. */
  path: string;
  files: Record<string, { text: string; before?: string } | string>;
  others?: string[];
}

const found = ({ path, files, others }: Change) => lookAt(checkDependencies, path, files, others);

const REGISTRY = 'https://registry.acme.test';
const HASH = 'sha512-aaaa';
const left = { version: '1.0.0', resolved: `${REGISTRY}/left/-/left-1.0.0.tgz`, integrity: HASH };

function npm(packages: object, root: object = {}): string {
  return JSON.stringify({ lockfileVersion: 3, packages: { '': root, ...packages } }, null, 2);
}

/** A `package-lock.json` with this entry for `left` instead of a good one. */
const npmWith = (entry: object, before: object = left): Change => ({
  path: 'package-lock.json',
  files: {
    'package-lock.json': {
      text: npm({ 'node_modules/left': entry }),
      before: npm({ 'node_modules/left': before }),
    },
  },
});

const yarn = (lines: string, before = ''): Change => ({
  path: 'yarn.lock',
  files: {
    'yarn.lock': { text: `# yarn lockfile v1\n\n${lines}\n`, before: `# yarn lockfile v1\n\n${before}\n` },
  },
});
const YARN_LEFT = `left@^1.0.0:\n  version "1.0.0"\n  resolved "https://registry.acme.test/left/-/left-1.0.0.tgz#0a"\n  integrity ${HASH}\n`;

const pnpm = (packages: string, before = 'packages: {}'): Change => ({
  path: 'pnpm-lock.yaml',
  files: {
    'pnpm-lock.yaml': {
      text: `lockfileVersion: '9.0'\n${packages}\n`,
      before: `lockfileVersion: '9.0'\n${before}\n`,
    },
  },
});
const PNPM_LEFT = `packages:\n  left@1.0.0:\n    resolution: { integrity: ${HASH} }`;

const manifest = (now: object, before: object = {}, others: string[] = []): Change => ({
  path: 'package.json',
  files: { 'package.json': { text: JSON.stringify(now), before: JSON.stringify(before) } },
  others,
});
const deps = (dependencies: object) => ({ dependencies });

const file = (path: string, text: string): Change => ({ path, files: { [path]: text } });

const ROWS: Row<Change>[] = [
  ['unreadable', file('package-lock.json', '{'), file('package-lock.json', npm({}))],
  ['unreadable', file('package-lock.json', '{"packages": {"": {}, "": {}}}'), file('package.json', '{}')],
  ['unreadable', yarn('left@^1.0.0:\n   version "1"'), yarn(YARN_LEFT)],
  ['unreadable', pnpm('packages:\n  a: &a {}\n  b: *a'), pnpm(PNPM_LEFT)],
  [
    'integrity-changed',
    npmWith({ ...left, integrity: 'sha512-bbbb' }),
    npmWith({ ...left, version: '1.0.1', integrity: 'sha512-bbbb' }),
  ],
  [
    'integrity-changed',
    npmWith({ ...left, integrity: 'sha1-cccc' }),
    npmWith(left, { ...left, integrity: 'sha1-cccc' }),
  ],
  ['integrity-changed', yarn(YARN_LEFT.replace('aaaa', 'bbbb'), YARN_LEFT), yarn(YARN_LEFT, YARN_LEFT)],
  ['integrity-changed', pnpm(PNPM_LEFT.replace('aaaa', 'bbbb'), PNPM_LEFT), pnpm(PNPM_LEFT, PNPM_LEFT)],
  [
    'integrity-missing',
    npmWith({ ...left, integrity: undefined }),
    npmWith({ version: '1.0.0', link: true }),
  ],
  ['integrity-missing', yarn(YARN_LEFT.replace(/ {2}integrity.*\n/, ''), YARN_LEFT), yarn(YARN_LEFT, '')],
  [
    'other-package',
    npmWith({ ...left, resolved: `${REGISTRY}/evil/-/evil-1.0.0.tgz` }),
    npmWith({ ...left, name: 'evil', resolved: `${REGISTRY}/evil/-/evil-1.0.0.tgz` }),
  ],
  [
    'other-package',
    npmWith({ ...left, resolved: `${REGISTRY}/left/-/left-0.9.0.tgz` }),
    npmWith({ ...left, version: '0.9.0', resolved: `${REGISTRY}/left/-/left-0.9.0.tgz` }),
  ],
  ['other-package', npmWith({ ...left, resolved: `${REGISTRY}/x/left/-/left-1.0.0.tgz` }), npmWith(left)],
  [
    'insecure-source',
    npmWith({ ...left, resolved: 'http://registry.acme.test/left/-/left-1.0.0.tgz' }),
    npmWith(left),
  ],
  ['insecure-source', file('.npmrc', 'strict-ssl=false'), file('.npmrc', 'strict-ssl=true')],
  ['insecure-source', manifest(deps({ a: 'git://x.test/a.git' })), manifest(deps({ a: '^1.0.0' }))],
  [
    'new-host',
    npmWith({ ...left, resolved: 'https://evil.test/left/-/left-1.0.0.tgz' }),
    npmWith(
      { ...left, version: '1.1.0', resolved: 'https://npm.acme.test/left/-/left-1.1.0.tgz' },
      { ...left, resolved: 'https://npm.acme.test/left/-/left-1.0.0.tgz' },
    ),
  ],
  [
    'direct-source',
    npmWith({ version: '1.0.0', resolved: 'git+ssh://git@github.com/a/left.git#abc' }),
    npmWith(left),
  ],
  ['direct-source', manifest(deps({ a: 'acme/a#main' })), manifest(deps({ a: 'npm:@acme/a@^1.0.0' }))],
  ['direct-source', manifest(deps({ a: 'https://x.test/a.tgz' })), manifest(deps({ a: 'workspace:*' }))],
  [
    'registry-changed',
    file('.npmrc', '@acme:registry=https://npm.evil.test/'),
    file('.npmrc', 'save-exact=true'),
  ],
  [
    'registry-changed',
    file('.yarnrc.yml', 'npmRegistryServer: "https://npm.evil.test"'),
    file('.yarnrc.yml', 'nodeLinker: pnp'),
  ],
  [
    'near-name',
    manifest(deps({ lodash: '1.0.0', lodahs: '1.0.0' }), deps({ lodash: '1.0.0' })),
    manifest(deps({ lodash: '2.0.0' }), deps({ lodash: '1.0.0' })),
  ],
  [
    'install-script',
    npmWith({ ...left, hasInstallScript: true }),
    npmWith({ ...left, version: '1.0.1', hasInstallScript: true }, { ...left, hasInstallScript: true }),
  ],
  [
    'lifecycle-script',
    manifest({ scripts: { postinstall: 'node x.js' } }),
    manifest({ scripts: { test: 'node x.js' } }),
  ],
  [
    'lifecycle-script',
    manifest({ scripts: { prepare: 'b' } }, { scripts: { prepare: 'a' } }),
    manifest({ scripts: { prepare: 'a' } }, { scripts: { prepare: 'a' } }),
  ],
  [
    'range-loosened',
    manifest(deps({ a: '^1.0.0' }), deps({ a: '1.0.0' })),
    manifest(deps({ a: '1.0.1' }), deps({ a: '^1.0.0' })),
  ],
  ['range-loosened', manifest(deps({ a: 'latest' })), manifest({ peerDependencies: { a: '>=1' } })],
  [
    'lock-not-updated',
    manifest(deps({ a: '2.0.0' }), deps({ a: '1.0.0' }), ['yarn.lock']),
    manifest(deps({ a: '2.0.0' }), deps({ a: '1.0.0' })),
  ],
  [
    'lock-mismatch',
    {
      path: 'package.json',
      files: {
        'package.json': { text: JSON.stringify(deps({ a: '2.0.0' })) },
        'package-lock.json': npm({}, deps({ a: '1.0.0' })),
      },
    },
    {
      path: 'package.json',
      files: {
        'package.json': { text: JSON.stringify(deps({ a: '2.0.0' })) },
        'package-lock.json': npm({}, deps({ a: '2.0.0' })),
      },
    },
  ],
];

describeRules('dependencies', ROWS, (change) => rulesOf(found(change)));

describe('a lock file', () => {
  test('is reported at the entry that is wrong', () => {
    expect(found(npmWith({ ...left, integrity: 'sha512-bbbb' }))).toEqual(['integrity-changed:5']);
    expect(found(yarn(YARN_LEFT.replace('registry.acme.test', 'evil.test'), YARN_LEFT))).toEqual([
      'new-host:3',
    ]);
  });

  test('is reported also if its entry starts in the middle of a line', () => {
    const text = JSON.stringify(JSON.parse(npm({ 'node_modules/left': { ...left, integrity: 'sha512-b' } })));
    expect(
      found({
        path: 'package-lock.json',
        files: { 'package-lock.json': { text, before: npm({ 'node_modules/left': left }) } },
      }),
    ).toEqual(['integrity-changed:1']);
  });

  test('without an earlier version counts as new in full', () => {
    const change = npmWith({ ...left, hasInstallScript: true });
    const text = npm({ 'node_modules/left': { ...left, hasInstallScript: true } });
    expect(found({ ...change, files: { 'package-lock.json': text } })).toEqual(['install-script:5']);
  });

  test('of a workspace covers its folders, and knows what each requires', () => {
    const text = JSON.stringify(deps({ a: '2.0.0' }));
    const lock = npm({ 'packages/x': deps({ a: '1.0.0' }) });
    const files = { 'packages/x/package.json': text, 'package-lock.json': lock };
    expect(found({ path: 'packages/x/package.json', files })).toEqual(['lock-mismatch:1']);
  });

  test('of a later yarn and of an older pnpm is read too', () => {
    const berry = `__metadata:\n  version: 8\n\n"left@npm:^1.0.0":\n  version: 1.0.0\n  resolution: "left@npm:1.0.0"\n  checksum: 10/aa\n`;
    const change = (text: string) => ({ path: 'yarn.lock', files: { 'yarn.lock': { text, before: berry } } });
    expect(found(change(berry))).toEqual([]);
    expect(found(change(berry.replace('10/aa', '10/bb')))).toEqual(['integrity-changed:4']);
    expect(
      found(
        change(berry.replace('resolution: "left@npm:1.0.0"', 'resolution: "left@https://evil.test/l.tgz"')),
      ),
    ).toEqual(['new-host:4']);
    const old = (hash: string) => `packages:\n  /@a/left/1.0.0:\n    resolution: {integrity: ${hash}}`;
    expect(found(pnpm(old('sha512-b'), old('sha512-a')))).toEqual(['integrity-changed:3']);
  });

  test('of any text is read without an error', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('package.json', 'package-lock.json', 'yarn.lock', 'pnpm-lock.yaml', '.npmrc'),
        fc.oneof(fc.string(), fc.json()),
        (path, text) => {
          expect(() => found(file(path, text))).not.toThrow();
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('JSON with places has the values that JSON.parse reads', () => {
  const plain = (node: ReturnType<typeof parseJsonWithLines>): unknown => {
    if (node.kind === 'object')
      return Object.fromEntries([...node.members].map(([key, value]) => [key, plain(value)]));
    return node.kind === 'list' ? node.items.map(plain) : node.value;
  };
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(0, 2), (text, indent) => {
      const value = JSON.parse(text);
      fc.pre(!text.includes('__proto__'));
      expect(plain(parseJsonWithLines(JSON.stringify(value, null, indent)))).toEqual(
        JSON.parse(JSON.stringify(value)),
      );
    }),
  );
});

test.each(['{"a":1,"a":2}', '{"a":1} x', '[1,]', '{"a"}', '', "{'a':1}", '['.repeat(100)])(
  '%j is not valid JSON here',
  (text) => {
    expect(() => parseJsonWithLines(text)).toThrow(SyntaxError);
  },
);

test.each([
  ['lodahs', 'lodash'],
  ['expres', 'express'],
  ['expresss', 'express'],
  ['crossenv', 'cross-env'],
  ['@bable/core', '@babel/core'],
])('%s could be mistaken for %s', (name, known) => {
  expect(similarName(name, ['other', known])).toBe(known);
});

test.each([
  ['ws', 'ms'],
  ['lodash', 'lodash'],
  ['@babel/parsed', '@babel/parser'],
  ['lodash-es', 'lodash'],
  ['@acme/lodash', 'lodash'],
])('%s could not be mistaken for %s', (name, known) => {
  expect(similarName(name, [known])).toBeUndefined();
});

test.each([
  ['1.2.3', 0],
  ['workspace:*', 0],
  ['~1.2.3', 1],
  ['^1.2.3', 2],
  ['npm:@a/b@^1.2.3', 2],
  ['>=1.0.0 <2.0.0', 3],
  ['1.x || 2.x', 3],
  ['>=1.0.0', 4],
  ['*', 4],
  ['', 4],
  ['latest', 4],
])('the range %j is as loose as %i', (range, loose) => {
  expect(looseness(range)).toBe(loose);
});
