// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are the code under review
import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { added, modified, placesOf, review } from './support.ts';

/** A weakness with its places, beside the same code corrected, which must stay silent. */
type Case = [name: string, weak: string, places: string[], corrected: string, extension?: string];

const PROTOTYPE: Case[] = [
  [
    'a recursive merge',
    `module.exports = function merge(target, source) {
  for (const key in source) {
    if (typeof source[key] === 'object' && typeof target[key] === 'object') merge(target[key], source[key]);
    else target[key] = source[key];
  }
  return target;
};`,
    ['high data-flow/prototype-pollution:4'],
    `module.exports = function merge(target, source) {
  for (const key in source) {
    if (key === '__proto__') continue;
    if (typeof source[key] === 'object' && typeof target[key] === 'object') merge(target[key], source[key]);
    else target[key] = source[key];
  }
  return target;
};`,
  ],
  [
    'a recursive merge over a list of keys',
    `export function extend(to, from) {
  Object.keys(from).forEach((key) => {
    if (isObject(to[key])) to[key] = extend(to[key], from[key]);
    else to[key] = from[key];
  });
  return to;
}`,
    ['high data-flow/prototype-pollution:3'],
    `const BLOCKED = new Set(['__proto__', 'constructor', 'prototype']);
export function extend(to, from) {
  Object.keys(from).forEach((key) => {
    if (BLOCKED.has(key)) return;
    if (isObject(to[key])) to[key] = extend(to[key], from[key]);
    else to[key] = from[key];
  });
  return to;
}`,
  ],
  [
    'an assignment by a path',
    `exports.set = (object, path, value) => {
  const keys = path.split('.');
  let at = object;
  while (keys.length > 1) {
    const key = keys.shift();
    if (!at[key]) at[key] = {};
    at = at[key];
  }
  at[keys[0]] = value;
};`,
    ['high data-flow/prototype-pollution:6'],
    `exports.set = (object, path, value) => {
  const keys = path.split('.');
  let at = object;
  while (keys.length > 1) {
    const key = keys.shift();
    if (!Object.hasOwn(at, key)) at[key] = {};
    at = at[key];
  }
  at[keys[0]] = value;
};`,
  ],
  [
    'two keys of a request in a row',
    'export const save = (req) => {\n  store[req.query.a][req.query.b] = req.body;\n};',
    ['high data-flow/prototype-pollution:2'],
    'export const save = (req) => {\n  store.get(req.query.a).set(req.query.b, req.body);\n};',
  ],
  [
    'a merge with callbacks and `this`',
    `const each = require('for-in');
module.exports = function mixin(target, ...sources) {
  for (const source of sources) each(source, copy, target);
  return target;
};
function copy(value, key) {
  const known = this[key];
  if (known && value) module.exports(known, value);
  else this[key] = value;
}`,
    ['high data-flow/prototype-pollution:9'],
    `const each = require('for-in');
module.exports = function mixin(target, ...sources) {
  for (const source of sources) each(source, copy, target);
  return target;
};
function copy(value, key) {
  if (key === '__proto__' || key === 'constructor') return;
  const known = this[key];
  if (known && value) module.exports(known, value);
  else this[key] = value;
}`,
  ],
  [
    'a walk whose names are not those that the object lists',
    `module.exports = (object, path, value) => {
  const keys = path.split('.');
  let at = object;
  while (keys.length > 1) at = at[keys.shift()];
  at[keys[0]] = value;
};`,
    ['high data-flow/prototype-pollution:5'],
    `module.exports = (object, path, value) => {
  const keys = path.split('.');
  let at = object;
  for (let key = keys.shift(); keys.length > 0; key = keys.shift()) {
    if (!Object.getOwnPropertyNames(at).includes(key)) return;
    at = at[key];
  }
  at[keys[0]] = value;
};`,
  ],
  [
    'a merge that enters functions as well',
    `module.exports = function merge(target, source) {
  for (const key in source) {
    if (key === '__proto__') return;
    if (typeof target[key] === 'object' || typeof target[key] === 'function') merge(target[key], source[key]);
    else target[key] = source[key];
  }
};`,
    ['high data-flow/prototype-pollution:5'],
    `module.exports = function merge(target, source) {
  if (typeof source.then === 'function') return;
  for (const key in source) {
    if (key === '__proto__') return;
    if (typeof target[key] === 'object') merge(target[key], source[key]);
    else target[key] = source[key];
  }
};`,
  ],
];

const COMMANDS: Case[] = [
  [
    'a command joined from a parameter',
    "const { exec } = require('child_process');\nmodule.exports = (url, done) => {\n  exec('git clone ' + url, done);\n};",
    ['critical data-flow/command-injection:3'],
    "const { execFile } = require('child_process');\nmodule.exports = (url, done) => {\n  execFile('git', ['clone', '--', url], done);\n};",
  ],
  [
    'a command put together over several lines and functions',
    `import { execSync as run } from 'node:child_process';
function commandFor(options) {
  let command = 'convert';
  command += ' ' + options.input;
  return command;
}
export class Image {
  constructor(input) {
    this.input = input;
  }
  resize() {
    return run(commandFor({ input: this.input }));
  }
}`,
    ['critical data-flow/command-injection:12'],
    `import { execFileSync as run } from 'node:child_process';
export class Image {
  constructor(input) {
    this.input = input;
  }
  resize() {
    return run('convert', [this.input]);
  }
}`,
  ],
  [
    'a list of arguments with a shell',
    "import { spawn } from 'node:child_process';\nexport const build = (name: string) => spawn('make', [name], { shell: true });",
    ['critical data-flow/command-injection:2'],
    "import { spawn } from 'node:child_process';\nexport const build = (name: string) => spawn('make', [name], { shell: false });",
    'ts',
  ],
  [
    'a value that is not checked from its first to its last character',
    "const cp = require('child_process');\nexports.kill = (pid) => {\n  if (!/\\d+/.test(pid)) return;\n  cp.execSync(`kill ${pid}`);\n};",
    ['critical data-flow/command-injection:4'],
    "const cp = require('child_process');\nexports.kill = (pid) => {\n  if (!/^\\d+$/.test(pid)) return;\n  cp.execSync(`kill ${pid}`);\n};",
  ],
  [
    'what a message brings',
    "const cp = require('child_process');\nsocket.on('message', (name) => {\n  cp.exec(`ping ${name}`);\n});",
    ['critical data-flow/command-injection:3'],
    "const cp = require('child_process');\nsocket.on('message', (name) => {\n  cp.exec(`ping ${Number(name)}`);\n});",
  ],
  [
    'a number of which only the beginning is checked',
    "const { exec } = require('child_process');\nmodule.exports = (port) => {\n  if (!Number.parseInt(port)) return;\n  exec(`lsof -i :${port}`);\n};",
    ['critical data-flow/command-injection:4'],
    "const { exec } = require('child_process');\nmodule.exports = (port) => {\n  port = Number.parseInt(port);\n  exec(`lsof -i :${port}`);\n};",
  ],
  [
    'an address that `git clone` could take for an option',
    "const { execFile } = require('child_process');\nmodule.exports = (url, folder) => execFile('git', ['clone', url, folder]);",
    ['high data-flow/argument-injection:2'],
    "const { execFile } = require('child_process');\nmodule.exports = (url, folder) => execFile('git', ['clone', '--', url, folder]);",
  ],
];

const CODE: Case[] = [
  [
    'code from a parameter',
    'module.exports = function compile(source) {\n  return new Function("data", source);\n};',
    ['high data-flow/code-injection:2'],
    'module.exports = function compile() {\n  return new Function("data", "return data");\n};',
  ],
  [
    'code in a machine that is no sandbox',
    "import vm from 'node:vm';\nexport const run = (code: string) => vm.runInNewContext(code);",
    ['high data-flow/code-injection:2'],
    "import vm from 'node:vm';\nexport const run = () => vm.runInNewContext('1 + 1');",
    'ts',
  ],
  [
    'a timer with joined code',
    'export const later = (name) => setTimeout("show(\'" + name + "\')", 10);',
    ['high data-flow/code-injection:1'],
    'export const later = (name) => setTimeout(() => show(name), 10);',
  ],
  [
    'a function made of a list of names and a text',
    'module.exports = (names, code) => Function.apply(null, names.concat(code));',
    ['high data-flow/code-injection:1'],
    "module.exports = () => Function.apply(null, ['a', 'return a + 1']);",
  ],
];

const REQUESTS: Case[] = [
  [
    'a file that a request names',
    `const fs = require('fs'), http = require('http'), path = require('path'), url = require('url');
http.createServer((req, res) => {
  const file = path.join(__dirname, url.parse(req.url).pathname);
  fs.readFile(file, (error, data) => res.end(data));
});`,
    ['high data-flow/path-traversal:4'],
    `const fs = require('fs'), http = require('http'), path = require('path'), url = require('url');
http.createServer((req, res) => {
  const file = path.join(__dirname, url.parse(req.url).pathname);
  if (!file.startsWith(__dirname + path.sep)) return res.end();
  fs.readFile(file, (error, data) => res.end(data));
});`,
  ],
  [
    'a file that an entry of an archive names',
    `const fs = require('fs'), path = require('path');
exports.extract = (zip, folder) => {
  zip.on('entry', (entry) => entry.pipe(fs.createWriteStream(path.join(folder, entry.path))));
};`,
    ['high data-flow/archive-traversal:3'],
    `const fs = require('fs'), path = require('path');
exports.extract = (zip, folder) => {
  zip.on('entry', (entry) => entry.pipe(fs.createWriteStream(path.join(folder, path.basename(entry.path)))));
};`,
  ],
  [
    'a page that says what a request says',
    "app.get('/', (req, res) => {\n  res.send('<h1>Hello ' + req.query.name + '</h1>');\n});",
    ['medium data-flow/cross-site-scripting:2'],
    "app.get('/', (req, res) => {\n  res.send('<h1>Hello ' + escapeHtml(req.query.name) + '</h1>');\n});",
  ],
  [
    'HTML from a parameter',
    'export function show(element, title) {\n  element.innerHTML = `<b>${title}</b>`;\n}',
    ['medium data-flow/cross-site-scripting:2'],
    'export function show(element, title) {\n  element.textContent = title;\n}',
  ],
  [
    'an address that a request chooses',
    "app.get('/proxy', async (req, res) => {\n  const answer = await fetch(req.query.url);\n  answer.body.pipe(res);\n});",
    ['high data-flow/request-forgery:2'],
    "app.get('/proxy', async (req, res) => {\n  const answer = await fetch('https://api.example.com/' + req.query.path);\n  answer.body.pipe(res);\n});",
  ],
  [
    'a redirect that a request chooses',
    "app.get('/login', (req, res) => {\n  const { next } = req.query;\n  res.redirect(next);\n});",
    ['medium data-flow/open-redirect:3'],
    "app.get('/login', (req, res) => {\n  res.redirect('/welcome?from=' + req.query.next);\n});",
  ],
  [
    'a query with an object of a request',
    "app.post('/login', async (req) => {\n  return users.findOne({ name: req.body.name, password: req.body.password });\n});",
    ['high data-flow/nosql-injection:2'],
    "app.post('/login', async (req) => {\n  return users.findOne({ name: String(req.body.name) });\n});",
  ],
  [
    'a pattern that a request chooses',
    "app.get('/find', (req, res) => {\n  const pattern = new RegExp(req.query.q);\n  res.json(names.filter((name) => pattern.test(name)));\n});",
    ['medium data-flow/regexp-injection:2'],
    "app.get('/find', (req, res) => {\n  const pattern = new RegExp(escapeRegExp(req.query.q));\n  res.json(names.filter((name) => pattern.test(name)));\n});",
  ],
  [
    'a module whose name is a part of a path',
    "module.exports = (language) => require('./languages/' + language);",
    ['high data-flow/path-traversal:1'],
    "const isName = (text) => text.match('^[^/\\\\\\\\]*$') !== null;\nmodule.exports = (language) => isName(language) && require('./languages/' + language);",
  ],
  [
    'the address of a folder, with a slash at its end',
    "const parseUrl = require('parseurl');\nmodule.exports = (req, res) => {\n  const url = parseUrl.original(req);\n  res.setHeader('Location', url.pathname + '/');\n};",
    ['medium data-flow/open-redirect:4'],
    "const parseUrl = require('parseurl');\nmodule.exports = (req, res) => {\n  const url = parseUrl.original(req);\n  res.setHeader('Location', url.pathname.replace(/^\\/+/, '/') + '/');\n};",
  ],
  [
    'the name that an uploaded file says',
    "app.post('/', (req, res) => {\n  req.files.image.mv('/uploads/' + req.files.image.name);\n});",
    ['high data-flow/path-traversal:2'],
    "app.post('/', (req, res) => {\n  req.files.image.mv('/uploads/' + path.basename(req.files.image.name));\n});",
  ],
  [
    'the entry of an archive, whatever the variable is called',
    'module.exports = (zip, folder) => {\n  for (const one of zip.getEntries()) fs.writeFileSync(path.join(folder, one.entryName), one.getData());\n};',
    ['high data-flow/archive-traversal:2'],
    'module.exports = (zip, folder) => {\n  for (const one of zip.getEntries()) fs.writeFileSync(path.join(folder, path.basename(one.entryName)), one.getData());\n};',
  ],
];

const PATTERNS: Case[] = [
  [
    'a pattern of exponential time',
    'export const isList = (text: string) => /^(a+,?)+$/.test(text);',
    ['high data-flow/exponential-regexp:1'],
    'export const isList = (text: string) => /^a+(?:,a+)*$/.test(text);',
    'ts',
  ],
  [
    'a pattern of quadratic time for a text from outside',
    "module.exports = function trim(text) {\n  return text.replace(/^\\s*|\\s*$/g, '');\n};",
    ['medium data-flow/slow-regexp:2'],
    'module.exports = function trim(text) {\n  return text.trim();\n};',
  ],
  [
    'a pattern made from fixed parts',
    "const part = '(?:x+x+)+';\nmodule.exports = (text) => new RegExp('^' + part + 'y$').test(text);",
    ['high data-flow/exponential-regexp:2'],
    "const part = '(?:x+)';\nmodule.exports = (text) => new RegExp('^' + part + 'y$').test(text);",
  ],
  [
    'a slow pattern that meets any text',
    'export const rules = { heading: /^ *(#{1,6}) *([^\\n]+?) *#* *(?:\\n+|$)/ };',
    ['medium data-flow/slow-regexp:1'],
    "export const version = /\\s+$/.exec('a fixed text ');",
  ],
  [
    'a slow pattern and a text of any length',
    'module.exports = (text) => {\n  return /^\\s+|\\s+$/g.test(text);\n};',
    ['medium data-flow/slow-regexp:2'],
    'module.exports = (text) => {\n  if (text.length > 1000) return;\n  return /^\\s+|\\s+$/g.test(text);\n};',
  ],
];

const SILENT: Case[] = [
  [
    'a function that reads the file it is given',
    '',
    [],
    "import { readFileSync } from 'node:fs';\nexport const read = (path: string) => readFileSync(path, 'utf8');",
    'ts',
  ],
  [
    'a command that is fixed',
    '',
    [],
    "const { execSync } = require('child_process');\nmodule.exports = () => execSync('git rev-parse HEAD');",
  ],
  ['a method called exec', '', [], 'module.exports = (text) => /a/.exec("b" + text);'],
  [
    'a function that runs the command it is given',
    '',
    [],
    "const { exec } = require('child_process');\nmodule.exports = (command) => exec(command);",
  ],
  [
    'a shallow copy',
    '',
    [],
    'module.exports = (to, from) => {\n  for (const key in from) to[key] = from[key];\n};',
  ],
  [
    'a grid',
    '',
    [],
    'export function fill(grid: number[][], rows: number, columns: number) {\n  for (let y = 0; y < rows; y++) for (let x = 0; x < columns; x++) grid[y][x] = x * y;\n}',
    'ts',
  ],
  ['a table of tables', '', [], 'export function count(kind, name) {\n  totals[kind][name] = 0;\n}'],
];

const PAGES_AND_QUERIES: Case[] = [
  [
    'HTML of a message',
    "window.addEventListener('message', (event) => {\n  document.body.innerHTML = event.data.html;\n});",
    ['medium data-flow/cross-site-scripting:2'],
    "window.addEventListener('message', (event) => {\n  if (event.origin !== 'https://a.example') return;\n  document.body.innerHTML = event.data.html;\n});",
  ],
  [
    'HTML of what somebody typed',
    "search.addEventListener('input', (event) => {\n  hint.innerHTML = '<b>' + event.target.value + '</b>';\n});",
    ['medium data-flow/cross-site-scripting:2'],
    "search.addEventListener('input', (event) => {\n  hint.innerHTML = '<b>' + DOMPurify.sanitize(event.target.value) + '</b>';\n});",
  ],
  [
    'HTML of an answer',
    "async function load() {\n  const response = await fetch('/names');\n  const { name } = await response.json();\n  list.innerHTML = `<li>${name}</li>`;\n}",
    ['medium data-flow/cross-site-scripting:4'],
    "async function load() {\n  const response = await fetch('/names');\n  const { name } = await response.json();\n  list.textContent = name;\n}",
  ],
  [
    'HTML of a property in React',
    'export const Note = ({ note }) => <p dangerouslySetInnerHTML={{ __html: note.text }} />;',
    ['medium data-flow/cross-site-scripting:1'],
    'export const Note = ({ note }) => <p dangerouslySetInnerHTML={{ __html: sanitizeHtml(note.text) }} />;',
    'tsx',
  ],
  [
    'a list of names of files',
    "const fs = require('fs');\nmodule.exports = (folder, res) => {\n  fs.readdir(folder, (error, names) => res.end(names.map((name) => '<li>' + name).join('')));\n};",
    ['medium data-flow/cross-site-scripting:3'],
    "const fs = require('fs');\nmodule.exports = (folder, res) => {\n  fs.readdir(folder, (error, names) => res.end(names.map((name) => '<li>' + escapeHtml(name)).join('')));\n};",
  ],
  [
    'a statement that grows',
    "app.get('/', (req, res) => {\n  let sql = 'SELECT a FROM t';\n  sql += \" WHERE b = '\" + req.query.b + \"'\";\n  db.query(sql);\n});",
    ['critical data-flow/sql-injection:4'],
    "app.get('/', (req, res) => {\n  let sql = 'SELECT a FROM t';\n  sql += ' WHERE b = ?';\n  db.query(sql, [req.query.b]);\n});",
  ],
  [
    'a query that runs a text',
    "app.get('/', (req, res) => {\n  users.find({ $where: 'this.name == \"' + req.query.name + '\"' });\n});",
    ['high data-flow/nosql-injection:2'],
    "app.get('/', (req, res) => {\n  users.find({ name: String(req.query.name) });\n});",
  ],
  [
    'a global function that a request names',
    "app.post('/:action', (req, res) => {\n  res.json(global[req.params.action](1));\n});",
    ['high data-flow/code-injection:2'],
    "app.post('/:action', (req, res) => {\n  res.json(ACTIONS.get(req.params.action)(1));\n});",
  ],
  [
    'a compared signature',
    "const crypto = require('crypto');\nmodule.exports = (body, given, key) => crypto.createHmac('sha256', key).update(body).digest('hex') === given;",
    ['medium data-flow/timing-unsafe-comparison:2'],
    "const crypto = require('crypto');\nmodule.exports = (body, given, key) => crypto.timingSafeEqual(crypto.createHmac('sha256', key).update(body).digest(), given);",
  ],
  [
    'an origin that a request names',
    "app.use((req, res, next) => {\n  res.setHeader('Access-Control-Allow-Origin', req.headers.origin);\n  next();\n});",
    ['medium data-flow/open-cors:2'],
    "app.use((req, res, next) => {\n  if (['https://a.example'].includes(req.headers.origin)) res.setHeader('Access-Control-Allow-Origin', req.headers.origin);\n  next();\n});",
  ],
  [
    'an address of which nobody checks the host',
    "app.get('/', async (req, res) => {\n  res.send(await fetch(new URL(req.query.url)));\n});",
    ['high data-flow/request-forgery:2'],
    "app.get('/', async (req, res) => {\n  const url = new URL(req.query.url);\n  if (url.hostname !== 'a.example') return;\n  res.send(await fetch(url));\n});",
  ],
  [
    'an address among the options of a request',
    "app.get('/', (req, res) => {\n  axios({ method: 'get', url: req.query.url });\n});",
    ['high data-flow/request-forgery:2'],
    "app.get('/', (req, res) => {\n  axios({ method: 'post', url: '/a', data: req.query.url });\n});",
  ],
  [
    'a function that is only called as if it quoted',
    "const { exec } = require('child_process');\nconst quoted = (text) => `\"${text}\"`;\nmodule.exports = (name) => exec('touch ' + quoted(name));",
    ['critical data-flow/command-injection:3'],
    "const { exec } = require('child_process');\nconst quoted = (text) => `'${text.replace(/'/g, '')}'`;\nmodule.exports = (name) => exec('touch ' + quoted(name));",
  ],
  [
    'keys that a pattern finds in a text',
    'module.exports = (text) => {\n  const all = {};\n  const [, group, key] = /^(\\w+):(\\w+)/.exec(text);\n  all[group] ??= {};\n  all[group][key] = text;\n  return all;\n};',
    ['high data-flow/prototype-pollution:5'],
    'module.exports = (text) => {\n  const all = Object.create(null);\n  const [, group, key] = /^(\\w+):(\\w+)/.exec(text);\n  all[group] ??= {};\n  all[group][key] = text;\n  return all;\n};',
  ],
  [
    'a selector among the options of a plugin',
    'Panel.prototype.parent = function (options) {\n  return $(options.parent);\n};',
    ['medium data-flow/cross-site-scripting:2'],
    'Panel.prototype.parent = function (options) {\n  return $(document).find(options.parent);\n};',
  ],
  [
    'a text that Express sends as HTML',
    "app.get('/', (req, res) => {\n  res.send('Hello ' + req.query.name);\n});",
    ['medium data-flow/cross-site-scripting:2'],
    "app.get('/', (req, res) => {\n  res.type('text/plain');\n  res.send('Hello ' + req.query.name);\n});",
  ],
  [
    'HTML that a function of the file makes',
    "const heading = (text) => {\n  return '<h1>' + text + '</h1>';\n};\nmodule.exports = (req, res) => res.end(heading(req.url));",
    ['medium data-flow/cross-site-scripting:4'],
    "const heading = (text) => {\n  return '<h1>' + escape(text) + '</h1>';\n};\nmodule.exports = (req, res) => res.end(heading(req.url));",
  ],
];

const ALL = [...PROTOTYPE, ...COMMANDS, ...CODE, ...REQUESTS, ...PAGES_AND_QUERIES, ...PATTERNS, ...SILENT];

describe('the flow of values in JavaScript and TypeScript', () => {
  let findings: Finding[];
  const pathOf = (index: number, what: 'weak' | 'corrected') =>
    `src/${what}-${index}.${ALL[index]?.[4] ?? 'js'}`;
  const placesIn = (path: string) => placesOf(findings.filter(({ file }) => file === path));

  beforeAll(async () => {
    const files = ALL.flatMap(([, weak, , corrected], index) => [
      added(pathOf(index, 'weak'), `${weak}\n`),
      added(pathOf(index, 'corrected'), `${corrected}\n`),
    ]);
    const report = await review(files, { analyzers: ['data-flow'] });
    expect(report.analyzers).toMatchObject([{ name: 'data-flow', status: 'ok', files: files.length }]);
    findings = report.findings;
  });

  const numbered = ALL.map(([name, , places], index) => ({ name, places, index }));
  test.each(numbered.filter(({ places }) => places.length > 0))(
    'is reported for $name',
    ({ places, index }) => {
      expect(placesIn(pathOf(index, 'weak'))).toEqual(places);
    },
  );

  test.each(numbered)('is not reported for the corrected form of $name', ({ index }) => {
    expect(placesIn(pathOf(index, 'corrected'))).toEqual([]);
  });
});

/** No text of a file is shown before secrets were looked for. */
const BOTH = ['secrets', 'data-flow'] as const;

test('a finding names the way of the value from its source to where it does harm', async () => {
  const [, weak] = COMMANDS[1] ?? [];
  const { findings } = await review([added('src/image.js', `${weak}\n`)], { analyzers: BOTH });
  expect(findings.map(({ description }) => description)).toEqual([
    'Command injection (CWE-78): a shell command is put together from a value, so the value can run another command. ' +
      'It flows from the parameter `input` of `constructor` in line 8 through lines 9, 2, 4, 3 to `child_process.execSync` in line 12.',
  ]);
});

test('a finding appears where the value comes from if only that line was changed', {
  tags: 'slow',
}, async () => {
  const text =
    "const cp = require('child_process');\nmodule.exports = (req) => {\n  const name = req.query.name;\n  cp.exec('ls ' + name);\n};\n";
  const { findings } = await review([modified('src/a.js', text, [3])], { analyzers: ['data-flow'] });
  expect(placesOf(findings)).toEqual(['critical data-flow/command-injection:3']);
});

test('a slow pattern comes with a faster one that matches the same, where there is one', {
  tags: 'slow',
}, async () => {
  const text = 'export const isName = (text) => /^(?:[a-z]+)*$/.test(text);\n';
  const { findings } = await review([added('src/a.js', text)], { analyzers: BOTH });
  expect(findings).toMatchObject([
    { rule: 'data-flow/exponential-regexp', fix: 'export const isName = (text) => /^[a-z]*$/.test(text);' },
  ]);
});

eachFirstQuick([
  [
    'an optional part of a query',
    "query.$if(name, (one) => one.limit(2)).where('a', '=', name).execute(db);",
  ],
  ['a tagged statement of SQL', 'sql`SELECT * FROM a WHERE b = ${name}`.execute(db);'],
  ['a statement of SQL that no call is given', "const statement = 'SELECT 1';\ndb.query('SELECT 1');"],
])('a file with %s and nothing else of interest is not parsed', async (_, text) => {
  // A file that is parsed and cannot be gets a finding.
  const { findings } = await review([added('src/a.js', `${text}\nconst = 1;\n`)], {
    analyzers: ['data-flow'],
  });
  expect(findings).toEqual([]);
});

eachFirstQuick([
  ['broken syntax', 'const = eval(x);\n', 'cannot be parsed'],
  ['brackets nested a hundred thousand times', `${'[\n'.repeat(100_000)}eval(x)\n`, 'nested too deep'],
])('a file of %s is named, and the other files are analysed', async (_, hostile, reason) => {
  const weak = 'module.exports = (code) => new Function(code);\n';
  const files = [added('src/hostile.js', hostile), added('src/weak.js', weak)];
  const { findings } = await review(files, { analyzers: BOTH });
  expect(placesOf(findings).sort()).toEqual([
    'high data-flow/code-injection:1',
    'medium data-flow/not-analysed:1',
  ]);
  expect(findings.find(({ rule }) => rule === 'data-flow/not-analysed')?.description).toContain(reason);
});
