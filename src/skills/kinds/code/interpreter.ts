import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Language } from './protocol.ts';

/** The files of an interpreter. */
export interface Interpreter {
  /**
   * URLs of its modules. The process must not search for them, because that would mean reading all over the
   * disk.
   */
  modules: readonly string[];
  /** The folders of its packages, the only ones that it may read. */
  folders: readonly string[];
}

const MODULES: Record<Language, readonly string[]> = {
  javascript: ['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync'],
  python: ['pyodide'],
};

/** The packages that those import. */
const INDIRECT: Record<Language, readonly string[]> = {
  javascript: ['@jitl/quickjs-ffi-types'],
  python: [],
};

export function interpreter(language: Language): Interpreter {
  // With links resolved, because Node resolves imports from the real path.
  const modules = MODULES[language].map((name) => realpathSync(fileURLToPath(import.meta.resolve(name))));
  const [first = ''] = modules;
  const indirect = INDIRECT[language].map((name) => realpathSync(createRequire(first).resolve(name)));
  return {
    modules: modules.map((path) => pathToFileURL(path).href),
    folders: [...modules, ...indirect].map(packageOf),
  };
}

/** The folder of a file's package: the last one below a `node_modules`, with its scope. */
function packageOf(file: string): string {
  const found = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0];
  return found ?? dirname(file);
}
