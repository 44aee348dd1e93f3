import { constants, readSync } from 'node:fs';
import type { PyodideAPI, PyodideConfig } from 'pyodide';
import type { Start } from '../protocol.ts';
import { ask, ENDED, type Ending, log } from './line.ts';
import { lock } from './lock.ts';
import { isPlace } from './place.ts';
import { PYTHON_PRELUDE } from './python-prelude.ts';

type Load = (options: PyodideConfig) => Promise<PyodideAPI>;

/** The file descriptor that a snapshot comes by. */
const SNAPSHOT = 3;

/** Runs the template in CPython, compiled to WebAssembly. */
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
    const message = nameOf(details);
    const how = message.startsWith('MemoryError') ? 'out_of_memory' : 'threw';
    return { how, message, at: placeIn(details, start.name), details };
  }
}

/** Of a traceback, the line that says what it was: the first behind the places, which are indented. Notes may follow. */
function nameOf(traceback: string): string {
  const lines = traceback.split('\n');
  return lines[lines.findLastIndex((line) => line.startsWith(' ')) + 1] ?? traceback;
}

/** The innermost of the template's own lines, which a traceback tells last; it tells no columns. */
function placeIn(traceback: string, file: string): Ending['at'] {
  const own = traceback.split('\n').findLast((line) => line.startsWith(`  File "${file}", line `));
  const [, line] = /, line (\d+)/.exec(own ?? '') ?? [];
  return isPlace(line) ? { line: Number(line), column: null } : null;
}

/** @param modules of the interpreter, as the app found them */
export async function loadPython(
  [module = '']: readonly string[],
  options: PyodideConfig,
): Promise<PyodideAPI> {
  // Its file system asks Node for these by a way that the permissions close.
  Object.assign(process, { binding: () => ({ fs: constants }) });
  // And it looks at these, upon which Node would make a stream of the line to the app, which must block.
  for (const [fd, name] of ['stdin', 'stdout', 'stderr'].entries()) {
    Object.defineProperty(process, name, { value: { fd } });
  }
  for (const name of Object.keys(console)) Object.assign(console, { [name]: () => {} });
  // Emscripten tells Python the path of the program by these: as `sys.executable`, and as `_` of the environment that it makes up.
  process.argv.length = 1;
  const { loadPyodide }: { loadPyodide: Load } = await import(module);
  return loadPyodide({
    indexURL: new URL('.', module).pathname,
    // What `import js` finds: nothing.
    jsglobals: {},
    // Pyodide needs these two to start. Emscripten adds more of its own; the prelude takes all of them away from the template.
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
