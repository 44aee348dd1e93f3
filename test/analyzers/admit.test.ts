import { describe, expect, test } from 'vitest';
import { admit, MAX_FILES } from '../../src/analyzers/admit.ts';
import {
  type ChangedFile,
  isTestPath,
  languageOf,
  neutralName,
  wantsContent,
} from '../../src/analyzers/changed-file.ts';
import type { SeenBy } from '../../src/domain/outcome/review-verdict.ts';
import { added } from './support.ts';

const MINIFIED = 'has lines as long as minified code: searched for secrets only';

const bytes = (path: string, content: Uint8Array): ChangedFile => ({ path, status: 'added', content });

describe('a file that cannot be reviewed is named, and prevents the verdict if it is code', () => {
  test.each<[string, ChangedFile, string, boolean]>([
    ['an image', added('a.png', 'x'), 'a binary file', false],
    ['code with a NUL', bytes('a.js', Uint8Array.of(97, 0, 98)), 'not UTF-8 text', true],
    ['code in Latin-1', bytes('a.py', Uint8Array.of(0x27, 0xe9, 0x27)), 'not UTF-8 text', true],
    ['data in Latin-1', bytes('a.csv', Uint8Array.of(0xe9)), 'not UTF-8 text', false],
    ['large code', bytes('a.ts', new Uint8Array(1_000_001).fill(97)), 'larger than 1 MB', true],
    ['large data', bytes('a.json', new Uint8Array(1_000_001).fill(97)), 'larger than 1 MB', false],
    [
      'what the caller omitted',
      { path: 'a.ts', status: 'added', leftOut: 'a submodule' },
      'a submodule',
      true,
    ],
    ['what was not fetched', { path: 'a.md', status: 'added' }, 'its content could not be fetched', true],
    [
      'a path that leads outside',
      added('../a.ts', 'x'),
      'its path cannot be used: it has an empty, "." or ".." part',
      true,
    ],
  ])('%s', (_, file, reason, needed) => {
    expect(admit([file])).toEqual({ files: [], leftOut: [{ path: file.path, reason, needed }] });
  });
});

describe('a file that is not reviewed in full is named, and does not prevent the verdict', () => {
  const long = `${' '.repeat(20_000)}eval(y)`;

  test.each<[string, string, string, SeenBy | undefined]>([
    ['main.rs', 'x', 'no analyzer knows its language: searched for secrets only', 'secret_search'],
    ['vendor/x/a.rs', 'x', 'no analyzer knows its language: searched for secrets only', 'secret_search'],
    ['a.min.js', long.slice(19_000), MINIFIED, 'secret_search'],
    ['dist/a.js', long, MINIFIED, 'secret_search'],
    ['package-lock.json', 'x', 'a lock file: searched for secrets only', undefined],
    ['pnpm-lock.yaml', 'x', 'a lock file: searched for secrets only', undefined],
  ])('%s', (path, text, reason, seenBy) => {
    const { files, leftOut } = admit([added(path, text)]);
    expect(files).toMatchObject([{ path, language: 'other' }]);
    expect(leftOut).toEqual([{ path, reason, needed: false, ...(seenBy && { seen_by: seenBy }) }]);
  });

  test.each([
    ['dist/a.js', 'larger than 1 MB', new Uint8Array(1_000_001)],
    ['lib/a.so', 'a binary file', new Uint8Array(1)],
  ])('%s, which no analyzer reads', (path, reason, content) => {
    expect(admit([bytes(path, content)])).toEqual({
      files: [],
      leftOut: [{ path, reason, needed: false, seen_by: 'nobody' }],
    });
  });

  test('code that looks minified under an ordinary name prevents the verdict', () => {
    const { files, leftOut } = admit([added('src/a.js', long)]);
    expect(files).toMatchObject([{ language: 'other' }]);
    expect(leftOut).toEqual([{ path: 'src/a.js', reason: MINIFIED, needed: true }]);
  });
});

test.each([
  ['dist/a.js', 'javascript'],
  ['src/a.min.js', 'javascript'],
  ['node_modules/x/a.mjs', 'javascript'],
  ['third_party/a.py', 'python'],
  ['src/handler.gen.ts', 'typescript'],
  ['api_pb2.py', 'python'],
])('the name %s exempts a file from no analyzer', (path, language) => {
  expect(admit([added(path, 'eval(x)\n')])).toMatchObject({ files: [{ path, language }], leftOut: [] });
});

describe('the lines that count', () => {
  const changed = (file: ChangedFile) => admit([file]).files[0]?.changed;
  const content = Buffer.from('a\nb\n');

  test('are all of an added file whose patch GitHub omits', () => {
    expect(changed({ path: 'a.ts', status: 'added', content })).toBe('all');
  });

  test('are those of the patch', () => {
    expect(changed({ path: 'a.ts', status: 'modified', content, patch: '@@ -2 +2 @@\n-x\n+b' })).toEqual(
      new Set([2]),
    );
  });

  test('are all of a modified file without a patch, and the review says so', () => {
    const { files, leftOut } = admit([{ path: 'a.ts', status: 'modified', content }]);
    expect(files[0]?.changed).toBe('all');
    expect(leftOut).toEqual([
      { path: 'a.ts', reason: 'GitHub sent no diff, so findings anywhere in the file count', needed: false },
    ]);
  });

  test('are all when a line separator could make an analyzer count differently', () => {
    for (const odd of ['a\rb\n', 'a\u2028b\n', 'a\fb\n']) {
      const text = Buffer.from(odd);
      const patch = `@@ -1 +1 @@\n-x\n+${odd.trimEnd()}`;
      expect(changed({ path: 'a.ts', status: 'modified', content: text, patch })).toBe('all');
    }
  });

  test('are those of the patch in a file with Windows line ends', () => {
    const windows = Buffer.from('a\r\nb\r\n');
    const file: ChangedFile = {
      path: 'a.ts',
      status: 'modified',
      content: windows,
      patch: '@@ -2 +2 @@\n-x\r\n+b\r',
    };
    expect(changed(file)).toEqual(new Set([2]));
  });

  test('are none of a pure rename', () => {
    const file: ChangedFile = { path: 'b.ts', previousPath: 'a.ts', status: 'renamed', content };
    expect(admit([file])).toEqual({ files: [], leftOut: [] });
  });

  test('are all of a rename whose patch is too large for GitHub to send', () => {
    expect(changed({ path: 'b.ts', status: 'renamed', changes: 4_000, content })).toBe('all');
  });

  test('are all of a rename that only looks pure because Git treats the file as binary', () => {
    const renamed: ChangedFile = { path: 'b.ts', status: 'renamed', changes: 0, content };
    const { files } = admit([renamed, added('.gitattributes', '*.ts -diff\n')]);
    expect(files.find(({ path }) => path === 'b.ts')?.changed).toBe('all');
    const withNul: ChangedFile = { ...renamed, content: Uint8Array.of(97, 0) };
    expect(admit([withNul]).leftOut).toMatchObject([
      { path: 'b.ts', reason: 'not UTF-8 text', needed: true },
    ]);
  });

  test.each(['removed', 'unchanged'] as const)('are none of a file that is %s', (status) => {
    expect(admit([{ path: 'a.ts', status }])).toEqual({ files: [], leftOut: [] });
  });
});

describe('a pull request of very many files', () => {
  test('is read up to a total, code first, and more files prevent the verdict', { tags: 'slow' }, () => {
    const content = new Uint8Array(900_000).fill(10);
    const many = Array.from({ length: 40 }, (_, index) =>
      bytes(index < 20 ? `d${index}.md` : `c${index}.ts`, content),
    );
    const { files, leftOut } = admit(many);
    expect(files.filter(({ path }) => path.endsWith('.ts'))).toHaveLength(20);
    expect(files).toHaveLength(26);
    expect(leftOut).toHaveLength(14);
    expect(leftOut[0]).toEqual({
      path: 'd6.md',
      reason: 'beyond the 24 MB of text that one review reads',
      needed: false,
    });
    const codeOnly = admit(many.map((file, index) => ({ ...file, path: `c${index}.ts` })));
    expect(codeOnly.leftOut[0]).toMatchObject({ needed: true });
  });

  test("has no verdict at GitHub's limit, because there may be more files", () => {
    const files = Array.from({ length: MAX_FILES }, (_, index) => added(`${index}.ts`, 'x'));
    expect(admit(files).leftOut).toEqual([
      {
        path: '(any file beyond the first 3,000)',
        reason: 'GitHub lists no more files of one pull request',
        needed: true,
      },
    ]);
  });
});

test.each([
  ['a.ts', 'modified', 10, true],
  ['a.ts', 'removed', 10, false],
  ['a.ts', 'unchanged', 10, false],
  ['a.ts', 'added', 1_000_001, false],
  ['a.woff2', 'added', 10, false],
  ['yarn.lock', 'modified', 10, true],
  ['vendor/a.js', 'added', 10, true],
  ['LICENSE', 'added', 10, true],
] as const)('the content of %s (%s, %i bytes) is needed: %s', (path, status, size, wanted) => {
  expect(wantsContent({ path, status, size })).toBe(wanted);
});

test.each([
  ['.github/workflows/ci.yml', 'workflow'],
  ['.github/workflows/sub/ci.yml', 'yaml'],
  ['tools/action.yaml', 'action'],
  ['Dockerfile', 'dockerfile'],
  ['deploy/Dockerfile.prod', 'dockerfile'],
  ['deploy/run.sh', 'shell'],
  ['deploy/main.tf', 'terraform'],
  ['a.mts', 'typescript'],
  ['a.TSX', 'tsx'],
  ['.env.local', 'config'],
  ['a.rs', 'other'],
  ['constructor', 'other'],
  ['a.constructor', 'other'],
])('the language of %s is %s', (path, language) => {
  expect(languageOf(path)).toBe(language);
});

test.each([
  ['src/a.ts', '0001.ts'],
  ['types/a.d.ts', '0001.d.ts'],
  ['.oxlintrc.json', '0001.txt'],
  ['a.toString', '0001.txt'],
  ['-rf .py', '0001.py'],
])('the path %j is called %s in the child process', (path, name) => {
  expect(neutralName(0, path)).toBe(name);
});

test.each([
  ['test/a.ts', true],
  ['src/a.test.ts', true],
  ['tests/test_a.py', true],
  ['.env.example', true],
  ['src/contest.ts', false],
  ['src/latest/a.ts', false],
])('%s is test code: %s', (path, expected) => {
  expect(isTestPath(path)).toBe(expected);
});
