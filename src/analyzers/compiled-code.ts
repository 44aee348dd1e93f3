import { existsSync, readdirSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OWN_CODE, OWN_EXTENSION, PACKAGE_ROOT } from '../core/package-root.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

/**
 * Where the compiled code of the analyzers stays for later starts of the app. Beside the code itself, so that nobody can change it who cannot
 * change the code. What is out of date there is compiled again when it is loaded: Node compares each source.
 * https://nodejs.org/docs/latest-v24.x/api/module.html#module-compile-cache
 */
export const KEPT_CODE = `${PACKAGE_ROOT}node_modules/.cache/analyzers`;
/** Written last, so the folder is complete if it is there. Its content says of which sources. */
const MADE_OF = 'made-of.txt';

/** The folder itself, if its code has been complete at least once. */
export function ifComplete(folder: string): string | undefined {
  return existsSync(join(folder, MADE_OF)) ? folder : undefined;
}

export interface CompiledCode {
  folder: string;
  /** Does nothing if later starts use it, too. */
  remove(): Promise<void>;
}

/**
 * Lets a process that never reads a pull request compile all analyzers, so that no other one has to. It starts none if that has
 * been done for these sources.
 * @param keptIn a temporary folder takes its place if it cannot be written
 * @param onStarted gets the process, to be able to stop it
 * @returns `undefined` if the process failed or was stopped
 */
export async function compileAnalyzers(
  keptIn: string,
  onStarted: (worker: WorkerProcess) => void,
): Promise<CompiledCode | undefined> {
  const sources = await fingerprint();
  const mark = join(keptIn, MADE_OF);
  const kept = { folder: keptIn, remove: async () => {} };
  if ((await readFile(mark, 'utf8').catch(() => undefined)) === sources) return kept;
  if (await canWrite(keptIn)) {
    if (!(await compileInto(keptIn, onStarted))) return undefined;
    await writeFile(mark, sources);
    return kept;
  }
  const folder = await temporaryFolder('compiled');
  const remove = () => rm(folder, { recursive: true, force: true });
  if (await compileInto(folder, onStarted)) return { folder, remove };
  await remove();
  return undefined;
}

/** Whether that went well. */
async function compileInto(folder: string, onStarted: (worker: WorkerProcess) => void): Promise<boolean> {
  const worker = await startWorkerProcess(folder);
  onStarted(worker);
  worker.tell({ kind: 'load', modules: ownModules() });
  worker.tell({ kind: 'keep' });
  await worker.gone;
  return worker.exitCode() === 0;
}

function ownModules(): string[] {
  return ['linters', 'builtin'].flatMap((name) => {
    const folder = `${OWN_CODE}analyzers/${name}/`;
    return readdirSync(folder)
      .filter((file) => file.endsWith(`.${OWN_EXTENSION}`))
      .map((file) => pathToFileURL(folder + file).href);
  });
}

async function canWrite(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Changes with this program's files and with Node's version. An installation of other packages deletes the folder. */
async function fingerprint(): Promise<string> {
  const files = await readdir(OWN_CODE, { recursive: true });
  const times = await Promise.all(files.map(async (file) => (await stat(OWN_CODE + file)).mtimeMs));
  return `${process.version} ${files.length} ${Math.max(...times)}`;
}
