import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Node's own permissions for the process and all it starts: it reads our code and packages, the modules and one folder, and
 * writes to that folder. Not a wall by itself, since native code is beyond it; but JavaScript that got loaded
 * against all plans stands before it. The package's root is left out: people keep `.env` and the database there.
 */
export function permissions(folder: string, modules: readonly string[]): string[] {
  const root = new URL('../../../', import.meta.url);
  const ours = [
    new URL('../../', import.meta.url),
    new URL('package.json', root),
    new URL('node_modules', root),
  ];
  const readable = new Set([...ours.map((url) => fileURLToPath(url)), packageFolder(), ...modules, folder]);
  return [
    '--permission',
    '--allow-addons',
    '--allow-child-process',
    '--allow-worker',
    ...[...readable].map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${folder}`,
  ];
}

/** The outermost `node_modules` that our dependencies lie in, links followed: not always the one beside us. */
function packageFolder(): string {
  const entry = realpathSync(createRequire(import.meta.url).resolve('oxlint/package.json'));
  return /^.*?[\\/]node_modules(?=[\\/])/.exec(entry)?.[0] ?? entry;
}
