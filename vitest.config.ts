import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Tests that fill memory or disks, stop processes, or look at what a process remembers: each file has one to itself, where nothing
 * of another's is left over. All others share a few, since starting one and loading the modules anew takes longer than most of
 * their tests: a third of all work.
 */
const ALONE = ['chaos', 'crash', 'disk', 'load', 'security/redaction', 'two-processes'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

// Every process of a test compiles the same modules: the first one's work serves the others.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled');

export default defineConfig({
  test: {
    pool: 'forks',
    // Of the little that a test leaves behind, less is looked through again and again.
    execArgv: ['--max-semi-space-size=64'],
    // Modules are loaded by Node, as in production, and not rewritten for each file: a seventh less work.
    experimental: { viteModuleRunner: false },
    // `npm test -- --coverage`. What runs in child processes (analyzers, programs, the crash tests) is not counted.
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'] },
    // They end what hangs, and nothing else: no test may depend on how fast the machine is (test/timing.test.ts).
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 90_000 } },
    // A file is tagged by a comment, `// @module-tag security`, so that these tests can stay beside what they attack.
    tags: [{ name: 'security', description: 'Attacks, and the rules that must withstand them.' }],
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ALONE,
          isolate: false,
          // The properties of those that stand alone each have a seed of their own.
          globalSetup: 'test/support/property-seed.ts',
          setupFiles: 'test/support/use-property-seed.ts',
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
    // Two cores, and a third worker for the while in which the others wait for a disk, a clock or a child process.
    maxWorkers: 3,
  },
});
