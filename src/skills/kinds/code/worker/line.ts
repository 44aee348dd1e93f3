import { readSync, writeSync } from 'node:fs';
import type { Message, Reply } from '../protocol.ts';

/**
 * The line to the app: standard input and output, read and written without giving the thread back. That makes the functions of a
 * template plain and synchronous in both languages, with nothing but the app's answer able to go on. Asyncify was rejected:
 * it is a third larger and slower, allows one suspension at a time, and Python has none of it.
 */
const MB = 1 << 20;
const chunk = Buffer.alloc(MB);
let rest: Buffer = Buffer.alloc(0);

/** One line. When the app is gone there is nothing more to do. */
export function hear(): string {
  const parts = [rest];
  for (;;) {
    const last = parts.at(-1) ?? rest;
    const end = last.indexOf(10);
    if (end >= 0) {
      rest = last.subarray(end + 1);
      return Buffer.concat([...parts.slice(0, -1), last.subarray(0, end)]).toString();
    }
    const length = readSync(0, chunk);
    if (length === 0) process.exit(0);
    parts.push(Buffer.from(chunk.subarray(0, length)));
  }
}

export function say(message: Message): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
}

let last = 0;

/**
 * Asks the app, in JSON, and waits.
 * @returns its reply as JSON; nothing comes back from `submit`, since the app ends this process.
 */
export function ask(name: string, values: string): string {
  const given = JSON.parse(values);
  if (name === 'submit') {
    say({ kind: 'submit', value: given[0] });
    hear();
  }
  last += 1;
  say({ kind: 'call', id: last, function: name, arguments: given });
  return JSON.stringify(JSON.parse(hear()) satisfies Reply);
}

export const log = (text: string) => say({ kind: 'log', text });

/** Nothing more to say of it. */
export const ENDED = { message: '', at: null, details: '' };

export type Ending = Omit<Extract<Message, { kind: 'end' }>, 'kind'>;
