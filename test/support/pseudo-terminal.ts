import { spawn, spawnSync } from 'node:child_process';
import { bareEnvironment } from './app-environment.ts';

/** Why programs cannot run in a terminal here; `undefined` if they can. */
export const WITHOUT_TERMINAL =
  spawnSync('script', ['-qec', 'stty cols 70', '/dev/null'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'script of util-linux is missing, which gives a program a terminal';

interface Typed {
  /** What the program shows before a person answers. */
  after: string;
  type: string;
}

/**
 * A program in a terminal of its own, so that it finds one on its standard input, output and error.
 * @param command as for a shell
 */
export function inTerminal(
  command: string,
  {
    columns = 70,
    env = {},
    cwd,
    typed = [],
  }: { columns?: number; env?: Record<string, string>; cwd?: string; typed?: readonly Typed[] } = {},
): Promise<{ code: number | null; shown: string }> {
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 40; ${command}`, '/dev/null'], {
    env: { ...bareEnvironment(), TERM: 'xterm-256color', ...env },
    ...(cwd !== undefined && { cwd }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  let answeredAt = 0;
  const left = [...typed];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    for (let [next] = left; next && shown.includes(next.after, answeredAt); [next] = left) {
      answeredAt = shown.indexOf(next.after, answeredAt) + next.after.length;
      child.stdin.write(next.type);
      left.shift();
    }
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      child.stdin.end();
      resolve({ code, shown: shown.replaceAll('\r\n', '\n') });
    });
  });
}

/** A word of a command line for a shell. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
