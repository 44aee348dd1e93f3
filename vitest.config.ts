import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Tests that fill memory or disks, stop processes, or inspect what a process remembers: each file has a process to itself. All others
 * share a few, because starting a process and loading the modules takes longer than most of their tests, a third of all work.
 */
const ALONE = ['chaos', 'crash', 'disk', 'load', 'security/redaction', 'two-processes'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

/**
 * An app that the tests start as a process runs its engine with the lowest priority (src/composition/intake/niceness.ts). Beside tests
 * of the normal priority, its share of a busy processor was 15 in 1,024: one review took over 90 s. So the tests give way, too.
 * Not as far as the engine, because some tests are about the difference.
 */
const NICENESS = 15;
setPriority(Math.max(NICENESS, getPriority()));

// All processes of the tests compile the same modules, so they share the compiled form.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled');

export default defineConfig({
  test: {
    pool: 'forks',
    // Larger young generation: fewer garbage collections.
    execArgv: ['--max-semi-space-size=64'],
    // Node loads the modules, as in production, instead of Vite, which rewrites each file: a seventh less work.
    experimental: { viteModuleRunner: false },
    // `npm test -- --coverage`. What runs in child processes (analyzers, programs, the crash tests) is not counted.
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'] },
    // These limits only end what hangs: no test may depend on how fast the machine is (test/timing.test.ts).
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 90_000 } },
    // A file is tagged by a comment, `// @module-tag security`, so that these tests can stay beside what they attack.
    // `slow` tags whole files like that, and single tests by `{ tags: 'slow' }`.
    tags: [
      { name: 'security', description: 'Attacks, and the rules that must withstand them.' },
      { name: 'slow', description: 'What takes long, and of which the quick suite has a shorter form.' },
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ALONE,
          isolate: false,
          // Files that run alone have seeds of their own for their properties.
          globalSetup: ['test/support/property-seed.ts', 'test/support/compile-analyzers.ts'],
          setupFiles: 'test/support/use-property-seed.ts',
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, globalSetup: 'test/support/compile-analyzers.ts' },
      },
    ],
    // Two cores, and a third worker for when the others wait for a disk, a clock or a child process.
    maxWorkers: 3,
  },
});
