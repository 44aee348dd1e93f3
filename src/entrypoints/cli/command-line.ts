import { CommanderError } from 'commander';
import { CountersignError } from '../../core/errors.ts';
import { redact, redactValue } from '../../core/redact/redact.ts';
import { PLAIN, type Screen } from '../../messages/text/screen.ts';
import { type Context, type Perform, UsageError } from './context.ts';
import { buildProgram } from './program.ts';
import type { StatusLine } from './status-line.ts';

export interface CliParts extends Omit<Context, 'json' | 'write' | 'progress' | 'status' | 'screen'> {
  /** What `--version` shows. */
  version?: string;
  /** Can return a promise that resolves when the stream accepts more. */
  out(text: string): void | Promise<void>;
  err(text: string): void;
  /** Where results go; a pipe if absent. */
  screen?: Screen;
  /** Absent if errors do not go to a terminal. */
  statusLine?: StatusLine | undefined;
}

/** 0: success. 1: failure. 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

/**
 * Executes one command line (without the program's name). Results go to `out`, errors to `err`: a sentence,
 * or with `--json` one document `{"error": {"code", "message"}}`. Any error other than a CountersignError is
 * a bug and is rethrown.
 */
export async function runCli(argv: readonly string[], parts: CliParts): Promise<ExitCode> {
  const { version = '', screen = PLAIN, statusLine, ...surroundings } = parts;
  const out = (text: string) => {
    statusLine?.hide();
    return parts.out(text);
  };
  const err = (text: string) => {
    statusLine?.hide();
    parts.err(text);
  };
  // Read here as well, because an error about an invalid command line must have the requested form too.
  const json = upTo(argv, '--').includes('--json');
  const fail = (code: string, message: string) => {
    const redacted = redact(message);
    err(json ? `${JSON.stringify({ error: { code, message: redacted } })}\n` : `${redacted}\n`);
  };
  let exitCode: ExitCode = 0;
  const perform: Perform = async (work) => {
    const answer = await work({
      ...surroundings,
      json,
      screen,
      write: async (text) => out(text),
      progress: (line) => err(`${redact(line)}\n`),
      status: (text) => statusLine?.show(redact(text)),
    });
    if (!('ran' in answer)) {
      const text = typeof answer.text === 'string' ? answer.text : answer.text(screen);
      out(json ? `${JSON.stringify(redactValue(answer.json), null, 2)}\n` : `${redact(text)}\n`);
    }
    if (answer.failed) exitCode = 1;
  };
  const output = {
    writeOut: out,
    // commander writes help here if the command is missing. With --json, the error document replaces it.
    writeErr: (text: string) => (json ? undefined : err(text)),
    // The error is reported below, once and as one sentence.
    outputError: () => {},
  };
  try {
    const program = await buildProgram(perform, output, {
      version: json ? JSON.stringify({ version }, null, 2) : version,
      words: argv,
    });
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      const { NOTHING_ASKED, usageSentence } = await import('../../messages/cli/cli.ts');
      if (error.code !== 'commander.help') fail('cli.misuse', usageSentence(error.message));
      else if (json) fail('cli.misuse', NOTHING_ASKED);
      return 2;
    }
    if (!(error instanceof CountersignError)) throw error;
    fail(error.code, error.message);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    statusLine?.hide();
  }
}

/** What comes before the first such word. */
function upTo(words: readonly string[], at: string): readonly string[] {
  const index = words.indexOf(at);
  return index === -1 ? words : words.slice(0, index);
}
