import type * as QuickJs from 'quickjs-emscripten-core';
import type { QuickJSContext, QuickJSHandle, QuickJSSyncVariant } from 'quickjs-emscripten-core';
import type { Start } from '../protocol.ts';
import { JAVASCRIPT_PRELUDE } from './javascript-prelude.ts';
import { ask, ENDED, type Ending, log } from './line.ts';
import { lock } from './lock.ts';
import { isPlace } from './place.ts';

const STACK_BYTES = 512 * 1_024;

/** Runs the program as a module in a new engine, which has no access to Node. */
export async function runJavaScript(start: Start): Promise<Ending> {
  const { source, name, input, timeoutMs } = start;
  const deadline = performance.now() + timeoutMs;
  const vm = (await load(start)).newContext();
  lock();
  const isLate = () => performance.now() > deadline;
  vm.runtime.setMaxStackSize(STACK_BYTES);
  vm.runtime.setInterruptHandler(isLate);
  try {
    prepare(vm, JSON.stringify(input));
    return evaluate(vm, source, name, isLate);
  } catch (error) {
    // The engine could not even create an error, because it had no memory left.
    const message = error instanceof Error ? error.message : String(error);
    return { ...ENDED, how: 'out_of_memory', message };
  }
}

async function load({ modules: [core = '', variant = ''] }: Start): Promise<QuickJs.QuickJSWASMModule> {
  const { newQuickJSWASMModuleFromVariant }: typeof QuickJs = await import(core);
  const { default: engine }: { default: QuickJSSyncVariant } = await import(variant);
  return newQuickJSWASMModuleFromVariant(engine);
}

function prepare(vm: QuickJSContext, input: string): void {
  const prelude = vm.unwrapResult(vm.evalCode(JAVASCRIPT_PRELUDE, 'prelude.js'));
  const askHost = vm.newFunction('ask', (name, values) =>
    vm.newString(ask(vm.getString(name), vm.getString(values))),
  );
  const print = vm.newFunction('print', (text) => log(vm.getString(text)));
  vm.unwrapResult(vm.callFunction(prelude, vm.undefined, askHost, print, vm.newString(input))).dispose();
}

function evaluate(vm: QuickJSContext, source: string, name: string, isLate: () => boolean): Ending {
  const evaluated = vm.evalCode(source, name, { type: 'module' });
  if (evaluated.error) return failure(vm, evaluated.error, name, isLate);
  const jobs = vm.runtime.executePendingJobs();
  if (jobs.error) return failure(vm, jobs.error, name, isLate);
  const state = vm.getPromiseState(evaluated.value);
  if (state.type === 'rejected') return failure(vm, state.error, name, isLate);
  if (state.type === 'pending') return { ...ENDED, how: 'returned', message: 'it awaits what never comes' };
  return { ...ENDED, how: 'returned' };
}

function failure(vm: QuickJSContext, error: QuickJSHandle, name: string, isLate: () => boolean): Ending {
  // Reading the error's members runs code of the program again.
  const words = isLate() ? ENDED : describe(vm, error, name);
  if (isLate()) return { ...ENDED, how: 'timed_out' };
  return { how: words.message.includes('out of memory') ? 'out_of_memory' : 'threw', ...words };
}

function describe(vm: QuickJSContext, error: QuickJSHandle, file: string): Omit<Ending, 'how'> {
  const dumped: unknown = vm.dump(error);
  // The engine throws `null` if it has no memory left for an error.
  if (dumped === null) return { ...ENDED, message: 'out of memory' };
  if (typeof dumped !== 'object') return { ...ENDED, message: String(dumped) };
  if (!('message' in dumped)) return { ...ENDED, message: JSON.stringify(dumped) };
  const { name, message, stack = '' } = dumped as Record<string, unknown>;
  const text = `${name}: ${message}`;
  return { message: text, at: positionIn(String(stack), file), details: `${text}\n${stack}` };
}

/** The innermost frame of the program itself: its author cannot change the prelude or the engine. */
function positionIn(stack: string, file: string): Ending['at'] {
  for (const frame of stack.split('\n')) {
    const [, where, line, column] = /([^ (]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
    // A program can set any stack.
    if (where === file && isPlace(line) && isPlace(column))
      return { line: Number(line), column: Number(column) };
  }
  return null;
}
