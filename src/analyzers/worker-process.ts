import { closeSync, openSync, realpathSync } from 'node:fs';
import { realpath, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OWN_CODE, OWN_EXTENSION, PACKAGE_ROOT } from '../core/package-root.ts';
import { commandOf } from '../sandbox/node-program.ts';
import { type Ending, type SandboxedProcess, startProcess } from '../sandbox/process.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';
import { type JobResult, jobResultSchema, type ToWorker } from './worker/protocol.ts';

/** Enough for 200,000 findings, which the app reads in half a second. */
const MAX_OUTPUT_BYTES = 16_000_000;
const HEAP_MB = 768;
/** Ends a process that loops on after the app died. A review may take a third of it, on two cores. */
const CPU_SECONDS = 600;
const MAIN = fileURLToPath(new URL(`./worker/main.${OWN_EXTENSION}`, import.meta.url));

/** A process of the analyzers. It serves one review and is then killed, so nothing remains of the pull request. */
export interface WorkerProcess extends Pick<SandboxedProcess<Ending>, 'pid' | 'over' | 'exitCode' | 'stop'> {
  tell(message: ToWorker): void;
  /** Called for each result; none after `stop`. */
  onResult(listener: (result: JobResult) => void): void;
  /** Resolves when the process and its folder are gone. */
  readonly gone: Promise<Ending>;
}

/**
 * Starts a process in an empty folder.
 * @param compiled the folder of the compiled code that all processes share, if there is one yet. Only a
 * process that reads no pull request may keep a way to it.
 * @param modules analyzers outside of our own code
 */
export async function startWorkerProcess(
  compiled: string | undefined,
  modules: readonly string[] = [],
): Promise<WorkerProcess> {
  const folder = await realpath(await temporaryFolder('review'));
  try {
    const compileCache = compiled && 'compiled';
    if (compiled && compileCache) await symlink(compiled, join(folder, compileCache));
    const command = await commandOf({
      main: MAIN,
      readable: [...new Set([...OURS, packageFolder(), ...modules, folder])],
      writable: [folder],
      allow: ['addons'],
      compileCache,
      heapMb: HEAP_MB,
      cpuSeconds: CPU_SECONDS,
    });
    let listener = (_: JobResult) => {};
    // Standard output is oxlint's, which reads it again.
    const outputFile = openSync(join(folder, 'output'), 'w+');
    const child = startProcess<Ending, JobResult>(
      { ...command, folder, outputFile, limits: { outputBytes: MAX_OUTPUT_BYTES } },
      { schema: jobResultSchema, onMessage: (result) => listener(result) },
    );
    closeSync(outputFile);
    return {
      ...child,
      tell: (message) => child.writeLine(JSON.stringify(message)),
      onResult(given) {
        listener = given;
      },
      gone: child.ended.finally(() => remove(folder)),
    };
  } catch (error) {
    await remove(folder);
    throw error;
  }
}

/**
 * The process reads our code and packages, the modules and one folder, and writes to that folder. Node's
 * permissions do not stop native code, but they stop JavaScript that an attacker gets loaded. The package's
 * root is excluded, because people keep `.env` and the database there.
 */
const OURS = [OWN_CODE, `${PACKAGE_ROOT}package.json`, `${PACKAGE_ROOT}node_modules`];

/**
 * The outermost `node_modules` that contains our dependencies, with links resolved: it is not always beside
 * our code.
 */
function packageFolder(): string {
  const entry = realpathSync(createRequire(import.meta.url).resolve('oxlint/package.json'));
  return /^.*?[\\/]node_modules(?=[\\/])/.exec(entry)?.[0] ?? entry;
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
