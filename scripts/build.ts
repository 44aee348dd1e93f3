/**
 * Builds `dist/`: compiles the sources, and bundles them with packages. Node spends a third of a millisecond and
 * 10 KB of memory on each module beside its text, and the app would load a thousand.
 *
 * - `dist/bundle/` is what the programs run: the app, its threads and the command line. What only some
 *   commands need is in files of its own, which they load later.
 * - `dist/packages/` has packages for the processes that the app starts. These run the compiled sources, because a
 *   sandbox names each file that it may read.
 *
 * Whatever is bundled has its licence in `dist/licences/`, and is no dependency of the published package (`pack.ts`).
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type ChunkingContext,
  type CodeSplittingNameFunction,
  type OutputOptions,
  type Plugin,
  type RolldownOutput,
  rolldown,
} from 'rolldown';
import { readShippedSkills } from '../src/composition/shipped-skills.ts';
import { WHOLE_PACKAGES } from './whole-packages.ts';

/** What Node or a Probot server loads. They stay in their places, and load the rest from the bundle. */
const PROGRAMS = [
  'main.js',
  'intake-thread.js',
  'engine-thread.js',
  'studio-thread.js',
  'dry-run-process.js',
  'cli.js',
  'probot.js',
];
/**
 * What is loaded together, by the files that it starts with. Modules that the same of these load share a file, because Node
 * spends more time on a file than on the code of most modules. Whatever loads a module loads its imports as well, so no two
 * such files import each other.
 */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  command: ['cli-tools.js', 'entrypoints/cli/command-line.js'],
  stored: ['composition/cli-database.js', 'entrypoints/cli/commands.js', 'entrypoints/cli/run-list.js'],
  chains: [
    'composition/shipped.js',
    'engine/sessions/registry.js',
    'entrypoints/cli/chain-lint.js',
    'entrypoints/cli/commands.js',
    'skills/builtin/shipped.js',
  ],
  app: ['serve.js'],
  intake: ['composition/intake/run.js'],
  studio: ['composition/studio/run.js'],
};

/** Modules of Node that take milliseconds to load, and that most commands never call. Their functions load them. */
const LATE = ['node:child_process', 'node:crypto', 'node:zlib'];

/** So small that each program has its own. */
const UNBUNDLED = 'core/package-root.js';

/** Packages that the processes load, by what they import. */
const IN_PROCESSES: Readonly<Record<string, string>> = {
  '@ax-llm/ax': 'ax',
  '@babel/parser': 'babel-parser',
  dockerfilelint: 'dockerfilelint',
  'fastest-levenshtein': 'fastest-levenshtein',
  'markdownlint/promise': 'markdownlint',
  'mdast-util-from-markdown': 'mdast-util-from-markdown',
  scslre: 'scslre',
  yaml: 'yaml',
  zod: 'zod',
};

/** What the processes run, where they look for it. The rest of the compiled code is in the bundle. */
const PROCESSES = [
  'analyzers/{builtin,linters,worker}/*.js',
  'skills/kinds/agent/inside/*.js',
  'skills/kinds/code/worker/*.js',
  'skills/kinds/module/sidecar/*.js',
  'skills/templating/worker/*.js',
];

/**
 * Names and lines stay, so that stack traces say something. Only ASCII: one other character, in a comment even,
 * doubles the memory for a file's text.
 */
const OUTPUT: OutputOptions = {
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
  chunkFileNames: '[name].js',
};

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const bundleFolder = join(dist, 'bundle');
const packagesFolder = join(dist, 'packages');
const licencesFolder = join(dist, 'licences');

/** Code that finds files by its own place finds them from the bundle, too. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(dist) || !code.includes('import.meta.url')) return null;
    const place = JSON.stringify(fromFolder(bundleFolder, id));
    return code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`);
  },
};

/** A file of its own, because the text of a program stays in memory. */
const SHIPPED_SKILLS = 'shipped-skills.json';
const shippedSkills: Plugin = {
  name: 'shipped-skills',
  load: (id) =>
    id === join(dist, 'composition/shipped-skills.js')
      ? `import { readFileSync } from 'node:fs';
         import { OWN_CODE } from '../core/package-root.js';
         export const readShippedSkills = () => JSON.parse(readFileSync(OWN_CODE + '${SHIPPED_SKILLS}', 'utf8'));`
      : null,
};

/**
 * Importing a module of Node reads all that it exports, and so loads what it would load later or never: `node:fs`
 * loads streams, and `node:http` an HTTP client of 4 MB.
 */
const lazyBuiltins: Plugin = { name: 'lazy-builtins', renderChunk: withLazyBuiltins };

const packageEntries: Plugin = {
  name: 'package-entries',
  resolveId: (id) => (id.startsWith('entry:') ? id : null),
  load: (id) => (id.startsWith('entry:') ? entryOf(id.slice('entry:'.length)) : null),
};

const OWN_IMPORT = /(?<=\bfrom |\bimport\()'\.\/([^']+)'/g;
const RELATIVE_IMPORT = /(?:\bfrom |\bimport\(|^import )'(\.[^']+)'/gm;
const BUILTIN_IMPORT = /^import (?:\* as )?(\w+|\{[^}]*\}) from ['"](node:[\w/]+)['"];$/gm;
const PACKAGE_IMPORT = /(?<=\bfrom |\bimport\(|^import )'([@a-z/-]+)'/gm;

/** `scripts/countersign` runs the build while no source is newer than this file. */
const builtFile = fileURLToPath(new URL('../node_modules/.cache/built', import.meta.url));
const begunAt = new Date();

rmSync(builtFile, { force: true });
rmSync(dist, { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
// The only module that other programs import.
for (const file of globSync('**/*.d.ts', { cwd: dist })) if (file !== 'probot.d.ts') rmSync(join(dist, file));
const compiled = globSync('**/*.js', { cwd: dist });
mkdirSync(licencesFolder);
writeFileSync(join(dist, SHIPPED_SKILLS), JSON.stringify(readShippedSkills()));
await bundlePrograms();
await bundlePackages();
removeUnused();
mkdirSync(dirname(builtFile), { recursive: true });
writeFileSync(builtFile, '');
// A source that changed during the build is newer.
utimesSync(builtFile, begunAt, begunAt);

async function bundlePrograms(): Promise<void> {
  const entries = new Set(PROGRAMS.flatMap(ownImports));
  const bundle = await rolldown({
    input: Object.fromEntries([...entries].map((file) => [entryName(file), join(dist, file)])),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    external: WHOLE_PACKAGES.map((name) => new RegExp(`^${name.replace('*', '[^/]+')}(/|$)`)),
    plugins: [keepPlaces, shippedSkills, lazyBuiltins],
  });
  const groups = [{ name: loadersOf(), debugName: 'loaders', includeDependenciesRecursively: false }];
  keepLicences(await bundle.write({ ...OUTPUT, dir: bundleFolder, codeSplitting: { groups } }));
  await bundle.close();
  for (const program of PROGRAMS) {
    rewrite(program, OWN_IMPORT, (file) =>
      entries.has(file) ? `./bundle/${entryName(file)}.js` : undefined,
    );
    const path = join(dist, program);
    writeFileSync(path, withLazyBuiltins(readFileSync(path, 'utf8')));
  }
}

/** Names a module by all of `TOGETHER` that load it. */
function loadersOf(): CodeSplittingNameFunction {
  let loaded: (readonly [string, ReadonlySet<string>])[] | undefined;
  return (id, graph) => {
    loaded ??= Object.entries(TOGETHER).map(([name, files]) => [name, reachedFrom(files, graph)]);
    const names = loaded.flatMap(([name, reached]) => (reached.has(id) ? name : []));
    return names.length > 1 ? names.join('-') : null;
  };
}

function reachedFrom(files: readonly string[], graph: ChunkingContext): Set<string> {
  for (const file of files) if (!compiled.includes(file)) throw new Error(`there is no ${file} to load`);
  const reached = new Set(files.map((file) => join(dist, file)));
  // A loop over a set also visits what is added meanwhile.
  for (const id of reached) for (const next of graph.getModuleInfo(id)?.importedIds ?? []) reached.add(next);
  return reached;
}

async function bundlePackages(): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(IN_PROCESSES).map(([name, file]) => [file, `entry:${name}`])),
    platform: 'node',
    plugins: [packageEntries],
  });
  keepLicences(await bundle.write({ ...OUTPUT, dir: packagesFolder }));
  await bundle.close();
  for (const file of compiled) {
    const folder = dirname(join(dist, file));
    rewrite(file, PACKAGE_IMPORT, (name) => {
      const bundled = IN_PROCESSES[name];
      return bundled && fromFolder(folder, join(packagesFolder, `${bundled}.js`));
    });
  }
}

/** Removes the compiled files that nothing loads any more. */
function removeUnused(): void {
  const used = new Set([...PROGRAMS, ...globSync(PROCESSES, { cwd: dist })]);
  for (const file of used)
    for (const [, imported = ''] of readFileSync(join(dist, file), 'utf8').matchAll(RELATIVE_IMPORT))
      if (compiled.includes(join(dirname(file), imported))) used.add(join(dirname(file), imported));
  for (const file of compiled) if (!used.has(file)) rmSync(join(dist, file));
}

function ownImports(program: string): string[] {
  const text = readFileSync(join(dist, program), 'utf8');
  return [...text.matchAll(OWN_IMPORT)].map(([, file = '']) => file).filter((file) => file !== UNBUNDLED);
}

function withLazyBuiltins(code: string): string {
  return code.replaceAll(BUILTIN_IMPORT, (_, what: string, module: string) => {
    const load = `globalThis.process.getBuiltinModule('${module}')`;
    if (!what.startsWith('{')) return `const ${what} = ${LATE.includes(module) ? lateObject(load) : load};`;
    const names = what
      .slice(1, -1)
      .split(',')
      .map((part) => part.trim().split(' as '));
    return names
      .map(([name = '', local = name]) =>
        LATE.includes(module) && isFunction(module, name)
          ? `const ${local} = (...args) => ${load}.${name}(...args);`
          : `const { ${name}: ${local} } = ${load};`,
      )
      .join(' ');
  });
}

function lateObject(load: string): string {
  return `new Proxy({}, { get: (_, name) => ${load}[name] })`;
}

/** Of Node's modules, the names of classes begin with a capital letter. */
function isFunction(module: string, name: string): boolean {
  const exported: unknown = Reflect.get(process.getBuiltinModule(module) ?? {}, name);
  return typeof exported === 'function' && /^[a-z]/.test(name);
}

function entryName(file: string): string {
  return file.replace(/\.js$/, '').replaceAll('/', '-');
}

/** Names every export, because a bundler cannot see those of a CommonJS package. */
async function entryOf(name: string): Promise<string> {
  const names = Object.keys(await import(name)).filter(
    (key) => key !== 'default' && key !== 'module.exports',
  );
  return `export { ${names.join(', ')} } from ${JSON.stringify(fileURLToPath(import.meta.resolve(name)))};`;
}

/** Imports from elsewhere what `place` gives another place. */
function rewrite(file: string, imports: RegExp, place: (imported: string) => string | undefined): void {
  const path = join(dist, file);
  const before = readFileSync(path, 'utf8');
  const after = before.replaceAll(imports, (whole, imported: string) => {
    const elsewhere = place(imported);
    return elsewhere === undefined ? whole : `'${elsewhere}'`;
  });
  if (after !== before) writeFileSync(path, after);
}

/** Licences require their text beside a copy of the code. */
function keepLicences({ output }: RolldownOutput): void {
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  for (const folder of new Set(folders)) {
    const name = folder.slice(folder.lastIndexOf('/node_modules/') + '/node_modules/'.length);
    const text = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    copyFileSync(
      text === undefined ? sameLicence(name, folder) : join(folder, text),
      join(licencesFolder, `${name.replace('/', '-')}.txt`),
    );
  }
}

/** The text of this project's own licence, for packages that only name it. */
function sameLicence(name: string, folder: string): string {
  const { license }: { license?: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (license !== 'Apache-2.0') throw new Error(`${name} has no licence file`);
  return fileURLToPath(new URL('../LICENSE', import.meta.url));
}

function fromFolder(folder: string, file: string): string {
  const path = relative(folder, file);
  return path.startsWith('.') ? path : `./${path}`;
}
