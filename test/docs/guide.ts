import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a page, in order. */
export type Block =
  /** A newcomer types it. */
  | { kind: 'commands'; text: string }
  /** What the commands before it print, in part. */
  | { kind: 'printed'; text: string }
  /** A newcomer writes this file. */
  | { kind: 'file'; path: string; text: string }
  /** A newcomer adds these lines to the app's `.env`. */
  | { kind: 'settings'; text: string }
  /** What no test can do: it needs a browser, another machine or Docker. */
  | { kind: 'not_run'; text: string };

/**
 * The blocks of a guide. `sh` is run, `text` is what that printed, `console` is not run, `dotenv` is added to `.env`, and
 * any block with a path behind its language is a file.
 */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^( *)```(\w+)(?: (.+))?\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', path, indented = '']): Block => {
      const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
      if (path !== undefined) return { kind: 'file', path, text };
      if (language === 'sh') return { kind: 'commands', text };
      if (language === 'text') return { kind: 'printed', text };
      if (language === 'dotenv') return { kind: 'settings', text };
      if (language === 'console') return { kind: 'not_run', text };
      throw new Error(`A guide has a block of ${language} that is neither a file nor anything that is done.`);
    },
  );
}

export interface Newcomer {
  /** Their home, which has a checkout of Countersign at `countersign` and of a repository at `shop`. */
  home: string;
  /** The settings in the checkout's `.env`. */
  settings: Readonly<Record<string, string>>;
  /** The person's own token on GitHub. */
  token: string;
  /** The addresses in the guide, and what they are here. */
  addresses?: Readonly<Record<string, string>>;
}

export interface Done {
  code: number | null;
  /** What each block of commands printed, on both streams. */
  printed: string[];
  /** Everything, for the message of a test that fails. */
  all: string;
}

/** Begins what a block prints. No command prints this character. */
const MARK = '\u001e';

/** Prepares the home: both checkouts, and the commands that a newcomer has. */
export function settleIn({ home, settings }: Newcomer): void {
  for (const folder of ['bin', 'countersign', 'shop/.git'])
    mkdirSync(join(home, folder), { recursive: true });
  const lines = Object.entries(settings).map(([name, value]) => `${name}="${value.replaceAll('\n', '\\n')}"`);
  writeFileSync(join(home, 'countersign/.env'), `${lines.join('\n')}\n`);
  writeFileSync(
    join(home, 'shop/.git/config'),
    '[remote "origin"]\n\turl = https://github.com/acme/shop.git\n',
  );
  // As `npm --prefix ~/countersign run -s countersign --` does: the settings of the checkout, the folder of the caller.
  command(
    home,
    'countersign',
    `${process.execPath} --env-file="$HOME/countersign/.env" ${ROOT}src/cli.ts "$@"`,
  );
  command(home, 'gh', `${process.execPath} ${ROOT}test/docs/gh-process.ts "$@"`);
}

function command(home: string, name: string, line: string): void {
  writeFileSync(join(home, 'bin', name), `#!/bin/sh\nexec ${line}\n`, { mode: 0o755 });
}

/** Does what the guide says, in one shell, from top to bottom. Whatever the guide leaves running ends with it. */
export function follow(blocks: readonly Block[], newcomer: Newcomer): Promise<Done> {
  const { home, settings, token, addresses = {} } = newcomer;
  const here = (text: string) =>
    Object.entries(addresses).reduce((all, [there, local]) => all.replaceAll(there, local), text);
  const script = ['set -eu', 'cd "$HOME/shop"', ...blocks.map((block) => here(lineFor(block)))].join('\n');
  const shell = spawn('bash', ['-c', script], {
    cwd: home,
    detached: true,
    env: {
      PATH: `${join(home, 'bin')}:${process.env.PATH}`,
      HOME: home,
      GITHUB_API_URL: settings.GITHUB_API_URL ?? '',
      GH_TOKEN_OF_THE_NEWCOMER: token,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    },
  });
  let all = '';
  const hear = (bytes: Buffer) => {
    all += bytes.toString('utf8');
  };
  shell.stdout.on('data', hear);
  shell.stderr.on('data', hear);
  return new Promise((resolve, reject) => {
    shell.on('error', reject);
    shell.on('exit', (code) => {
      // A server that the guide starts in the background is of the shell's own group.
      if (shell.pid !== undefined) endGroup(shell.pid);
      shell.stdout.destroy();
      shell.stderr.destroy();
      resolve({ code, printed: all.split(MARK).slice(1), all: all.replaceAll(MARK, '') });
    });
  });
}

function lineFor(block: Block): string {
  switch (block.kind) {
    case 'commands':
      return `printf '${MARK}'\n${block.text}`;
    case 'file':
      return `mkdir -p "$(dirname ${quoted(block.path)})"\nprintf %s ${quoted(block.text)} > ${quoted(block.path)}`;
    case 'settings':
      return `printf %s ${quoted(block.text)} >> "$HOME/countersign/.env"`;
    case 'printed':
    case 'not_run':
      return '';
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The first of these lines that the output has not, in this order; `…` in one stands for anything. */
export function missingLine(printed: string, expected: string): string | undefined {
  const lines = linesOf(printed);
  let from = 0;
  for (const wanted of linesOf(expected)) {
    if (wanted === '' || wanted === '…') continue;
    const at = lines.findIndex((line, index) => index >= from && isLike(line, wanted.split('…')));
    if (at < 0) return wanted;
    from = at + 1;
  }
  return undefined;
}

/** Columns are as wide as their content, so white space counts once. */
const linesOf = (text: string): string[] =>
  text.split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '));

/** Whether the line consists of these parts, in this order, with anything between them. */
function isLike(line: string, parts: readonly string[]): boolean {
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return line === first;
  if (!line.startsWith(first) || !line.slice(first.length).endsWith(last)) return false;
  let from = first.length;
  return parts.slice(1, -1).every((part) => {
    const at = line.indexOf(part, from);
    from = at + part.length;
    return at >= 0 && from <= line.length - last.length;
  });
}
