#!/usr/bin/env node
import { createTools } from './cli-tools.ts';
import { systemClock } from './core/clock.ts';
import { PACKAGE_ROOT } from './core/package-root.ts';
import { redactLastWords } from './core/redact/uncaught.ts';
import { callingFolder } from './entrypoints/cli/calling-folder.ts';
import { runCli } from './entrypoints/cli/command-line.ts';

redactLastWords();

// A reader that stops early, such as `head`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const calledIn = callingFolder(process.env, PACKAGE_ROOT);

process.exitCode = await runCli(process.argv.slice(2), {
  cwd: calledIn ?? process.cwd(),
  clock: systemClock,
  tools: createTools(process.env, calledIn),
  out: writeOut,
  err: (text) => process.stderr.write(text),
});

/**
 * Waits for a slow reader, so that a long result is never in memory as a whole. Writes nothing to a closed
 * stream.
 */
function writeOut(text: string): void | Promise<void> {
  const { stdout } = process;
  if (stdout.destroyed || stdout.write(text)) return;
  return new Promise((resolve) => {
    stdout.once('drain', resolve);
    stdout.once('close', resolve);
  });
}
