import { type Command, Option } from 'commander';
import type { DatabaseOption, Perform } from './context.ts';
import { example } from './help.ts';
import { changedPath, demos, duration, input, pullRequestOf, seed } from './options.ts';
import type { SkillMatchOptions } from './skill-match.ts';
import type { SkillNewOptions } from './skill-new.ts';
import type { SkillOptimizeOptions } from './skill-optimize.ts';
import type { SkillRunOptions } from './skill-run.ts';
import { PROGRAM_LANGUAGES, SCAFFOLD_OUTCOMES } from './skill-scaffold-program.ts';
import type { SkillSyncOptions } from './skill-sync.ts';
import type { SkillTraceOptions } from './skill-trace.ts';
import type { SkillTracesOptions } from './skill-traces.ts';

/** The verbs of `countersign skill`. */
export function addSkill(skill: Command, perform: Perform): void {
  const lint = skill
    .command('lint')
    .description('report every error and warning in skill packages')
    .argument(
      '[folders or files...]',
      'a folder with SKILL.md (or any file in it) is a package; a folder with .github is a repository; in any other folder, each subfolder is a package; any other JSON file is an exported package (default: this repository)',
    )
    .option('--strict', 'fail for warnings, too')
    .action((paths: string[], options: { strict?: boolean }) =>
      perform(async (context) => (await import('./skill-lint.ts')).skillLint(context, paths, options)),
    );
  example(lint, 'countersign skill lint .github/countersign/skills/naming');

  const test = skill
    .command('test')
    .description('run the cases of skills, in their tests/*.yml, without a network')
    .argument('[name]', 'the name of a skill (default: all skills in force here)')
    .action((name: string | undefined) =>
      perform(async (context) => (await import('./skill-test.ts')).skillTest(context, name)),
    );
  example(test, 'countersign skill test migration-review');

  const list = skill
    .command('list')
    .description('list the shipped skills, those in .github/countersign/skills, and those of indexes')
    .addOption(new Option('--database <url>', 'the database, instead of DATABASE_URL'))
    .action((options: DatabaseOption) =>
      perform(async (context) => (await import('./skill-list.ts')).skillList(context, options)),
    );
  example(list, 'countersign skill list');

  const show = skill
    .command('show')
    .description('show one skill with its artifacts')
    .argument('<name>', 'the name of a skill')
    .action((name: string) =>
      perform(async (context) => (await import('./skill-show.ts')).skillShow(context, name)),
    );
  example(show, 'countersign skill show pr-review');

  const match = skill
    .command('match')
    .description('list the skills that match a question or changed files, best first, with the reasons')
    .argument('[words...]', 'the question, in any words; optional with --path')
    .addOption(
      new Option(
        '--path <path>',
        'a changed file, relative to the root of the repository; repeatable',
      ).argParser(changedPath),
    )
    .action((words: string[], options: SkillMatchOptions) =>
      perform(async (context) => (await import('./skill-match.ts')).skillMatch(context, words, options)),
    );
  example(match, 'countersign skill match review this pull request --path src/index.ts');

  const make = skill
    .command('new')
    .description(
      'create a skill package in .github/countersign/skills: a prompt or a program, and its first cases',
    )
    .argument('<name>', 'its name: lower-case letters, digits and -')
    .addOption(new Option('--description <sentence>', 'what it does and when to use it'))
    .addOption(
      new Option(
        '--outcome <kind>',
        'what it produces: a review_verdict has findings, a gate_verdict passes or fails; docs/skills.md explains the others',
      )
        .choices(SCAFFOLD_OUTCOMES)
        .default('gate_verdict'),
    )
    .addOption(new Option('--program <language>', 'a program instead of a prompt').choices(PROGRAM_LANGUAGES))
    .addOption(
      new Option('--draft', 'let the model draft the metadata and the prompt from the description').conflicts(
        'program',
      ),
    )
    .addOption(
      new Option(
        '--database <url>',
        'with --draft: the database that keeps the budgets, instead of DATABASE_URL',
      ),
    )
    .action((name: string, options: SkillNewOptions) =>
      perform(async (context) => (await import('./skill-new.ts')).skillNew(context, name, options)),
    );
  example(make, 'countersign skill new naming --description "Looks at the names of things."');

  const optimize = skill
    .command('optimize')
    .description('look for examples that improve a skill’s module, and store them if they do')
    .argument('<name>', 'the name of a skill')
    .addOption(
      new Option('--examples <file>', 'JSON lines {"input": {…}, "expected": {…}}').makeOptionMandatory(),
    )
    .addOption(
      new Option('--seed <number>', 'decides how the examples are divided').argParser(seed).default(1),
    )
    .addOption(
      new Option('--demos <number>', 'how many examples to keep at most, 1 to 8').argParser(demos).default(4),
    )
    .addOption(new Option('--database <url>', 'the database, instead of DATABASE_URL'))
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
    .description('write all files of a skill to one JSON file')
    .argument('<name>', 'the name of a skill')
    .argument('<file>', 'the file to write, which must not exist yet')
    .action((name: string, file: string) =>
      perform(async (context) => (await import('./skill-export.ts')).skillExport(context, name, file)),
    );
  example(give, 'countersign skill export naming naming.json');

  const trace = skill
    .command('trace')
    .description('show the executions of skills in a run: files, effort, results')
    .argument('<run>', 'the id of the run')
    .addOption(new Option('--skill <name>', 'only this skill'))
    .option('--texts', 'also what each file was given, and what it returned')
    .addOption(new Option('--database <url>', 'the database, instead of DATABASE_URL'))
    .action((run: string, options: SkillTraceOptions) =>
      perform(async (context) => (await import('./skill-trace.ts')).skillTrace(context, run, options)),
    );
  example(trace, 'countersign skill trace run_01k2x7 --texts');

  const traces = skill.command('traces').description('export the inputs and outputs of skills');
  const examples = traces
    .command('export')
    .description('write executions of skills as examples, one JSON document per line')
    .argument('<file>', 'the file to write, which must not exist yet')
    .addOption(new Option('--skill <name>', 'only this skill'))
    .addOption(new Option('--since <duration>', 'how far back, such as 30d').argParser(duration))
    .option(
      '--for-optimize',
      'only what people approved of the skill’s module, in the format for skill optimize',
    )
    .addOption(new Option('--database <url>', 'the database, instead of DATABASE_URL'))
    .action((file: string, options: SkillTracesOptions) =>
      perform(async (context) => (await import('./skill-traces.ts')).skillTraces(context, file, options)),
    );
  example(examples, 'countersign skill traces export naming.jsonl --skill naming --since 30d');

  const sync = skill
    .command('sync')
    .description('install the packages that an index lists, for all repositories of this app')
    .argument('<index>', 'its URL: https, or http on this machine')
    .option('--force', 'also accept older versions, changed packages, and names of another index')
    .option('--prune', 'remove packages that the index no longer lists')
    .addOption(new Option('--database <url>', 'the database, instead of DATABASE_URL'))
    .action((index: string, options: SkillSyncOptions) =>
      perform(async (context) => (await import('./skill-sync.ts')).skillSync(context, index, options)),
    );
  example(sync, 'countersign skill sync https://skills.example.com/index.json');

  const run = skill
    .command('run')
    .description('run a skill on a pull request or a local change; it writes nothing to GitHub')
    .argument('<name>', 'the name of a skill')
    .addOption(new Option('--pr <owner/name#number>', 'the pull request').argParser(pullRequestOf))
    .addOption(
      new Option(
        '--diff <file>',
        'a change in the format of git diff; the files of the working folder are its head',
      ),
    )
    .addOption(new Option('--input <key=value>', 'an input of the step; repeatable').argParser(input))
    .addOption(new Option('--database <url>', 'the database, instead of DATABASE_URL'))
    .action((name: string, options: SkillRunOptions) =>
      perform(async (context) => (await import('./skill-run.ts')).skillRun(context, name, options)),
    );
  example(run, 'countersign skill run naming --pr acme/shop#7');
}
