import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Tests of pure parts, and of parts that start nothing: their files share workers, since loading the modules anew for each takes
 * longer than most of their tests. Everything else has a process to itself, where nothing of another file's is left over.
 */
const PURE = [
  'artifact',
  'chain',
  'command',
  'config',
  'openapi',
  'policy',
  'run',
  'skill',
  'stand-in',
  'words',
].map((folder) => `test/${folder}/**/*.test.ts`);

// Every process of a test compiles the same modules: the first one's work serves the others.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled');

export default defineConfig({
  test: {
    pool: 'forks',
    // Modules are loaded by Node, as in production, and not rewritten for each file: a seventh less work.
    experimental: { viteModuleRunner: false },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      { extends: true, test: { name: 'app', include: ['test/**/*.test.ts'], exclude: PURE } },
    ],
    // Two cores, and a third worker for the while in which the others wait for a disk, a clock or a child process.
    maxWorkers: 3,
  },
});
