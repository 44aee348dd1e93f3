import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OWN_CODE, OWN_EXTENSION, PACKAGE_ROOT } from '../../../core/package-root.ts';
import { type Command, commandOf } from '../../../sandbox/node-program.ts';

const HEAP_MB = 256;
/** The packages of a build. A checkout has none. */
const BUNDLED = join(OWN_CODE, 'packages');
/** CPU time, so waiting does not count. */
const CPU_SECONDS = 3_600;

/**
 * The command for the sidecar. It has the same sandbox as programs (../code/process.ts) and reads only its
 * own files and packages. It needs no network, because the app calls the model for it.
 */
export async function sidecarCommand(): Promise<Command> {
  return commandOf({
    main: fileURLToPath(new URL(`sidecar/main.${OWN_EXTENSION}`, import.meta.url)),
    readable: [...ownFiles(), ...(existsSync(BUNDLED) ? [BUNDLED] : packages())],
    deny: ['code-from-strings', 'proto'],
    heapMb: HEAP_MB,
    cpuSeconds: CPU_SECONDS,
    alone: true,
  });
}

/**
 * Its own folder, the file that it shares with the processes of programs, and the file that marks our files
 * as modules.
 */
function ownFiles(): string[] {
  return [
    ...['sidecar/', `../code/worker/lock.${OWN_EXTENSION}`].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    ),
    join(PACKAGE_ROOT, 'package.json'),
  ];
}

/** The packages that the sidecar imports, and their dependencies. */
function packages(): string[] {
  const own = dirname(fileURLToPath(import.meta.url));
  const [engineLink, engine] = folderOf('@ax-llm/ax', own);
  return [
    ...new Set([engineLink, engine, ...folderOf('zod', own), ...folderOf('@opentelemetry/api', engine)]),
  ];
}

/**
 * The folder of a package as resolved from another one, and its real path: Node uses both. Searches the disk,
 * because Node's API returns only the real path.
 * @throws Error if it is not installed
 */
function folderOf(name: string, from: string): [string, string] {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(found)) return [found, realpathSync(found)];
    if (folder === dirname(folder)) throw new Error(`the package ${name} is not installed`);
  }
}
