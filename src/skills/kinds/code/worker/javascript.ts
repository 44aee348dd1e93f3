import type * as QuickJs from 'quickjs-emscripten-core';
import type { QuickJSContext, QuickJSHandle, QuickJSSyncVariant } from 'quickjs-emscripten-core';
import type { Start } from '../protocol.ts';
import { JAVASCRIPT_PRELUDE } from './javascript-prelude.ts';
import { ask, ENDED, type Ending, log } from './line.ts';
import { lock } from './lock.ts';
import { isPlace } from './place.ts';

const STACK_BYTES = 512 * 1_024;

/** Runs the template as a module in an engine of its own, which knows nothing of Node. */
export async function runJavaScript(start: Start): Promise<Ending> {
  const { source, name, input, timeoutMs } = start;
  const deadline = performance.now() + timeoutMs;
  const vm = (await load(start)).newContext();
  lock();
  const late = () => performance.now() > deadline;
  vm.runtime.setMaxStackSize(STACK_BYTES);
  vm.runtime.setInterruptHandler(late);
  try {
    prepare(vm, JSON.stringify(input));
    return evaluate(vm, source, name, late);
  } catch (error) {
    // What the engine could not even say in its own words: it had no memory left to make an error of.
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

function evaluate(vm: QuickJSContext, source: string, name: string, late: () => boolean): Ending {
  const evaluated = vm.evalCode(source, name, { type: 'module' });
  if (evaluated.error) return failure(vm, evaluated.error, name, late);
  const jobs = vm.runtime.executePendingJobs();
  if (jobs.error) return failure(vm, jobs.error, name, late);
  const state = vm.getPromiseState(evaluated.value);
  if (state.type === 'rejected') return failure(vm, state.error, name, late);
  if (state.type === 'pending') return { ...ENDED, how: 'returned', message: 'it awaits what never comes' };
  return { ...ENDED, how: 'returned' };
}

function failure(vm: QuickJSContext, error: QuickJSHandle, name: string, late: () => boolean): Ending {
  // Asking the error for its words runs code of the template's again.
  const words = late() ? ENDED : wordsOf(vm, error, name);
  if (late()) return { ...ENDED, how: 'timed_out' };
  return { how: words.message.includes('out of memory') ? 'out_of_memory' : 'threw', ...words };
}

function wordsOf(vm: QuickJSContext, error: QuickJSHandle, file: string): Omit<Ending, 'how'> {
  const dumped: unknown = vm.dump(error);
  // What the engine throws when it has no memory left to make an error of.
  if (dumped === null) return { ...ENDED, message: 'out of memory' };
  if (typeof dumped !== 'object') return { ...ENDED, message: String(dumped) };
  if (!('message' in dumped)) return { ...ENDED, message: JSON.stringify(dumped) };
  const { name, message, stack = '' } = dumped as Record<string, unknown>;
  const text = `${name}: ${message}`;
  return { message: text, at: placeIn(String(stack), file), details: `${text}\n${stack}` };
}

/** The innermost of the template's own frames: those of the prelude and of the engine are no places that its author could change. */
function placeIn(stack: string, file: string): Ending['at'] {
  for (const frame of stack.split('\n')) {
    const [, where, line, column] = /([^ (]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
    // A program may write any stack that it likes.
    if (where === file && isPlace(line) && isPlace(column))
      return { line: Number(line), column: Number(column) };
  }
  return null;
}
