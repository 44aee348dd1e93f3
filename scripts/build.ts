/**
 * Builds `dist/`: compiles the sources, and bundles the packages of many small files that most commands load.
 * Node spends a third of a millisecond and 60 KB of memory on each file of a package, and `kysely` and `zod`
 * together have 350. Each package becomes one file in `dist/packages/`, with its licence beside it; the packages
 * themselves are unchanged, and stay dependencies because other packages need some of them.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const BUNDLED = ['commander', 'kysely', 'mdast-util-from-markdown', 'prom-client', 'yaml', 'zod'];

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const packages = join(dist, 'packages');

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
// The only module that other programs import.
for (const file of globSync('**/*.d.ts', { cwd: dist })) if (file !== 'probot.d.ts') rmSync(join(dist, file));
const compiled = globSync('**/*.js', { cwd: dist, exclude: ['packages/**'] });

const bundle = await rolldown({
  input: Object.fromEntries(BUNDLED.map((name) => [name, `entry:${name}`])),
  platform: 'node',
  plugins: [
    {
      name: 'entries',
      resolveId: (id) => (id.startsWith('entry:') ? id : null),
      load: (id) => (id.startsWith('entry:') ? entryOf(id.slice('entry:'.length)) : null),
    },
  ],
});
await bundle.write({ dir: packages });
await bundle.close();

for (const name of BUNDLED) keepLicence(name);
for (const file of compiled) {
  const path = join(dist, file);
  const before = readFileSync(path, 'utf8');
  const after = before.replaceAll(
    /(\bfrom |\bimport\(|^import )'([a-z-]+)'/gm,
    (whole, start: string, name: string) =>
      BUNDLED.includes(name) ? `${start}'${fromFolder(dirname(path), join(packages, `${name}.js`))}'` : whole,
  );
  if (after !== before) writeFileSync(path, after);
}

/** Names every export, because a bundler cannot see those of a CommonJS package. */
async function entryOf(name: string): Promise<string> {
  const names = Object.keys(await import(name)).filter(
    (key) => key !== 'default' && key !== 'module.exports',
  );
  return `export { ${names.join(', ')} } from ${JSON.stringify(fileURLToPath(import.meta.resolve(name)))};`;
}

/** Each of these licences requires its text beside a copy of the code. */
function keepLicence(name: string): void {
  const folder = join('node_modules', name);
  const text = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  if (text === undefined) throw new Error(`${name} has no licence file`);
  mkdirSync(packages, { recursive: true });
  copyFileSync(join(folder, text), join(packages, `${name}.LICENSE`));
}

function fromFolder(folder: string, file: string): string {
  const path = relative(folder, file);
  return path.startsWith('.') ? path : `./${path}`;
}
