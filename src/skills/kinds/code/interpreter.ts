import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Language } from './protocol.ts';

/** An interpreter as the process loads it. */
export interface Interpreter {
  /** Addresses of its modules: the process may not look for them, since that means reading all over the disk. */
  modules: readonly string[];
  /** The folders of its packages, which are all that it reads. */
  folders: readonly string[];
}

const MODULES: Record<Language, readonly string[]> = {
  javascript: ['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync'],
  python: ['pyodide'],
};

/** What those import by name. */
const BEHIND: Record<Language, readonly string[]> = {
  javascript: ['@jitl/quickjs-ffi-types'],
  python: [],
};

export function interpreter(language: Language): Interpreter {
  // Links followed: that is where Node looks for what they import.
  const modules = MODULES[language].map((name) => realpathSync(fileURLToPath(import.meta.resolve(name))));
  const [first = ''] = modules;
  const behind = BEHIND[language].map((name) => realpathSync(createRequire(first).resolve(name)));
  return {
    modules: modules.map((path) => pathToFileURL(path).href),
    folders: [...modules, ...behind].map(packageOf),
  };
}

/** The folder of a file's package: the last below a `node_modules`, with its scope. */
function packageOf(file: string): string {
  const found = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0];
  return found ?? dirname(file);
}
