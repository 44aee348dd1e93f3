// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are the code under review
import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { added, placesOf, review } from './support.ts';

/** Code → the findings expected in it; none for a near miss. The extension is `ts` by default. */
type Case = [name: string, code: string, expected: string[], extension?: string];

const AST_GREP: Case[] = [
  ['SQL by template', 'db.query(`SELECT a FROM t WHERE id = ${id}`)', ['critical ast-grep/sql-injection:1']],
  [
    'SQL by template in JavaScript',
    'db.query(`DELETE FROM t WHERE id = ${id}`)',
    ['critical ast-grep/sql-injection:1'],
    'js',
  ],
  [
    'SQL by template in TSX',
    'db.query(`update t set a = ${a}`)',
    ['critical ast-grep/sql-injection:1'],
    'tsx',
  ],
  [
    'SQL over lines',
    'const q = `\n  SELECT a\n  FROM t WHERE id = ${id}`',
    ['critical ast-grep/sql-injection:1'],
  ],
  [
    'SQL by concatenation',
    'const q = "SELECT a FROM t WHERE b = \'" + b + "\'";',
    ['critical ast-grep/sql-injection:1'],
  ],
  [
    'SQL by concatenation at the end',
    'const q = "INSERT INTO t VALUES (" + v;',
    ['critical ast-grep/sql-injection:1'],
  ],
  ['SQL as a tagged template', 'sql`SELECT a FROM t WHERE id = ${id}`', []],
  ['SQL with a parameter', 'db.query("SELECT a FROM t WHERE id = ?", [id])', []],
  ['SQL of constants', 'const q = `SELECT ${COLUMNS} FROM t`', []],
  ['SQL of joined literals', 'const q = "SELECT a " + "FROM t"', []],
  [
    'SQL with made placeholders',
    "db.query(`SELECT a FROM t WHERE id IN (${ids.map(() => '?').join()})`, ids)",
    [],
  ],
  ['a sentence that starts with update', 'log(`Update ${name} from the list`)', []],
  ['a sentence with select', 'log("Please select " + name)', []],

  ['node-serialize', 'import s from "node-serialize";', ['high ast-grep/unsafe-deserialisation:1']],
  ['unserialize', 'serialize.unserialize(cookie)', ['high ast-grep/unsafe-deserialisation:1']],
  ['unsafeLoad', 'yaml.unsafeLoad(text)', ['high ast-grep/unsafe-deserialisation:1']],
  ['JSON', 'JSON.parse(cookie)', []],

  ['a parser that replaces entities', 'parseXml(x, { noent: true })', ['high ast-grep/xml-entities:1']],
  ['a parser that keeps entities', 'parseXml(x, { noent: false })', []],
  ['a file that all may write', 'chmodSync(path, 0o777)', ['medium ast-grep/open-file-mode:1']],
  ['a folder that all may write', 'mkdir(path, { mode: 0o777 })', ['medium ast-grep/open-file-mode:1']],
  ['a file that all may read', 'chmodSync(path, 0o755)', []],
  [
    'a token without a signature',
    "jwt.verify(t, k, { algorithms: ['none'] })",
    ['high ast-grep/unchecked-jwt:1'],
  ],
  [
    'a token that never ends',
    'jwt.verify(t, k, { ignoreExpiration: true })',
    ['high ast-grep/unchecked-jwt:1'],
  ],
  ['a token that is checked', "jwt.verify(t, k, { algorithms: ['HS256'] })", []],
  [
    'a function that returns a random token',
    'function newToken() {\n  return Math.random().toString(36);\n}',
    ['high ast-grep/weak-random:2'],
  ],
  ['a function that returns a random colour', 'function colour() {\n  return Math.random();\n}', []],
  [
    'a server whose name nobody checks',
    'connect({ checkServerIdentity: () => undefined })',
    ['high ast-grep/tls-off:1'],
  ],

  ['MD5', 'createHash("md5")', ['medium ast-grep/weak-hash:1']],
  ['SHA-1', "crypto.createHash('SHA1')", ['medium ast-grep/weak-hash:1']],
  ['SHA-256', 'createHash("sha256")', []],
  ['createCipher', 'crypto.createCipher("aes-256-gcm", k)', ['high ast-grep/weak-cipher:1']],
  ['DES', 'createCipheriv("des-ede3", k, iv)', ['high ast-grep/weak-cipher:1']],
  ['ECB', 'createCipheriv("aes-128-ecb", k, null)', ['high ast-grep/weak-cipher:1']],
  ['AES-GCM', 'createCipheriv("aes-256-gcm", k, iv)', []],
  ['a random token', 'const sessionToken = Math.random().toString(36)', ['high ast-grep/weak-random:1']],
  ['a random secret member', 'this.secret = "s" + Math.random()', ['high ast-grep/weak-random:1']],
  ['a random colour', 'const colour = Math.random()', []],

  ['TLS off', 'get({ rejectUnauthorized: false })', ['high ast-grep/tls-off:1']],
  ['TLS off for the process', 'process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"', ['high ast-grep/tls-off:1']],
  ['TLS on', 'get({ rejectUnauthorized: true })', []],

  ['an empty catch', 'try {\n  run()\n} catch (e) {\n}', ['medium ast-grep/swallowed-error:3']],
  ['an empty promise catch', 'run().catch(() => {})', ['medium ast-grep/swallowed-error:1']],
  ['a catch with a reason', 'try { run() } catch { /* it is gone already */ }', []],
  ['a promise catch that logs', 'run().catch((e) => log(e))', []],
];

const OXLINT: Case[] = [
  [
    'an assignment in a condition',
    'let a = 1;\nif (a = read()) { a }',
    ['medium oxlint/eslint/no-cond-assign:2'],
  ],
  ['a comparison in a condition', 'let a = 1;\nif (a === read()) { a }', []],
  ['a key twice', 'read({ a: 1, a: 2 })', ['medium oxlint/eslint/no-dupe-keys:1']],
  ['a comparison with NaN', 'read(x === NaN)', ['medium oxlint/eslint/use-isnan:1']],
  [
    'an error that is not thrown',
    'function f() { new Error("x") }\nf()',
    ['medium oxlint/oxc/missing-throw:1'],
  ],
  [
    'a jump out of finally',
    'function f() { try { g() } finally { return 1 } }\nf()',
    ['medium oxlint/eslint/no-unsafe-finally:1'],
  ],
  [
    'an enum with a value twice',
    'export enum E { A = 1, B = 1 }',
    ['low oxlint/typescript/no-duplicate-enum-values:1'],
  ],
  ['a thenable', 'export const a = { then() {} }', ['low oxlint/unicorn/no-thenable:1']],
  ['broken syntax', 'const = 1', ['medium oxlint/parse-error:1']],
  ['JSX', 'export const a = <b>{c}</b>', [], 'jsx'],
  [
    'a comment that would switch oxlint off',
    '// oxlint-disable\nlet a = 1;\nif (a = read()) { a }',
    ['medium oxlint/eslint/no-cond-assign:3'],
  ],
  [
    'a comment that would switch ESLint off',
    'let a = 1;\nif (a = read()) { a } // eslint-disable-line',
    ['medium oxlint/eslint/no-cond-assign:2'],
  ],
];

describe.each([
  ['ast-grep', AST_GREP],
  ['oxlint', OXLINT],
] as const)('%s on JavaScript and TypeScript', (analyzer, cases) => {
  let findings: Finding[];
  const pathOf = (index: number) => `src/case-${index}.${cases[index]?.[3] ?? 'ts'}`;

  beforeAll(async () => {
    const files = cases.map(([, code], index) => added(pathOf(index), `${code}\n`));
    const report = await review(files, { analyzers: [analyzer] });
    expect(report.analyzers).toMatchObject([{ name: analyzer, status: 'ok', files: cases.length }]);
    findings = report.findings;
  });

  test.each(cases.map(([name, , expected], index) => ({ name, expected, index })))(
    '$name',
    ({ expected, index }) => {
      expect(placesOf(findings.filter((finding) => finding.file === pathOf(index)))).toEqual(expected);
    },
  );
});
