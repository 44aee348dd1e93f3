import { Command, InvalidArgumentError, Option, type OutputConfiguration } from 'commander';
import type { Perform, ServeOptions, StudioOptions } from './context.ts';
import { example } from './help.ts';

/** The nouns of the command line, in the order of the help. `try`, `init`, `doctor` and `completion` are commands by themselves. */
const NOUNS: readonly (readonly [name: string, description: string])[] = [
  ['try', 'show the review and the decision for a real pull request; nothing is installed, nothing written'],
  ['init', 'write settings and a chain for a repository, after a look at it and four questions'],
  ['doctor', 'check how the app is set up, and say what to do about each error'],
  ['import', 'say the policy of another app in settings and a chain'],
  ['config', 'check the settings and chains of all repositories on GitHub'],
  ['chain', 'check, show and fire chains'],
  ['skill', 'check, show, find, make and share skill packages'],
  ['run', 'list, show and cancel runs'],
  ['policy', 'show what runs may do, and why'],
  ['learn', 'list the rules whose findings people mostly accept, and how to leave them out'],
  ['report', 'show for each repository its rollout, its errors, what became of runs, and who waits'],
  ['delivery', 'list and replay received webhooks'],
  ['artifact', 'list, show, print and prune what steps left'],
  ['state', 'show single attempts at steps'],
  ['audit', 'export who did what and when'],
  ['token', 'make, list and revoke tokens for the API'],
  ['organisation', 'forget an organisation’s settings'],
  ['db', 'migrate, back up and shrink the database'],
  ['completion', 'print a script that completes commands in bash, zsh or fish'],
];

/**
 * The nouns, verbs and options of the command line. Verbs and their options are loaded only for the nouns
 * that the words name, and each command, in a file of its own, only when it is executed: `--help` needs
 * neither.
 * @param words the command line, or `undefined` for all nouns with their verbs
 */
export async function buildProgram(
  perform: Perform,
  output: OutputConfiguration = {},
  { version = '', words }: { version?: string; words?: readonly string[] } = {},
): Promise<Command> {
  const program = new Command('countersign')
    .description('Manages the runs, chains, skills, deliveries and artifacts of a Countersign app.')
    .version(version, '--version', 'show the version')
    .option('--json', 'answer with one JSON document')
    .configureHelp({ showGlobalOptions: true })
    // Must precede the commands: each copies the configuration at its creation.
    .configureOutput(output)
    .exitOverride();
  example(program, 'countersign run list --active');

  const serve = program
    .command('serve')
    .description('run the app, as npm start does')
    .addOption(
      new Option(
        '--settings <file>',
        'a file with settings, such as .env; environment variables take precedence',
      ),
    )
    .addOption(new Option('--database <url>', 'the database, instead of DATABASE_URL'))
    .action((options: ServeOptions) =>
      perform(async (context) => (await import('./serve.ts')).serve(context, options)),
    );
  example(serve, 'countersign serve --settings .env');

  const studio = program
    .command('studio')
    .description('read runs, artifacts and chains in a browser on this machine')
    .option('--port <number>', 'the port on 127.0.0.1', port, 3_210)
    .addOption(new Option('--database <url>', 'the database, instead of DATABASE_URL'))
    .action((options: StudioOptions) =>
      perform(async (context) => (await import('./studio.ts')).studio(context, options)),
    );
  example(studio, 'countersign studio --port 3210');

  const demo = program
    .command('demo')
    .description('show a pull request from opened to merged on an embedded GitHub; needs a checkout')
    .option('--keep', 'keep everything running at the end, until Ctrl-C')
    .action((options: { keep?: boolean }) =>
      perform(async (context) => (await import('./demo.ts')).demo(context, options)),
    );
  example(demo, 'countersign demo --keep');

  for (const [name, description] of NOUNS) {
    const noun = program.command(name).description(description);
    if (words && !words.includes(name)) continue;
    if (name === 'skill') (await import('./skill-commands.ts')).addSkill(noun, perform);
    else if (name === 'init') (await import('./init-command.ts')).addInit(noun, perform);
    else (await import('./commands.ts')).VERBS[name]?.(noun, perform);
  }
  return program;
}

/** Here, because the other options of commands load more than `--help` needs. */
function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('A port is a whole number from 0 (any free port) to 65535.');
  }
  return Number(text);
}
