import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SRC = join(ROOT, 'src');

/** The layers, from the middle outwards. A file belongs to the first whose pattern it matches. */
const LAYERS = [
  { name: 'core', files: /^core\// },
  {
    name: 'vocabulary',
    files:
      /^(audit\/entry|event\/event|effect\/effect|effect\/body-hash|model\/(budget|name|price)|artifact\/.*|chain\/.*|outcome\/.*|policy\/.*|skill\/package\/.*|skill\/registry\/scope|run\/state\/.*|run\/(run|actor|evidence|history|reason|why|explain|transition|completed|context|plan|new-run|command-order|fired-once))\.ts$/,
  },
  {
    name: 'port',
    files:
      /^(github\/(github|outage)|storage\/(storage|skill-traces|model-calls|blobs|locked|retention|audit-log)|queue\/queue|model\/model)\.ts$/,
  },
  { name: 'words', files: /^words\// },
  { name: 'engine', files: /^(sandbox|run|session|skill|effect|model(?!\/ai\/))\// },
  {
    name: 'composition',
    files: /^(main|app|serve|setup|shipped|skills|config(\/[\w-]+)?|cli\/(main|compose|database))\.ts$/,
  },
  { name: 'door', files: /^(webhook|delivery|command|event|recovery|retention|cli)\// },
  { name: 'adapter', files: /^(github\/octokit|storage|queue|model\/ai)\// },
] as const;
type Layer = (typeof LAYERS)[number]['name'];

/** Which layers each may import, besides itself. Only the composition root sees everything. */
const MAY_IMPORT: Record<Layer, readonly Layer[]> = {
  core: [],
  vocabulary: ['core'],
  port: ['core', 'vocabulary'],
  words: ['core', 'vocabulary', 'port'],
  engine: ['core', 'vocabulary', 'port', 'words'],
  door: ['core', 'vocabulary', 'port', 'words', 'engine'],
  adapter: ['core', 'vocabulary', 'port'],
  composition: ['core', 'vocabulary', 'port', 'words', 'engine', 'door', 'adapter'],
};

/** The rooms of the engine and the doors, in the order data passes them; each imports only those behind it. */
const ROOMS = ['sandbox', 'model', 'effect', 'run', 'session', 'skill'];
const DOORS = ['command', 'delivery', 'recovery', 'retention', 'webhook', 'cli'];
/** The webhook door hands what it hears to the delivery room; no other door knows another. */
const DOORS_BEHIND_DOORS: Record<string, readonly string[]> = { webhook: ['delivery'], delivery: ['event'] };

interface Import {
  from: string;
  to: string;
}

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(SRC, join(entry.parentPath, entry.name)));
}

function importsOf(file: string): Import[] {
  const source = readFileSync(join(SRC, file), 'utf8');
  return [...source.matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)].map((match) => ({
    from: file,
    to: relative(SRC, resolve(SRC, dirname(file), match[1] ?? '')),
  }));
}

function layerOf(file: string): Layer {
  const layer = LAYERS.find(({ files }) => files.test(file));
  if (!layer)
    throw new Error(`${file} is in no layer: add its room to the architecture test and to ARCHITECTURE.md`);
  return layer.name;
}

const room = (file: string) => file.split('/')[0] ?? file;
const imports = files(SRC).flatMap(importsOf);
const say = ({ from, to }: Import) => `${from} imports ${to}`;

test('there are imports to check', () => {
  expect(imports.length).toBeGreaterThan(100);
});

test('every file is in a layer, and imports point inwards', () => {
  const wrong = imports.filter(({ from, to }) => {
    const layer = layerOf(from);
    return layerOf(to) !== layer && !MAY_IMPORT[layer].includes(layerOf(to));
  });
  expect(wrong.map(say)).toEqual([]);
});

test('the rooms of the engine import only the rooms behind them', () => {
  const wrong = imports.filter(({ from, to }) => {
    if (layerOf(from) !== 'engine' || layerOf(to) !== 'engine') return false;
    return ROOMS.indexOf(room(to)) > ROOMS.indexOf(room(from));
  });
  expect(wrong.map(say)).toEqual([]);
});

test('doors do not import each other', () => {
  const wrong = imports.filter(({ from, to }) => {
    if (
      layerOf(from) !== 'door' ||
      !DOORS.includes(room(from)) ||
      layerOf(to) !== 'door' ||
      room(from) === room(to)
    )
      return false;
    return !DOORS_BEHIND_DOORS[room(from)]?.includes(room(to));
  });
  expect(wrong.map(say)).toEqual([]);
});

test('only the effect room is given a writer to GitHub', () => {
  const wrong = files(SRC).filter((file) => {
    if (room(file) === 'effect' || file.startsWith('github/')) return false;
    return /GitHubWriter|\.writer\(/.test(readFileSync(join(SRC, file), 'utf8'));
  });
  expect(wrong).toEqual([]);
});

test('only the gate makes merge proofs', () => {
  const wrong = files(SRC).filter(
    (file) => file !== 'policy/merge-gate.ts' && /new Proof\(/.test(readFileSync(join(SRC, file), 'utf8')),
  );
  expect(wrong).toEqual([]);
});

test('only the configuration reads the environment', () => {
  const wrong = files(SRC).filter((file) => {
    if (['config.ts', 'main.ts', 'setup.ts', 'cli/main.ts'].includes(file)) return false;
    return /process\.env\b/.test(readFileSync(join(SRC, file), 'utf8'));
  });
  expect(wrong).toEqual([]);
});

test('every test that docs/reliability.md names is there', () => {
  const page = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8');
  const named = page.split('\n').flatMap((line) => {
    const [fault, , tests = '', result] = line.split(/(?<!\\)\|/).slice(1, -1);
    if (fault === undefined || result === undefined) return [];
    return [...tests.matchAll(/`([\w-]+(?:\/[\w.-]+)+)`/g)].map(([, name = '']) => name);
  });
  const isThere = (name: string) =>
    ['', '.test.ts', '.contract.ts'].some((end) => existsSync(join(ROOT, 'test', `${name}${end}`)));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
