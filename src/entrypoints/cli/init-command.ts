import { type Command, InvalidArgumentError, Option } from 'commander';
import { MERGE_METHODS, parseCount, parseWho, type Who } from '../../domain/first-look/answers.ts';
import type { Perform } from './context.ts';
import { example } from './help.ts';
import type { InitOptions } from './init.ts';
import { repository } from './options.ts';

/** Adds the options of `init`. In a file of its own, because no other command needs what they load. */
export function addInit(init: Command, perform: Perform): void {
  init
    .addOption(
      new Option('--repo <owner/name>', 'the repository, instead of that of the remote "origin"').argParser(
        repository,
      ),
    )
    .option('--pr', 'open a pull request on GitHub with the token in GITHUB_TOKEN, instead of writing here')
    .option('--yes', 'take the proposed answers, without questions')
    .addOption(
      new Option(
        '--who <people>',
        'who may countersign: maintainers, or teams and logins with commas between them',
      ).argParser(people),
    )
    .addOption(new Option('--count <number>', 'how many must countersign').argParser(countersigns))
    .addOption(new Option('--method <method>', 'how pull requests are merged').choices(MERGE_METHODS))
    .addOption(new Option('--check <name>', 'a check that must pass; repeatable').argParser(checkName))
    .addOption(new Option('--no-checks', 'no check must pass').conflicts('check'))
    .action((options: InitOptions) =>
      perform(async (context) => (await import('./init.ts')).init(context, options)),
    );
  example(init, 'countersign init --who octo/core --pr');
}

function people(text: string): Who {
  const who = parseWho(text);
  if (!who) throw new InvalidArgumentError('It is written maintainers, or teams as octo/core and logins.');
  return who;
}

function countersigns(text: string): number {
  const count = parseCount(text);
  if (count === undefined) throw new InvalidArgumentError('It must be a whole number from 1 to 10.');
  return count;
}

/** Adds one name to the previous ones. */
function checkName(text: string, before: readonly string[] = []): string[] {
  if (text.trim() === '' || text.length > 255)
    throw new InvalidArgumentError('The name of a check has 1 to 255 characters.');
  return [...before, text];
}
