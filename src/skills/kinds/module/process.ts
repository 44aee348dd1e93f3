import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OWN_EXTENSION, PACKAGE_ROOT } from '../../../core/package-root.ts';
import { type Command, commandOf } from '../../../sandbox/node-program.ts';

const HEAP_MB = 256;
/** Processor time, so waiting does not count. */
const CPU_SECONDS = 3_600;

/**
 * The command for the sidecar. It has the same sandbox as programs (../code/process.ts) and reads only its own files and packages. It
 * needs no network, because the app asks the model for it.
 */
export async function sidecarCommand(): Promise<Command> {
  return commandOf({
    main: fileURLToPath(new URL(`sidecar/main.${OWN_EXTENSION}`, import.meta.url)),
    readable: [...ownFiles(), ...packages()],
    deny: ['code-from-strings', 'proto'],
    heapMb: HEAP_MB,
    cpuSeconds: CPU_SECONDS,
    alone: true,
  });
}

/** Its own folder, what it shares with the processes of programs, and the file that says that our files are modules. */
function ownFiles(): string[] {
  return [
    ...['sidecar/', `../code/worker/lock.${OWN_EXTENSION}`].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    ),
    join(PACKAGE_ROOT, 'package.json'),
  ];
}

/** What the sidecar imports by name, and what that imports. */
function packages(): string[] {
  const own = dirname(fileURLToPath(import.meta.url));
  const [engineLink, engine] = folderOf('@ax-llm/ax', own);
  return [
    ...new Set([engineLink, engine, ...folderOf('zod', own), ...folderOf('@opentelemetry/api', engine)]),
  ];
}

/**
 * A package's folder as it is found from another, and where links lead to from there: Node looks at both. Asked of the disk,
 * since Node itself tells only the second.
 * @throws Error when it is not installed.
 */
function folderOf(name: string, from: string): [string, string] {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(found)) return [found, realpathSync(found)];
    if (folder === dirname(folder)) throw new Error(`the package ${name} is not installed`);
  }
}
