// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ARGUMENTS } from '../../../src/entrypoints/cli/completion.ts';
import { buildProgram } from '../../../src/entrypoints/cli/program.ts';
import { completionScript } from '../../../src/messages/cli/completion.ts';
import { bareEnvironment } from '../../support/app-environment.ts';
import { inTerminal, WITHOUT_TERMINAL } from '../../support/pseudo-terminal.ts';
import { at, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, seed } from './support.ts';

const newFolder = temporaryFolders();

async function withRuns() {
  const folder = newFolder();
  const path = join(folder, 'countersign.db');
  await seed(path, (storage) =>
    storage.transaction(async ({ runs }) => {
      await runs.insert(runState('run_one', { createdAt: at(1), status: 'failed', finishedAt: at(2) }));
      await runs.insert(runState('run_two', { createdAt: at(3), repository: 'acme/shop', repositoryId: 71 }));
    }),
  );
  const env = { DATABASE_URL: `sqlite:${path}` };
  const offered = async (...words: string[]) => {
    const { code, stdout, stderr } = await countersign(['completion', 'bash', '--', ...words], {
      env,
      cwd: folder,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout.split('\n').slice(0, -1);
  };
  return {
    folder,
    env,
    offered,
    values: async (...words: string[]) => (await offered(...words)).map((line) => line.split('\t')[0]),
  };
}

describe('completion', () => {
  it('offers the commands with what they do', async () => {
    const { offered } = await withRuns();
    expect(await offered('run', '')).toEqual([
      'list\tlist runs, newest first',
      'show\tshow one run with its steps',
      expect.stringMatching(/^tail\t/),
      expect.stringMatching(/^why\t/),
      'cancel\tqueue the cancellation of an unfinished run',
    ]);
    expect(await offered('run', 'li')).toEqual(['list\tlist runs, newest first']);
  });

  it('offers the options that are not given yet, and those of the whole program', async () => {
    const { values } = await withRuns();
    const all = await values('run', 'list', '--');
    expect(all).toEqual(expect.arrayContaining(['--status', '--active', '--json', '--help']));
    expect(await values('run', 'list', '--active', '--')).not.toContain('--active');
    expect(await values('run', 'list', '--json', '--st')).toEqual(['--status']);
  });

  it('offers the values that an option or an argument allows', async () => {
    const { values } = await withRuns();
    const statuses = await values('run', 'list', '--status', 'waiting');
    expect(statuses).toEqual(['waiting_ci', 'waiting_approval', 'waiting_until']);
    expect(await values('run', 'list', '--status=fa')).toEqual(['--status=failed']);
    expect(await values('run', 'list', '--status', '=', 'fa')).toEqual(['failed']);
    expect(await values('run', 'list', '--status', '=')).toHaveLength(9);
    expect(await values('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  it('offers the ids that the database has, newest first, and only unfinished runs to cancel', async () => {
    const { offered, values } = await withRuns();
    expect(await offered('run', 'show', '')).toEqual([
      'run_two\tacme/shop#3 pr-review, running',
      'run_one\tacme/rocket#3 pr-review, failed',
    ]);
    expect(await values('run', 'cancel', '')).toEqual(['run_two']);
    expect(await values('run', 'list', '--repo', 'acme/s')).toEqual(['acme/shop']);
  });

  it('reads the database that the command line names', async () => {
    const { folder, values } = await withRuns();
    const elsewhere = `sqlite:${join(folder, 'elsewhere.db')}`;
    await seed(join(folder, 'elsewhere.db'), (storage) =>
      storage.transaction(({ runs }) => runs.insert(runState('run_else'))),
    );
    expect(await values('run', 'show', '--database', elsewhere, '')).toEqual(['run_else']);
  });

  it('offers nothing, and no error, where there is no database or no such command', async () => {
    const { stdout, stderr } = await countersign(['completion', 'fish', '--', 'run', 'show', ''], {
      cwd: newFolder(),
    });
    expect([stdout, stderr]).toEqual(['', '']);
    const { values } = await withRuns();
    expect(await values('rn', 'li')).toEqual([]);
  });

  it('offers chains and skills of the working folder, and says where a file can stand', async () => {
    const { values } = await withRuns();
    expect(await values('chain', 'show', 'pr-')).toEqual(['pr-review']);
    expect(await values('skill', 'show', 'docs')).toEqual(['docs-review']);
    expect(await values('chain', 'lint', '')).toEqual([':files']);
    expect(await values('doctor', '--settings', '')).toEqual([':files']);
    expect(await values('chain', 'lint', '--')).not.toContain(':files');
  });

  it('knows ids only of commands that there are', async () => {
    const program = await buildProgram(async () => {});
    const names = program.commands.flatMap((noun) =>
      noun.commands.map((verb) => `${noun.name()} ${verb.name()}`),
    );
    expect(names).toEqual(expect.arrayContaining(Object.keys(ARGUMENTS)));
  });

  it('prints the script of a shell, with the program that printed it', async () => {
    const { stdout } = await countersign(['completion', 'zsh']);
    expect(stdout).toMatch(/^#compdef countersign\n/);
    expect(stdout).toMatch(/'.*\/scripts\/countersign' "\$@"/);
    expect(completionScript('fish', ["/it's/node"])).toContain("'/it\\'s/node' $argv");
    expect(completionScript('bash', ["/it's/node"])).toContain(`'/it'\\''s/node' "$@"`);
  });

  it('refuses another shell', async () => {
    expect(await countersign(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' });
  });
});

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true'], { stdio: 'ignore' }).status === 0;

/** The script of a shell as a file. */
async function scriptOf(shell: string) {
  const { folder, env } = await withRuns();
  const { stdout } = await countersign(['completion', shell], { env });
  const file = join(folder, `completion.${shell}`);
  writeFileSync(file, stdout);
  return { folder, file, env: { ...env, HOME: folder } };
}

/** Each line that a person types, with its tab key; the shell prints what it then executes. */
async function typedIn(shell: 'bash' | 'zsh', ...lines: string[]): Promise<string[]> {
  const { folder, file, env } = await scriptOf(shell);
  const start = { bash: 'bash --norc --noprofile -i', zsh: 'zsh -f -i' }[shell];
  const prepare = { bash: '', zsh: 'autoload -U compinit; compinit -u -D; ' }[shell];
  const commands = [`${prepare}source ${file}; countersign() { echo "exe"cutes: "$@"; }`, ...lines, 'exit'];
  const { shown } = await inTerminal(start, {
    columns: 200,
    cwd: folder,
    env: { ...env, PS1: 'ready: ' },
    typed: commands.map((command) => ({ after: 'ready: ', type: `${command}\r` })),
  });
  return [...shown.matchAll(/^executes: (.*?) *\r?$/gm)].map(([, words = '']) => words);
}

describe.skipIf(WITHOUT_TERMINAL)('the script of a shell', () => {
  const lines = [
    'countersign run ta\t',
    'countersign run list --stat\tfai\t',
    'countersign run show run_t\t',
  ];
  const executed = ['run tail', 'run list --status failed', 'run show run_two'];

  it('completes a command, an option with its value, and an id in bash', async () => {
    expect(await typedIn('bash', ...lines)).toEqual(executed);
  });

  it('completes the value after = in bash, and files where they can stand', async () => {
    expect(
      await typedIn('bash', 'countersign run list --status=fai\t', 'countersign chain lint countersign.d\t'),
    ).toEqual(['run list --status=failed', 'chain lint countersign.db']);
  });

  it.skipIf(!isInstalled('zsh'))('completes the same in zsh, if that is installed', async () => {
    expect(await typedIn('zsh', ...lines, 'countersign chain lint countersign.d\t')).toEqual([
      ...executed,
      'chain lint countersign.db',
    ]);
  });
});

it.skipIf(!isInstalled('fish'))('the script completes the same in fish, if that is installed', async () => {
  const { folder, file, env } = await scriptOf('fish');
  const complete = (line: string) =>
    execFileSync('fish', ['--no-config', '-c', `source ${file}; complete -C ${JSON.stringify(line)}`], {
      cwd: folder,
      env: { ...bareEnvironment(), ...env },
      encoding: 'utf8',
    }).trimEnd();
  expect(complete('countersign run ta')).toMatch(/^tail\tshow a run live/);
  expect(complete('countersign run list --status fai')).toBe('failed');
  expect(complete('countersign run show run_t')).toBe('run_two\tacme/shop#3 pr-review, running');
  expect(complete('countersign chain lint countersign.d')).toMatch(/^countersign\.db/);
});
