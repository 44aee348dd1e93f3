/**
 * Removes from a `node_modules` what this machine never loads: `node scripts/prune-packages.ts package/node_modules`. The image is
 * made so. npm itself installs the binaries of other platforms where a package has them all in one archive.
 */
import { existsSync, globSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Only read by people, compilers and debuggers. Licences stay. */
const UNREAD = ['**/*.map', '**/*.{d.ts,d.cts,d.mts}', '**/{README,CHANGELOG,HISTORY}*.md', 'pyodide/*.html'];

/** The sources of native code, and what compiles it. */
const SOURCES = [
  'better-sqlite3/{deps,src}',
  'better-sqlite3/binding.gyp',
  '@ast-grep/lang-{go,python}/src',
  'node-addon-api',
];

/** The same code for browsers and for bundlers. */
const NOT_FOR_NODE = ['minijinja-js/dist/{bundler,web}'];

/** Archives with binaries for several platforms, by the one for this machine. */
const BINARIES: readonly { folder: string; own: string }[] = [
  { folder: 'better-sqlite3/prebuilds', own: `${process.platform}-${process.arch}.node` },
  ...['go', 'python'].map((language) => ({
    folder: `@ast-grep/lang-${language}/prebuilds`,
    own: `prebuild-${osOfGrammars()}-${process.arch.toUpperCase()}`,
  })),
];

/** @returns how many bytes it removed */
export function prune(modules: string): number {
  const others = BINARIES.flatMap(({ folder, own }) => {
    const all = readdirSync(join(modules, folder));
    if (!all.includes(own)) throw new Error(`${folder} has nothing for this machine: no ${own}`);
    return all.filter((name) => name !== own).map((name) => join(folder, name));
  });
  const unneeded = [...globSync([...UNREAD, ...SOURCES, ...NOT_FOR_NODE], { cwd: modules }), ...others].map(
    (path) => join(modules, path),
  );
  let bytes = 0;
  for (const path of unneeded) {
    bytes += bytesIn(path);
    rmSync(path, { recursive: true, force: true });
  }
  return bytes;
}

/** What a file or a folder holds; 0 if it is gone. */
export function bytesIn(path: string): number {
  if (!existsSync(path)) return 0;
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

function osOfGrammars(): string {
  return (
    { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }[process.platform as string] ?? process.platform
  );
}

const [, program = '', folder] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  if (folder === undefined) throw new Error('name the node_modules to prune');
  process.stdout.write(`removed ${Math.round(prune(folder) / 1e6)} MB from ${folder}\n`);
}
