import { constants, readSync } from 'node:fs';
import type { PyodideAPI, PyodideConfig } from 'pyodide';
import type { Start } from '../protocol.ts';
import { ask, ENDED, type Ending, log } from './line.ts';
import { lock } from './lock.ts';
import { isPlace } from './place.ts';
import { PYTHON_PRELUDE } from './python-prelude.ts';

type Load = (options: PyodideConfig) => Promise<PyodideAPI>;

/** The file descriptor of the snapshot. */
const SNAPSHOT = 3;

/** Runs the program in CPython, compiled to WebAssembly. */
export async function runPython(start: Start): Promise<Ending> {
  const python = await loadPython(start.modules, {
    ...(start.snapshotBytes > 0 && { _loadSnapshot: readSnapshot(start.snapshotBytes) }),
  });
  lock();
  python.setStdin({ error: true });
  python.setStdout({ write: print });
  python.setStderr({ write: print });
  try {
    const prepare = python.runPython(PYTHON_PRELUDE);
    prepare(ask, start.source, start.name, JSON.stringify(start.input));
    return { ...ENDED, how: 'returned' };
  } catch (error) {
    const details = error instanceof Error ? error.message.trim() : String(error);
    const message = summaryOf(details);
    const how = message.startsWith('MemoryError') ? 'out_of_memory' : 'threw';
    return { how, message, at: positionIn(details, start.name), details };
  }
}

/**
 * The line of a traceback that names the error: the first one after the indented frames. Notes can follow it.
 */
function summaryOf(traceback: string): string {
  const lines = traceback.split('\n');
  return lines[lines.findLastIndex((line) => line.startsWith(' ')) + 1] ?? traceback;
}

/** The innermost line of the program itself, which is the last in a traceback. Tracebacks have no columns. */
function positionIn(traceback: string, file: string): Ending['at'] {
  const own = traceback.split('\n').findLast((line) => line.startsWith(`  File "${file}", line `));
  const [, line] = /, line (\d+)/.exec(own ?? '') ?? [];
  return isPlace(line) ? { line: Number(line), column: null } : null;
}

/** @param modules of the interpreter, as the app found them */
export async function loadPython(
  [module = '']: readonly string[],
  options: PyodideConfig,
): Promise<PyodideAPI> {
  // Its file system reads these constants from Node in a way that the permissions forbid.
  Object.assign(process, { binding: () => ({ fs: constants }) });
  // It reads these. Node's getters would create streams on the connection to the app, which must stay
  // blocking.
  for (const [fd, name] of ['stdin', 'stdout', 'stderr'].entries()) {
    Object.defineProperty(process, name, { value: { fd } });
  }
  for (const name of Object.keys(console)) Object.assign(console, { [name]: () => {} });
  // Emscripten derives the program's path from them: for `sys.executable`, and for `_` in its environment.
  process.argv.length = 1;
  const { loadPyodide }: { loadPyodide: Load } = await import(module);
  return loadPyodide({
    indexURL: new URL('.', module).pathname,
    // What `import js` provides: nothing.
    jsglobals: {},
    // Pyodide needs these two to start. Emscripten adds others, and the prelude removes all of them before
    // the program runs.
    env: { HOME: '/home/template', PYTHONHASHSEED: '0' },
    ...options,
  });
}

function readSnapshot(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const read = readSync(SNAPSHOT, bytes, at, length - at, at);
    if (read === 0) throw new Error('the snapshot is shorter than it should be');
    at += read;
  }
  return bytes;
}

function print(bytes: Uint8Array): number {
  log(Buffer.from(bytes).toString());
  return bytes.length;
}
