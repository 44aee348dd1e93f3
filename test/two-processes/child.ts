import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach } from 'vitest';
import { bareEnvironment } from '../support/app-environment.ts';

export interface Child {
  pid: number;
  /** Its output so far, to standard output or standard error. */
  readonly lines: string[];
  /** Waits for a line. @throws Error with its output if it ends before. */
  line(pattern: RegExp): Promise<string>;
  write(line: string): void;
  signal(name: NodeJS.Signals): void;
  /** The exit code; `null` if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Starts scripts of this folder as processes; what is left of them is killed after each test. */
export function useChildren(): (script: string, args?: string[], env?: Record<string, string>) => Child {
  const started: Child[] = [];
  afterEach(async () => {
    for (const child of started.splice(0)) {
      child.signal('SIGKILL');
      await child.ended;
    }
  });
  return (script, args = [], env = {}) => {
    const child = start(script, args, env);
    started.push(child);
    return child;
  };
}

function start(script: string, args: string[], env: Record<string, string>): Child {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, script), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...bareEnvironment(), ...env },
  });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<number | null>((settle) => child.once('close', settle));
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    write: (line) => child.stdin.write(`${line}\n`),
    signal: (name) => void child.kill(name),
    line(pattern) {
      return new Promise((settle, reject) => {
        const look = () => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined) return;
          listeners.delete(look);
          settle(found);
        };
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`it ended without saying ${pattern}:\n${lines.join('\n')}`)));
      });
    },
  };
}
