import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './app-environment.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Node calls `load` for each module that it loads, whether it is imported or required. */
const HOOK = `import { registerHooks } from 'node:module';
import { appendFileSync } from 'node:fs';
registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED_MODULES, url + '\\n'); return next(url, context); } });
`;

export interface Loaded {
  code: number;
  stdout: string;
  /** Our own files, relative to the checkout. */
  own: string[];
  /** The packages of npm, each once, in alphabetical order. */
  packages: string[];
  /** The modules of Node that our own files import, such as `node:fs`. */
  builtins: string[];
}

/** Runs a program of the checkout as a process, and lists the modules that its main thread loads. */
export function loadedBy(args: readonly string[], env: Record<string, string> = {}): Promise<Loaded> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  const list = join(folder, 'loaded');
  const hook = join(folder, 'hook.mjs');
  writeFileSync(list, '');
  writeFileSync(hook, HOOK);
  const options = { cwd: ROOT, env: { ...bareEnvironment(), ...env, LOADED_MODULES: list } };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['--import', hook, ...args], options, (error, stdout) => {
      const code = error === null ? 0 : error.code;
      const urls = readFileSync(list, 'utf8').split('\n');
      const files = urls
        .filter((url) => url.startsWith('file:') && !url.endsWith('/hook.mjs'))
        .map((url) => fileURLToPath(url).slice(ROOT.length));
      rmSync(folder, { recursive: true });
      if (typeof code !== 'number') return reject(error);
      const packages = files.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
      resolve({
        code,
        stdout,
        own: files.filter((file) => !file.includes('node_modules/')),
        packages: [...new Set(packages)].sort(),
        builtins: [...new Set(urls.filter((url) => url.startsWith('node:')))].sort(),
      });
    });
  });
}
