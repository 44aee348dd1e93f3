import { type Command, Option } from 'commander';
import { SKILL_OUTCOMES } from '../../domain/skill/manifest.ts';
import type { Perform } from './context.ts';
import { example } from './help.ts';
import { changedPath, demos, duration, input, pullRequestOf, seed } from './options.ts';
import type { SkillMatchOptions } from './skill-match.ts';
import type { SkillNewOptions } from './skill-new.ts';
import type { SkillOptimizeOptions } from './skill-optimize.ts';
import type { SkillRunOptions } from './skill-run.ts';
import { PROGRAM_LANGUAGES } from './skill-scaffold-program.ts';
import type { SkillSyncOptions } from './skill-sync.ts';
import type { SkillTracesOptions } from './skill-traces.ts';

/** The verbs of `countersign skill`. */
export function addSkill(program: Command, perform: Perform): void {
  const skill = program.command('skill').description('check, show, find, make and share skill packages');

  const lint = skill
    .command('lint')
    .description('say everything that is wrong in skill packages')
    .argument(
      '[folders or files...]',
      'a folder with SKILL.md, or anything in it, is a package, one with .github a repository; of any other, each folder in it is a package; a JSON file elsewhere is an exported package (default: this repository)',
    )
    .action((paths: string[]) =>
      perform(async (context) => (await import('./skill-lint.ts')).skillLint(context, paths)),
    );
  example(lint, 'countersign skill lint .github/countersign/skills/naming');

  const test = skill
    .command('test')
    .description('run the cases of skills, in their tests/*.yml, without a network')
    .argument('[name]', 'the name of a skill (default: all that are in force here)')
    .action((name: string | undefined) =>
      perform(async (context) => (await import('./skill-test.ts')).skillTest(context, name)),
    );
  example(test, 'countersign skill test migration-review');

  const list = skill
    .command('list')
    .description('the skills that ship and those of the working folder’s .github/countersign/skills')
    .action(() => perform(async (context) => (await import('./skill-list.ts')).skillList(context)));
  example(list, 'countersign skill list');

  const show = skill
    .command('show')
    .description('one skill as it is in force here, with its artifacts')
    .argument('<name>', 'the name of a skill')
    .action((name: string) =>
      perform(async (context) => (await import('./skill-show.ts')).skillShow(context, name)),
    );
  example(show, 'countersign skill show pr-review');

  const match = skill
    .command('match')
    .description('the skills that fit a question or changed files, the best first, with the reasons')
    .argument('[words...]', 'the question, in any words; may be left out beside --path')
    .addOption(
      new Option(
        '--path <path>',
        'a file that changes, as seen from the repository’s top; may be repeated',
      ).argParser(changedPath),
    )
    .action((words: string[], options: SkillMatchOptions) =>
      perform(async (context) => (await import('./skill-match.ts')).skillMatch(context, words, options)),
    );
  example(match, 'countersign skill match review this pull request --path src/index.ts');

  const make = skill
    .command('new')
    .description(
      'begin a skill package in .github/countersign/skills: a prompt or a program, with a first case',
    )
    .argument('<name>', 'its name: small letters, digits and -')
    .addOption(new Option('--description <sentence>', 'what it does and when to use it'))
    .addOption(
      new Option(
        '--outcome <kind>',
        'what it comes to: a review_verdict has findings, a gate_verdict says yes or no',
      )
        .choices(SKILL_OUTCOMES)
        .default('gate_verdict'),
    )
    .addOption(
      new Option('--program <language>', 'begin with a program in the place of a prompt').choices(
        PROGRAM_LANGUAGES,
      ),
    )
    .addOption(
      new Option('--draft', 'have the model draft it from the description, prompt included').conflicts(
        'program',
      ),
    )
    .addOption(
      new Option(
        '--database <url>',
        'with --draft: the database of the budgets, in the place of DATABASE_URL',
      ),
    )
    .action((name: string, options: SkillNewOptions) =>
      perform(async (context) => (await import('./skill-new.ts')).skillNew(context, name, options)),
    );
  example(make, 'countersign skill new naming --description "Looks at the names of things."');

  const optimize = skill
    .command('optimize')
    .description('look for examples that make a skill’s module better, and keep them if they do')
    .argument('<name>', 'the name of a skill')
    .addOption(
      new Option('--examples <file>', 'JSON lines {"input": {…}, "expected": {…}}').makeOptionMandatory(),
    )
    .addOption(new Option('--seed <number>', 'divides the examples').argParser(seed).default(1))
    .addOption(new Option('--demos <number>', 'the most to keep, 1 to 8').argParser(demos).default(4))
    .addOption(new Option('--database <url>', 'the database, in the place of DATABASE_URL'))
    .action((name: string, options: SkillOptimizeOptions) =>
      perform(async (context) => (await import('./skill-optimize.ts')).skillOptimize(context, name, options)),
    );
  example(optimize, 'countersign skill optimize naming --examples naming.jsonl');

  const take = skill
    .command('import')
    .description('write an exported package to .github/countersign/skills')
    .argument('<file>', 'the JSON file')
    .action((file: string) =>
      perform(async (context) => (await import('./skill-import.ts')).skillImport(context, file)),
    );
  example(take, 'countersign skill import naming.json');

  const give = skill
    .command('export')
    .description('write a skill, all of its files, to one JSON file')
    .argument('<name>', 'the name of a skill')
    .argument('<file>', 'the file to write, which must not exist yet')
    .action((name: string, file: string) =>
      perform(async (context) => (await import('./skill-export.ts')).skillExport(context, name, file)),
    );
  example(give, 'countersign skill export naming naming.json');

  const traces = skill.command('traces').description('what skills were given and gave back');
  const examples = traces
    .command('export')
    .description('write executions of skills as examples, one JSON document a line')
    .argument('<file>', 'the file to write, which must not exist yet')
    .addOption(new Option('--skill <name>', 'only of this skill'))
    .addOption(new Option('--since <duration>', 'only so far back, such as 30d').argParser(duration))
    .option('--for-optimize', 'only what people approved of the skill’s module, as skill optimize reads it')
    .addOption(new Option('--database <url>', 'the database, in the place of DATABASE_URL'))
    .action((file: string, options: SkillTracesOptions) =>
      perform(async (context) => (await import('./skill-traces.ts')).skillTraces(context, file, options)),
    );
  example(examples, 'countersign skill traces export naming.jsonl --skill naming --since 30d');

  const sync = skill
    .command('sync')
    .description('take the skills that an index lists for all repositories of this app')
    .argument('<index>', 'its address: https, or http on this machine')
    .option('--force', 'take older and changed packages, and those of a name that another index has')
    .option('--prune', 'take packages out of force that the index lists no more')
    .addOption(new Option('--database <url>', 'the database, in the place of DATABASE_URL'))
    .action((index: string, options: SkillSyncOptions) =>
      perform(async (context) => (await import('./skill-sync.ts')).skillSync(context, index, options)),
    );
  example(sync, 'countersign skill sync https://skills.example.com/index.json');

  const run = skill
    .command('run')
    .description('carry out a skill on a pull request or a local change; nothing is written to GitHub')
    .argument('<name>', 'the name of a skill')
    .addOption(new Option('--pr <owner/name#number>', 'the pull request').argParser(pullRequestOf))
    .addOption(
      new Option('--diff <file>', 'a change as git diff writes it, on the files of the working folder'),
    )
    .addOption(new Option('--input <key=value>', 'an input of the step; may be repeated').argParser(input))
    .addOption(new Option('--database <url>', 'the database, in the place of DATABASE_URL'))
    .action((name: string, options: SkillRunOptions) =>
      perform(async (context) => (await import('./skill-run.ts')).skillRun(context, name, options)),
    );
  example(run, 'countersign skill run naming --pr acme/shop#7');
}
