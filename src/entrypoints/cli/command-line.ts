import { CommanderError } from 'commander';
import { CountersignError } from '../../core/errors.ts';
import { redact, redactValue } from '../../core/redact/redact.ts';
import { NOTHING_ASKED, usageSentence } from '../../messages/cli.ts';
import { type Context, type Perform, UsageError } from './context.ts';
import { buildProgram } from './program.ts';

export interface CliParts extends Omit<Context, 'json' | 'write'> {
  /** May return a promise for when there is room for more. */
  out(text: string): void | Promise<void>;
  err(text: string): void;
}

/** 0: done. 1: failed. 2: the command was not written as it must be. */
export type ExitCode = 0 | 1 | 2;

/**
 * Carries out one command line (without the program's own name). Answers go to `out`, what went wrong to `err`: a
 * sentence, or with `--json` one document `{"error": {"code", "message"}}`. Anything thrown that is no
 * CountersignError is a bug of ours and is thrown on.
 */
export async function runCli(argv: readonly string[], parts: CliParts): Promise<ExitCode> {
  const { out, err, ...surroundings } = parts;
  // Read here too: a command line that cannot be parsed is still answered in the form that was asked for.
  const json = argv.includes('--json');
  const fail = (code: string, message: string) => {
    const said = redact(message);
    err(json ? `${JSON.stringify({ error: { code, message: said } })}\n` : `${said}\n`);
  };
  let exitCode: ExitCode = 0;
  const perform: Perform = async (work) => {
    const answer = await work({ ...surroundings, json, write: async (text) => out(text) });
    if (!('ran' in answer)) {
      out(json ? `${JSON.stringify(redactValue(answer.json), null, 2)}\n` : `${redact(answer.text)}\n`);
    }
    if (answer.failed) exitCode = 1;
  };
  const program = buildProgram(perform, {
    writeOut: out,
    // Help in the place of a command that was left out; with --json the error document stands for it.
    writeErr: (text) => (json ? undefined : err(text)),
    // What commander would say is said below, in one sentence and once.
    outputError: () => {},
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      if (error.code !== 'commander.help') fail('cli.misuse', usageSentence(error.message));
      else if (json) fail('cli.misuse', NOTHING_ASKED);
      return 2;
    }
    if (!(error instanceof CountersignError)) throw error;
    fail(error.code, error.message);
    return error instanceof UsageError ? 2 : 1;
  }
}
