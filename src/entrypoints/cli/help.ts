import type { Command } from 'commander';

/** Adds an example to a command's help; each has one, and a test sees to it. */
export function example(command: Command, line: string): void {
  command.addHelpText('after', `\nExample:\n  $ ${line}`);
}
