import type { Argument, Command, Option } from 'commander';
import { CountersignError } from '../../core/errors.ts';
import { redact } from '../../core/redact/redact.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { place } from '../../messages/cli/cli.ts';
import { type CompletionShell, completionScript } from '../../messages/cli/completion.ts';
import { chainList } from './chain-list.ts';
import type { Context, Result } from './context.ts';
import { skillList } from './skill-list.ts';

/** What can stand in a place of the command line. */
interface Candidate {
  value: string;
  about: string;
}

/**
 * Prints the script for a shell, or what can follow words: the script asks for that when somebody presses the tab key.
 * @param program with the verbs of the nouns that the words name
 */
export async function completion(
  context: Context,
  program: Command,
  shell: CompletionShell,
  words: readonly string[],
): Promise<Result> {
  if (words.length === 0) {
    const script = completionScript(shell, context.tools.ownCommand());
    return { text: script.trimEnd(), json: { shell, script } };
  }
  const { candidates, files } = await following(context, program, words);
  // A sentence about what is missing has no place in a half-written command line.
  const lines = candidates.map(
    ({ value, about }) => redact(plainLine(value)) + (about === '' ? '' : `\t${redact(plainLine(about))}`),
  );
  await context.write([...lines, ...(files ? [':files'] : [])].map((line) => `${line}\n`).join(''));
  return { ran: true, failed: false };
}

/** @param words the last one is being written, and may be empty */
async function following(
  context: Context,
  program: Command,
  words: readonly string[],
): Promise<{ candidates: readonly Candidate[]; files: boolean }> {
  const [before, word] = splitLast(words);
  const { command, at, option, database, given } = reached(program, before);
  const [, long, typed] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
  const named = long === undefined ? undefined : optionsOf(command).find((one) => one.long === long);
  const start = named ? (typed ?? '') : word;
  const open = option ?? named;
  const found = open
    ? await valuesOf(
        context,
        { choices: open.argChoices, name: open.flags, kind: OPTIONS[open.long ?? ''] },
        database,
      )
    : await wordsAt(context, command, at, given, word, database);
  const prefix = named ? `${long}=` : '';
  return {
    files: found.files && !(word.startsWith('-') && !named),
    candidates: found.candidates
      .filter(({ value }) => value.startsWith(start))
      .map(({ value, about }) => ({ value: prefix + value, about })),
  };
}

interface Reached {
  command: Command;
  /** How many arguments it has already. */
  at: number;
  /** The option whose value comes next. */
  option: Option | undefined;
  database: string | undefined;
  given: ReadonlySet<string>;
}

function reached(program: Command, before: readonly string[]): Reached {
  let command = program;
  let at = 0;
  let option: Option | undefined;
  let database: string | undefined;
  const given = new Set<string>();
  for (const word of before) {
    if (option) {
      if (option.long === '--database') database = word;
      option = undefined;
    } else if (word.startsWith('-')) {
      const [long = '', value] = word.split('=', 2);
      const found = optionsOf(command).find((one) => one.long === long);
      given.add(long);
      if (found?.required && value === undefined) option = found;
      if (long === '--database' && value !== undefined) database = value;
    } else {
      const next = command.commands.find((one) => one.name() === word);
      if (next) command = next;
      else at += 1;
    }
  }
  return { command, at, option, database, given };
}

/** Its own options, and those of the whole program. */
function optionsOf(command: Command): readonly Option[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .concat(command.createHelp().visibleGlobalOptions(command));
}

async function wordsAt(
  context: Context,
  command: Command,
  at: number,
  given: ReadonlySet<string>,
  word: string,
  database: string | undefined,
): Promise<Found> {
  const options = optionsOf(command)
    .filter(({ long }) => long !== undefined && !given.has(long))
    .map(({ long = '', description }) => ({ value: long, about: description }));
  if (word.startsWith('-')) return { candidates: options, files: false };
  if (command.commands.length > 0) {
    const commands = command.commands.map((one) => ({ value: one.name(), about: one.description() }));
    return { candidates: commands, files: false };
  }
  const argument = argumentAt(command, at);
  if (!argument) return { candidates: options, files: false };
  const of = { choices: argument.argChoices, name: argument.name(), kind: ARGUMENTS[pathOf(command)] };
  return valuesOf(context, of, database);
}

function argumentAt({ registeredArguments: all }: Command, at: number): Argument | undefined {
  const last = all.at(-1);
  return all[at] ?? (last?.variadic ? last : undefined);
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}

/** Things that the database or the working folder knows. */
type Kind = 'run' | 'active run' | 'chain' | 'skill' | 'delivery' | 'artifact' | 'token' | 'repository';

/** By command, of its first argument. */
export const ARGUMENTS: Readonly<Record<string, Kind>> = {
  'chain show': 'chain',
  'chain fire': 'chain',
  'chain explain': 'chain',
  'chain run': 'chain',
  'chain test': 'chain',
  'chain pause': 'chain',
  'chain resume': 'chain',
  'chain disable': 'chain',
  'skill test': 'skill',
  'skill show': 'skill',
  'skill optimize': 'skill',
  'skill export': 'skill',
  'skill run': 'skill',
  'skill trace': 'run',
  'run show': 'run',
  'run tail': 'run',
  'run why': 'run',
  'run cancel': 'active run',
  'policy explain': 'run',
  'delivery replay': 'delivery',
  'artifact show': 'artifact',
  'artifact get': 'artifact',
  'token revoke': 'token',
};

const OPTIONS: Readonly<Record<string, Kind>> = {
  '--repo': 'repository',
  '--run': 'run',
  '--chain': 'chain',
  '--skill': 'skill',
  '--delivery': 'delivery',
};

interface Found {
  candidates: readonly Candidate[];
  /** The shell completes files. */
  files: boolean;
}

async function valuesOf(
  context: Context,
  { choices, name, kind }: { choices: readonly string[] | undefined; name: string; kind: Kind | undefined },
  database: string | undefined,
): Promise<Found> {
  const files = /file|folder/.test(name);
  if (choices) return { candidates: choices.map((value) => ({ value, about: '' })), files: false };
  if (kind === undefined) return { candidates: [], files };
  try {
    return { candidates: await knownOf(context, kind, database), files };
  } catch (error) {
    // There is no database, or files are wrong: then nothing is known.
    if (error instanceof CountersignError) return { candidates: [], files };
    throw error;
  }
}

/** How many are offered; nobody reads more. */
const MAX_OFFERED = 50;
/** Among how many of the newest runs repositories are searched. */
const MAX_RUNS = 500;

function knownOf(context: Context, kind: Kind, database: string | undefined): Promise<Candidate[]> {
  const { tools } = context;
  const reading = <T>(work: Parameters<typeof tools.withDatabase<T>>[2]) =>
    tools.withDatabase(database, 'read', work);
  const limit = MAX_OFFERED;
  switch (kind) {
    case 'run':
    case 'active run':
      return reading(async ({ read }) => {
        const runs = await read.runs.list(kind === 'run' ? { limit } : { active: true, limit });
        return runs.map((run) => ({ value: run.id, about: `${place(run)} ${run.chain}, ${run.status}` }));
      });
    case 'repository':
      return reading(async ({ read }) => {
        const names = (await read.runs.list({ limit: MAX_RUNS })).map(({ repository }) => repository);
        return [...new Set(names)].slice(0, limit).map((value) => ({ value, about: '' }));
      });
    case 'delivery':
      return reading(async ({ read }) =>
        (await read.deliveries.list({ limit }, () => {})).map(({ guid, event, action, status }) => ({
          value: guid,
          about: `${action === null ? event : `${event}.${action}`}, ${status}`,
        })),
      );
    case 'artifact':
      return reading(async ({ read }) =>
        (await read.artifacts.list({ limit }, () => {})).map(({ id, name, kind: of }) => ({
          value: id,
          about: `${of} ${name}`,
        })),
      );
    case 'token':
      return reading(async ({ read }) =>
        (await read.apiTokens.all()).map(({ id, name }) => ({ value: id, about: name })),
      );
    case 'chain':
      return namesIn(chainList(context));
    case 'skill':
      return namesIn(skillList(context, database === undefined ? {} : { database }));
  }
}

async function namesIn(listing: Promise<{ json: unknown }>): Promise<Candidate[]> {
  const { json } = await listing;
  return (json as { name: string; scope: string }[]).map(({ name, scope }) => ({
    value: name,
    about: scope,
  }));
}

/** Bash makes three words of `--status=failed`. */
function splitLast(words: readonly string[]): [before: string[], word: string] {
  const [word = '', ...others] = words.toReversed();
  const before = others.filter((one) => one !== '=').toReversed();
  return [before, word === '=' ? '' : word];
}
