import type { Command } from 'commander';

/** Adds an example to a command's help. A test requires one for each command. */
export function example(command: Command, line: string): void {
  command.addHelpText('after', `\nExample:\n  $ ${line}`);
}
