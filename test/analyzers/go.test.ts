import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { added, placesOf, review } from './support.ts';

/** The body of a function that answers a request → the findings in it. The body begins in line 2. */
type Case = [name: string, body: string, expected: string[]];

const CASES: Case[] = [
  [
    'a shell command of a request',
    'exec.Command("sh", "-c", "ping "+r.FormValue("host")).Run()',
    ['critical ast-grep/go-command-injection:2'],
  ],
  [
    'a shell command that is formatted',
    'command := fmt.Sprintf("tar czf %s", name)\nexec.Command("/bin/bash", "-c", command).Run()',
    ['critical ast-grep/go-command-injection:3'],
  ],
  ['a shell command of fixed text', 'exec.Command("sh", "-c", "df | tail -1").Run()', []],
  ['a command with arguments', 'exec.Command("ping", "--", r.FormValue("host")).Run()', []],
  [
    'a program that a request names',
    'exec.Command(r.FormValue("tool")).Run()',
    ['critical ast-grep/go-command-injection:2'],
  ],
  ['a program of a table', 'exec.Command(tools[r.FormValue("tool")]).Run()', []],
  [
    'SQL that is formatted',
    'db.Query(fmt.Sprintf("SELECT a FROM t WHERE b = \'%s\'", name))',
    ['critical ast-grep/go-sql-injection:2'],
  ],
  [
    'SQL that grows',
    'query := "SELECT a FROM t"\nquery += " WHERE b = \'" + name + "\'"\ndb.Query(query)',
    ['critical ast-grep/go-sql-injection:4'],
  ],
  ['SQL of constants', 'const columns = "a, b"\ndb.Query("SELECT " + columns + " FROM t")', []],
  ['SQL with a parameter', 'db.Query("SELECT a FROM t WHERE b = $1", name)', []],
  [
    'a condition that is joined',
    'db.Where("a = \'" + name + "\'")',
    ['critical ast-grep/go-sql-injection:2'],
  ],
  ['a condition with a parameter', 'db.Where("a = ?", name)', []],
  [
    'a file that a request names',
    'file := filepath.Join("a", r.URL.Query().Get("n"))\nos.Open(file)',
    ['high ast-grep/go-path-traversal:3'],
  ],
  [
    'a file of a checked name',
    'file := filepath.Join("a", r.URL.Query().Get("n"))\nif strings.HasPrefix(file, "a/") {\nos.Open(file)\n}',
    [],
  ],
  ['a file of a base name', 'os.Open("a/" + filepath.Base(r.FormValue("n")))', []],
  [
    'a file that an entry of an archive names',
    'for _, entry := range archive.File {\nos.Create(filepath.Join(folder, entry.Name))\n}',
    ['high ast-grep/go-path-traversal:3'],
  ],
  [
    'a file of a local name',
    'for _, entry := range archive.File {\nif filepath.IsLocal(entry.Name) {\nos.Create(filepath.Join(folder, entry.Name))\n}\n}',
    [],
  ],
  ['a file that a caller names', 'os.Open(name)', []],
  [
    'an address that a request names',
    'http.Get("http://" + r.FormValue("host"))',
    ['high ast-grep/go-request-forgery:2'],
  ],
  ['an address with a fixed host', 'http.Get("http://a.example/" + r.FormValue("topic"))', []],
  [
    'HTML of a request',
    'fmt.Fprintf(w, "<b>%s</b>", r.FormValue("n"))',
    ['medium ast-grep/go-cross-site-scripting:2'],
  ],
  ['HTML of an escaped request', 'fmt.Fprintf(w, "<b>%s</b>", html.EscapeString(r.FormValue("n")))', []],
  [
    'a redirect that a request names',
    'http.Redirect(w, r, r.FormValue("next"), 302)',
    ['medium ast-grep/go-open-redirect:2'],
  ],
  ['a redirect to a path', 'http.Redirect(w, r, "/home/" + r.FormValue("next"), 302)', []],
  [
    'a certificate that nobody checks',
    'c := tls.Config{InsecureSkipVerify: true}',
    ['high ast-grep/go-tls-off:2'],
  ],
  ['a certificate that is checked', 'c := tls.Config{InsecureSkipVerify: false}', []],
  ['DES', 'des.NewCipher(key)', ['medium ast-grep/go-weak-crypto:2']],
  ['AES', 'aes.NewCipher(key)', []],
];

describe('the review of Go', () => {
  let findings: Finding[];
  const pathOf = (index: number) => `web/case_${index}.go`;

  beforeAll(async () => {
    const files = CASES.map(([, body], index) =>
      added(
        pathOf(index),
        `func handle(w http.ResponseWriter, r *http.Request, name string) {\n${body}\n}\n\nimport "math/rand"\n`,
      ),
    );
    const report = await review(files, { analyzers: ['secrets', 'ast-grep'] });
    expect(report.analyzers).toMatchObject([{ status: 'ok' }, { status: 'ok', files: CASES.length }]);
    findings = report.findings;
  });

  test.each(CASES.map(([name, , expected], index) => ({ name, expected, index })))(
    'names what is wrong with $name',
    ({ expected, index }) => {
      expect(placesOf(findings.filter(({ file }) => file === pathOf(index)))).toEqual(expected);
    },
  );

  test('says where the value comes from', () => {
    const [first] = findings.filter(({ file }) => file === pathOf(12));
    expect(first?.description).toContain('The value flows from `r.URL.Query().Get("n")` in line 2 to line 3');
  });
});

test('A hundred thousand nested calls cost the review of Go no more than their text', {
  tags: 'slow',
}, async () => {
  const nested = `func f(r *http.Request) { os.Open(${'a(\n'.repeat(100_000)}r.FormValue("n")${')\n'.repeat(100_000)}) }\n`;
  const report = await review([added('web/nested.go', nested)], { analyzers: ['ast-grep'] });
  expect(report.analyzers).toMatchObject([{ status: 'ok' }]);
});
