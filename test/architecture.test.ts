import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SRC = join(ROOT, 'src');

/** Each folder of `src` is one layer, with the layers that it may import. Files beside the folders compose everything. */
const LAYERS: Record<string, readonly string[]> = {
  core: [],
  domain: ['core'],
  ports: ['core', 'domain'],
  config: ['core', 'domain', 'ports'],
  messages: ['core', 'domain', 'ports'],
  sandbox: ['core', 'domain', 'ports'],
  engine: ['core', 'domain', 'ports', 'messages'],
  analyzers: ['core', 'domain', 'ports', 'messages', 'sandbox'],
  skills: ['core', 'domain', 'ports', 'messages', 'sandbox', 'engine', 'analyzers'],
  entrypoints: ['core', 'domain', 'ports', 'config', 'messages', 'sandbox', 'engine', 'analyzers', 'skills'],
  adapters: ['core', 'domain', 'ports'],
  composition: [
    'core',
    'domain',
    'ports',
    'config',
    'messages',
    'sandbox',
    'engine',
    'analyzers',
    'skills',
    'entrypoints',
    'adapters',
  ],
};

interface Import {
  from: string;
  to: string;
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(SRC, join(entry.parentPath, entry.name)));
}

/** Imports of types count, because they connect files for a reader as much as other imports. */
function importsOf(file: string): Import[] {
  const source = readFileSync(join(SRC, file), 'utf8');
  return [...source.matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)].map((match) => ({
    from: file,
    to: relative(SRC, resolve(SRC, dirname(file), match[1] ?? '')),
  }));
}

const files = filesUnder(SRC);
const imports = files.flatMap(importsOf);
const say = ({ from, to }: Import) => `${from} imports ${to}`;
/** The first folders of a path: `engine/runs` of `engine/runs/engine.ts` for 2. A file beside folders stands for itself. */
const folder = (file: string, depth: number) =>
  file.split('/').slice(0, -1).slice(0, depth).join('/') || file;

/** The groups of names that reach each other in both directions. */
function cycles(edges: readonly Import[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of edges) {
    if (from !== to) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  }
  const reach = (start: string): Set<string> => {
    const seen = new Set<string>();
    const open = [...(targets.get(start) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(targets.get(next) ?? []));
    }
    return seen;
  };
  const reached = new Map([...targets.keys()].map((name) => [name, reach(name)]));
  const groups = new Set<string>();
  for (const [name, seen] of reached) {
    if (!seen.has(name)) continue;
    groups.add(JSON.stringify([...seen].filter((other) => reached.get(other)?.has(name)).sort()));
  }
  return [...groups].map((group) => JSON.parse(group) as string[]);
}

test('the test finds imports to check', () => {
  expect(imports.length).toBeGreaterThan(2_000);
});

test('each folder of src is a layer, and imports only the layers below it', () => {
  const layerOf = (file: string) => (file.includes('/') ? folder(file, 1) : 'composition');
  const wrong = imports.filter(({ from, to }) => {
    const [own, other] = [layerOf(from), layerOf(to)];
    return own !== other && !LAYERS[own]?.includes(other);
  });
  expect(wrong.map(say)).toEqual([]);
  expect([...new Set(files.map(layerOf))].sort()).toEqual(Object.keys(LAYERS).sort());
});

test('no files import each other in a cycle', () => {
  expect(cycles(imports)).toEqual([]);
});

test('no folders of a layer import each other in a cycle', () => {
  const between = imports
    .map(({ from, to }) => ({ from: folder(from, 2), to: folder(to, 2) }))
    // A layer's own files and its folders count as one: `analyzers/run-worker.ts` starts what is in `analyzers/worker`.
    .filter(
      ({ from, to }) => from.includes('/') && to.includes('/') && from.split('/')[0] === to.split('/')[0],
    );
  expect(cycles(between)).toEqual([]);
});

test('entry points do not import each other', () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      from.startsWith('entrypoints/') && to.startsWith('entrypoints/') && folder(from, 2) !== folder(to, 2),
  );
  expect(wrong.map(say)).toEqual([]);
});

test('only effects use a writer to GitHub', () => {
  const wrong = files.filter((file) => {
    if (/^(engine\/effects|adapters\/(octokit|dry-run))\/|^ports\/github\.ts$/.test(file)) return false;
    return /GitHubWriter|\.writer\(/.test(readFileSync(join(SRC, file), 'utf8'));
  });
  expect(wrong).toEqual([]);
});

test('only writers.ts gets what writes, where the rollout permits it', () => {
  const wrong = files.filter((file) => {
    if (/^(adapters\/|engine\/effects\/writers\.ts$)/.test(file)) return false;
    return /github\.writer\(|chat\.post\b/.test(readFileSync(join(SRC, file), 'utf8'));
  });
  expect(wrong).toEqual([]);
});

test('skills import nothing of approvals and merges', () => {
  const wrong = imports.filter(
    ({ from, to }) => from.startsWith('skills/') && /^engine\/(approvals|actions|sessions)\//.test(to),
  );
  expect(wrong.map(say)).toEqual([]);
});

test('only the merge gate makes merge proofs', () => {
  const wrong = files.filter(
    (file) =>
      file !== 'domain/policy/merge-gate.ts' && /new Proof\(/.test(readFileSync(join(SRC, file), 'utf8')),
  );
  expect(wrong).toEqual([]);
});

test('only the configuration reads the environment', () => {
  const wrong = files.filter((file) => {
    const programs = ['main.ts', 'probot.ts', 'engine-thread.ts', 'cli.ts'];
    if (
      ['config/config.ts', 'config/node-variables.ts', 'entrypoints/setup/setup.ts', ...programs].includes(
        file,
      )
    )
      return false;
    return /process\.env\b/.test(readFileSync(join(SRC, file), 'utf8'));
  });
  expect(wrong).toEqual([]);
});

test('only the runner starts child processes of the app', () => {
  const others = [
    // Limits the app itself, and starts it for a demonstration.
    'sandbox/core-dumps.ts',
    'entrypoints/cli/demo.ts',
    // Runs inside of a process that the runner has started.
    'skills/kinds/agent/inside/main.ts',
    // Look for it in the code under review.
    'analyzers/data-flow/check.ts',
    'analyzers/data-flow/flows.ts',
    'analyzers/data-flow/sinks.ts',
    'analyzers/data-flow/without-shell.ts',
  ];
  const starting = files.filter((file) => /child_process/.test(readFileSync(join(SRC, file), 'utf8')));
  expect(starting.sort()).toEqual(['sandbox/process.ts', ...others].sort());
});

test('every test that docs/reliability.md names exists', () => {
  const page = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8');
  const named = page.split('\n').flatMap((line) => {
    const [diagnostic, , tests = '', result] = line.split(/(?<!\\)\|/).slice(1, -1);
    if (diagnostic === undefined || result === undefined) return [];
    return [...tests.matchAll(/`([\w-]+(?:\/[\w.-]+)+)`/g)].map(([, name = '']) => name);
  });
  const isThere = (name: string) =>
    ['', '.test.ts', '.contract.ts'].some((end) => existsSync(join(ROOT, 'test', `${name}${end}`)));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
