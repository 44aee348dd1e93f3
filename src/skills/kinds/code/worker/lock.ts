import { registerHooks } from 'node:module';

/**
 * Takes away what a template could use that got from its interpreter into Node. Python gets there easily, by design of its bridge
 * to JavaScript.
 * The walls are the system's (process.ts); this stands before them, and instead of those that a machine does not allow.
 */
const GLOBALS = [
  'fetch',
  'Request',
  'Response',
  'Headers',
  'FormData',
  'WebSocket',
  'EventSource',
  'XMLHttpRequest',
  'MessageChannel',
  'BroadcastChannel',
  'Worker',
  'SharedArrayBuffer',
  'navigator',
  'localStorage',
  'sessionStorage',
];

/** Of `process`: what loads native code or modules, makes or signals processes, and tells of this machine. */
const PROCESS = [
  'binding',
  '_linkedBinding',
  'dlopen',
  'getBuiltinModule',
  'execve',
  'kill',
  '_kill',
  '_debugProcess',
  '_debugEnd',
  '_startProfilerIdleNotifier',
  'abort',
  'chdir',
  'loadEnvFile',
  'report',
  'setuid',
  'setgid',
  'seteuid',
  'setegid',
  'setgroups',
  'initgroups',
  'umask',
  'openStdin',
  'mainModule',
  '_preload_modules',
];

/** After this no module is loaded any more, not even one of Node's own. */
export function lock(): void {
  for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name);
  for (const name of PROCESS) Reflect.deleteProperty(process, name);
  registerHooks({
    resolve() {
      throw new Error('a template loads no modules');
    },
  });
}
