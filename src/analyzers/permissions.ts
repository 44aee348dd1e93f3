import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { OWN_CODE, PACKAGE_ROOT } from '../core/package-root.ts';

/**
 * Node's own permissions for the process and all it starts: it reads our code and packages, the modules and one folder, and
 * writes to that folder. Not a wall by itself, since native code is beyond it; but JavaScript that got loaded
 * against all plans stands before it. The package's root is left out: people keep `.env` and the database there.
 */
export function permissions(folder: string, modules: readonly string[]): string[] {
  const ours = [OWN_CODE, `${PACKAGE_ROOT}package.json`, `${PACKAGE_ROOT}node_modules`];
  const readable = new Set([...ours, packageFolder(), ...modules, folder]);
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
