import { enableCompileCache } from 'node:module';
import { COMPILE_CACHE } from './core/package-root.ts';

// Before anything else is loaded, so that all of it comes from the cache.
enableCompileCache(COMPILE_CACHE);
const [{ redactLastWords }, { serve }] = await Promise.all([
  import('./core/redact/uncaught.ts'),
  import('./serve.ts'),
]);

redactLastWords();
const started = await serve(process.env);
if (!started.ok) {
  process.stderr.write(started.message);
  process.exitCode = 1;
}
