#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { systemClock } from '../core/clock.ts';
import { redactLastWords } from '../core/redact/last-words.ts';
import { callingFolder } from './calling-folder.ts';
import { runCli } from './command-line.ts';
import { createTools } from './compose.ts';

redactLastWords();

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const calledIn = callingFolder(process.env, fileURLToPath(new URL('../..', import.meta.url)));

process.exitCode = await runCli(process.argv.slice(2), {
  cwd: calledIn ?? process.cwd(),
  clock: systemClock,
  tools: createTools(process.env, calledIn),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
