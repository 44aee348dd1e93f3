import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { added, placesOf, review } from './support.ts';

type Case = [name: string, code: string, expected: string[]];

const AST_GREP: Case[] = [
  [
    'SQL by f-string',
    'cur.execute(f"SELECT a FROM t WHERE id = {id}")',
    ['critical ast-grep/python-sql-injection:1'],
  ],
  [
    'SQL by triple-quoted f-string',
    'q = f"""\n  DELETE FROM t WHERE id = {id}"""',
    ['critical ast-grep/python-sql-injection:1'],
  ],
  [
    'SQL by percent',
    'cur.execute("SELECT a FROM t WHERE id = %s" % id)',
    ['critical ast-grep/python-sql-injection:1'],
  ],
  [
    'SQL by sum',
    'cur.execute("SELECT a FROM t WHERE id = " + id + ";")',
    ['critical ast-grep/python-sql-injection:1'],
  ],
  [
    'SQL by format',
    'cur.execute("SELECT a FROM t WHERE id = {}".format(id))',
    ['critical ast-grep/python-sql-injection:1'],
  ],
  ['SQL with a parameter', 'cur.execute("SELECT a FROM t WHERE id = %s", (id,))', []],
  ['SQL of a constant', 'q = f"SELECT a FROM {TABLE}"', []],
  ['a sentence', 'print(f"Select one from {names}!")', []],
  ['os.system of a sum', 'os.system("ls " + d)', ['critical ast-grep/python-command-injection:1']],
  ['os.system of an f-string', 'os.system(f"ls {d}")', ['critical ast-grep/python-command-injection:1']],
  ['os.system of a constant', 'os.system("clear")', []],
  [
    'subprocess with a shell',
    'subprocess.run(cmd, shell=True)',
    ['critical ast-grep/python-command-injection:1'],
  ],
  [
    'subprocess over lines',
    'subprocess.check_output(\n  f"ls {d}",\n  shell=True,\n)',
    ['critical ast-grep/python-command-injection:1'],
  ],
  ['subprocess with a shell and a constant', 'subprocess.run("ls | wc", shell=True)', []],
  ['subprocess with a list', 'subprocess.run(["ls", d])', []],
  ['eval', 'eval(text)', ['high ast-grep/python-code-from-text:1']],
  ['literal_eval', 'ast.literal_eval(text)', []],
  ['pickle', 'pickle.loads(data)', ['high ast-grep/python-unsafe-deserialisation:1']],
  ['yaml.load', 'yaml.load(f)', ['high ast-grep/python-unsafe-deserialisation:1']],
  ['yaml.load with a safe loader', 'yaml.load(f, Loader=yaml.SafeLoader)', []],
  ['json', 'json.loads(data)', []],
  [
    'opening what is asked for',
    'open("/data/" + request.args["f"])',
    ['high ast-grep/python-path-traversal:1'],
  ],
  ['opening a secured name', 'open(secure_filename(request.args["f"]))', []],
  ['opening a fixed file', 'open("a.txt")', []],
  ['MD5', 'hashlib.md5(x)', ['medium ast-grep/python-weak-hash:1']],
  ['MD5 that protects nothing', 'hashlib.md5(x, usedforsecurity=False)', []],
  ['ECB', 'AES.new(k, AES.MODE_ECB)', ['high ast-grep/python-weak-cipher:1']],
  ['a random token', 'token = random.choice(letters)', ['high ast-grep/python-weak-random:1']],
  ['a secret token', 'token = secrets.token_hex()', []],
  ['verify=False', 'requests.get(u, verify=False)', ['high ast-grep/python-tls-off:1']],
  ['verify=True', 'requests.get(u, verify=True)', []],
  ['a parameter called verify', 'def f(verify=False): ...', []],
  ['except: pass', 'try:\n  a()\nexcept:\n  pass', ['medium ast-grep/python-swallowed-error:3']],
  [
    'except Exception: pass',
    'try:\n  a()\nexcept Exception as e:\n  pass',
    ['medium ast-grep/python-swallowed-error:3'],
  ],
  ['except KeyError: pass', 'try:\n  a()\nexcept KeyError:\n  pass', []],
  ['except that logs', 'try:\n  a()\nexcept Exception:\n  log()', []],
  ['breakpoint', 'breakpoint()', ['medium ast-grep/python-debugging:1']],
  ['import pdb', 'import pdb; pdb.set_trace()', ['medium ast-grep/python-debugging:1']],
  ['a debugger for visitors', 'app.run(debug=True)', ['medium ast-grep/python-debug-mode:1']],
  [
    'SQL that grows',
    'def f(db, b):\n    q = "SELECT a FROM t"\n    q += " WHERE b = \'" + b\n    db.execute(q)',
    ['critical ast-grep/python-sql-injection:4'],
  ],
  [
    'SQL that grows by its own text',
    'def f(db, b):\n    q = "SELECT a FROM t"\n    q += " WHERE b = ?"\n    db.execute(q, (b,))',
    [],
  ],
  [
    'SQL with an entry of a constant',
    'def f(db, b):\n    return db.execute("SELECT a FROM t ORDER BY " + COLUMNS[b])',
    [],
  ],
  [
    'a shell of asyncio',
    'async def f(n):\n    await asyncio.create_subprocess_shell(f"gzip {n}")',
    ['critical ast-grep/python-command-injection:2'],
  ],
  [
    'a path through variables',
    'def f():\n    n = request.args["n"]\n    p = os.path.join("a", n)\n    return open(p).read()',
    ['high ast-grep/python-path-traversal:4'],
  ],
  [
    'a path that is checked',
    'def f():\n    p = (ROOT / request.args["n"]).resolve()\n    if p.is_relative_to(ROOT):\n        return open(p).read()',
    [],
  ],
  [
    'a path from a parameter of a route',
    '@app.get("/a/<n>")\ndef f(n):\n    return send_file("a/" + n)',
    ['high ast-grep/python-path-traversal:3'],
  ],
  [
    'a path from a number of a route',
    '@app.get("/a/<int:n>")\ndef f(n):\n    return send_file("a/" + n)',
    [],
  ],
  ['a path from a parameter', 'def f(n):\n    return open("a/" + n)', []],
  [
    'an archive that names its files',
    'def f(a):\n    with tarfile.open(a) as tar:\n        tar.extractall("b")',
    ['high ast-grep/python-path-traversal:3'],
  ],
  [
    'an address that a request names',
    'def f():\n    return requests.get(request.args["u"])',
    ['high ast-grep/python-request-forgery:2'],
  ],
  [
    'an address with a fixed host',
    'def f():\n    return requests.get("https://a.example/" + request.args["u"])',
    [],
  ],
  [
    'HTML of a request',
    'def f():\n    return "<b>" + request.args["n"]',
    ['medium ast-grep/python-cross-site-scripting:2'],
  ],
  ['HTML of an escaped request', 'def f():\n    return "<b>" + escape(request.args["n"])', []],
  [
    'a redirect that a request names',
    'def f():\n    return redirect(request.args["next"])',
    ['medium ast-grep/python-open-redirect:2'],
  ],
  ['a redirect to a path', 'def f():\n    return redirect("/a/" + request.args["next"])', []],
  [
    'a template of a request',
    'def f():\n    return render_template_string("Hi " + request.args["n"])',
    ['high ast-grep/python-code-from-text:2'],
  ],
  [
    'an unknown host that is trusted',
    'client.set_missing_host_key_policy(paramiko.AutoAddPolicy())',
    ['high ast-grep/python-tls-off:1'],
  ],
  [
    'weights that run code',
    'torch.load(path, weights_only=False)',
    ['high ast-grep/python-unsafe-deserialisation:1'],
  ],
];

const RUFF: Case[] = [
  ['an undefined name', 'print(nmae)', ['medium ruff/F821:1']],
  ['a defined name', 'name = 1\nprint(name)', []],
  ['a mutable default', 'def f(a=[]):\n    return a', ['medium ruff/B006:1']],
  ['a bare except', 'try:\n    print()\nexcept:\n    print()', ['medium ruff/E722:3']],
  ['is with a literal', 'a = 1\nprint(a is "x")', ['medium ruff/F632:2']],
  ['broken syntax', 'def f(:\n    pass', ['medium ruff/parse-error:1']],
  ['a comment that would switch it off', 'print(nmae)  # noqa', ['medium ruff/F821:1']],
  ['a comment that would switch it off for the file', '# ruff: noqa\nprint(nmae)', ['medium ruff/F821:2']],
  [
    'a block that would switch it off',
    '# ruff: disable[F821]\nprint(nmae)\n# ruff: enable[F821]',
    ['medium ruff/F821:2'],
  ],
];

describe.each([
  ['ast-grep', AST_GREP],
  ['ruff', RUFF],
] as const)('%s on Python', (analyzer, cases) => {
  let findings: Finding[];

  beforeAll(async () => {
    const files = cases.map(([, code], index) => added(`app/case_${index}.py`, `${code}\n`));
    const report = await review(files, { analyzers: [analyzer] });
    expect(report.analyzers).toMatchObject([{ name: analyzer, status: 'ok', files: cases.length }]);
    findings = report.findings;
  });

  test.each(cases.map(([name, , expected], index) => ({ name, expected, index })))(
    '$name',
    ({ expected, index }) => {
      expect(placesOf(findings.filter((finding) => finding.file === `app/case_${index}.py`))).toEqual(
        expected,
      );
    },
  );
});
