import { expect, it } from 'vitest';
import { loadedBy } from '../support/loaded-modules.ts';

/*
 * Each thread has its own copy of what it loads. The intake thread answers requests and records them; the rest is the
 * engine's.
 */
it('the intake thread loads the log and SQLite, and no validation, query builder or metrics', async () => {
  // It ends at once, because it is no thread here, after its modules are loaded.
  const { own, packages, builtins } = await loadedBy(['src/intake-thread.ts']);

  expect(packages).toEqual([
    '@pinojs/redact',
    'atomic-sleep',
    'better-sqlite3',
    'lru-cache',
    'on-exit-leak-free',
    'pino',
    'pino-std-serializers',
    'quick-format-unescaped',
    'safe-stable-stringify',
    'sonic-boom',
    'thread-stream',
  ]);
  expect(own.length).toBeLessThanOrEqual(60);
  // Imported as a module, it would load Node's HTTP client, too.
  expect(builtins).not.toContain('node:http');
});
