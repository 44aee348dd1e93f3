import type * as QuickJs from 'quickjs-emscripten-core';
import type { QuickJSContext, QuickJSHandle, QuickJSSyncVariant } from 'quickjs-emscripten-core';
import type { Start } from '../protocol.ts';
import { JAVASCRIPT_PRELUDE } from './javascript-prelude.ts';
import { ask, ENDED, type Ending, log } from './line.ts';
import { lock } from './lock.ts';

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
    return { how: 'out_of_memory', message, details: '' };
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
  if (evaluated.error) return failure(vm, evaluated.error, late);
  const jobs = vm.runtime.executePendingJobs();
  if (jobs.error) return failure(vm, jobs.error, late);
  const state = vm.getPromiseState(evaluated.value);
  if (state.type === 'rejected') return failure(vm, state.error, late);
  if (state.type === 'pending') return { ...ENDED, how: 'returned', message: 'it awaits what never comes' };
  return { ...ENDED, how: 'returned' };
}

function failure(vm: QuickJSContext, error: QuickJSHandle, late: () => boolean): Ending {
  // Asking the error for its words runs code of the template's again.
  const words = late() ? ENDED : wordsOf(vm, error);
  if (late()) return { ...ENDED, how: 'timed_out' };
  return { how: words.message.includes('out of memory') ? 'out_of_memory' : 'threw', ...words };
}

function wordsOf(vm: QuickJSContext, error: QuickJSHandle): Omit<Ending, 'how'> {
  const dumped: unknown = vm.dump(error);
  // What the engine throws when it has no memory left to make an error of.
  if (dumped === null) return { message: 'out of memory', details: '' };
  if (typeof dumped !== 'object' || !('message' in dumped)) {
    return { message: String(dumped), details: '' };
  }
  const { name, message, stack = '', lineNumber } = dumped as Record<string, unknown>;
  // Only a program that does not parse has no place of its own in the stack that its author would look for.
  const line = name === 'SyntaxError' && typeof lineNumber === 'number' ? ` (line ${lineNumber})` : '';
  const text = `${name}: ${message}${line}`;
  return { message: text, details: `${text}\n${stack}` };
}
