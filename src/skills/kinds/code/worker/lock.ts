import { registerHooks } from 'node:module';

/**
 * Removes what a program that escapes from its interpreter into Node could use. Python does that easily,
 * because its bridge to JavaScript is designed that way. The operating system's sandbox (process.ts) is the
 * real protection; this is an additional layer, and a substitute on machines without one.
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

/**
 * Members of `process` that load native code or modules, start or signal processes, or reveal facts about
 * this machine.
 */
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

/** After this, no module can be loaded, not even one of Node's own. */
export function lock(): void {
  for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name);
  for (const name of PROCESS) Reflect.deleteProperty(process, name);
  registerHooks({
    resolve() {
      throw new Error('a template loads no modules');
    },
  });
}
