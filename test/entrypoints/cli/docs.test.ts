import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../../src/entrypoints/cli/program.ts';

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');

interface Leaf {
  name: string;
  command: Command;
}

function leaves(command: Command, above: readonly string[] = []): Leaf[] {
  if (command.commands.length === 0) return [{ name: above.join(' '), command }];
  return command.commands.flatMap((one) => leaves(one, [...above, one.name()]));
}

function usage({ name, command }: Leaf): string {
  const args = command.registeredArguments.map(({ required, variadic }, index) => {
    const said = `${command.registeredArguments[index]?.name() ?? ''}${variadic ? '…' : ''}`;
    return required ? ` <${said}>` : ` [${said}]`;
  });
  return `countersign ${name}${args.join('')}`;
}

const commands = leaves(await buildProgram(async () => {}));

/** The page's sections about a command: the command in the heading, and the options of its table. */
const sections = page
  .split(/^### /m)
  .slice(1)
  .map((text) => ({
    usage: /^`([^`]+)`/.exec(text)?.[1],
    options: [...text.matchAll(/^\| `(--[^`]+)`/gm)].map(([, flags]) => flags),
  }));

describe('docs/cli.md', () => {
  it('has a section for each command with its options, in the order of the help', () => {
    expect(sections).toEqual(
      commands.map((leaf) => ({
        usage: usage(leaf),
        options: leaf.command.options.map(({ flags }) => flags),
      })),
    );
  });

  it('says what values each option allows', () => {
    for (const { command } of commands) {
      for (const choice of command.options.flatMap((option) => option.argChoices ?? [])) {
        expect(page).toContain(`\`${choice}\``);
      }
    }
  });
});

describe('the help', () => {
  it.each(commands)('of $name has an example that begins with the command itself', ({ name, command }) => {
    let help = '';
    command.configureOutput({
      writeOut: (text) => {
        help += text;
      },
    });
    command.outputHelp();
    expect(help).toContain(`Example:\n  $ countersign ${name}`);
  });
});
