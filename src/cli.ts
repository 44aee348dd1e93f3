#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { styleText } from 'node:util';
import { COMPILE_CACHE, PACKAGE_ROOT } from './core/package-root.ts';

// Before anything else is loaded, so that all of it comes from the cache. It halves the time of most commands.
enableCompileCache(COMPILE_CACHE);
const [{ redactLastWords }, { callingFolder }, { runCli }, { createTools }, { SharedClock }] =
  await Promise.all([
    import('./core/redact/uncaught.ts'),
    import('./entrypoints/cli/calling-folder.ts'),
    import('./entrypoints/cli/command-line.ts'),
    import('./cli-tools.ts'),
    import('./core/clock.ts'),
  ]);

redactLastWords();

// A reader that stops early, such as `head`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const calledIn = callingFolder(process.env, PACKAGE_ROOT);
const { version } = JSON.parse(readFileSync(`${PACKAGE_ROOT}package.json`, 'utf8')) as { version: string };

// By the database's time, jobs are due and commands were given, whichever machine they come from.
const clock = new SharedClock();

process.exitCode = await runCli(process.argv.slice(2), {
  cwd: calledIn ?? process.cwd(),
  clock,
  tools: createTools(process.env, calledIn, clock),
  version,
  out: writeOut,
  err: (text) => process.stderr.write(text),
  screen: {
    columns: columnsOf(process.stdout),
    // Node decides, by the terminal, NO_COLOR, FORCE_COLOR and NODE_DISABLE_COLORS.
    colours: styleText('red', '-', { stream: process.stdout }) !== '-',
  },
  statusLine: process.stderr.isTTY
    ? (await import('./entrypoints/cli/status-line.ts')).statusLine(
        (text) => process.stderr.write(text),
        () => process.stderr.columns,
      )
    : undefined,
});

/** `COLUMNS` counts for a pipe, too. */
function columnsOf({ columns }: { columns?: number }): number | undefined {
  const given = Number(process.env.COLUMNS);
  return columns ?? (Number.isInteger(given) && given > 0 ? given : undefined);
}

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
