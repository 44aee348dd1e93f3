import { readSync, writeSync } from 'node:fs';
import type { Message, Reply } from '../protocol.ts';

/**
 * The connection to the app: synchronous standard input and output. So a program's functions are plain and
 * synchronous in both languages, and only the app's answer can continue it. Rejected: Asyncify, which is a
 * third larger and slower, permits one suspension at a time, and does not work for Python.
 */
const MB = 1 << 20;
const chunk = Buffer.alloc(MB);
let rest: Buffer = Buffer.alloc(0);

/** Reads one line. Exits if the app is gone. */
export function readLine(): string {
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

export function send(message: Message): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
}

let last = 0;

/**
 * Sends a call to the app, as JSON, and waits.
 * @returns the reply as JSON. `submit` never returns, because the app kills this process.
 */
export function ask(name: string, values: string): string {
  const given = JSON.parse(values);
  if (name === 'submit') {
    send({ kind: 'submit', value: given[0] });
    readLine();
  }
  last += 1;
  send({ kind: 'call', id: last, function: name, arguments: given });
  return JSON.stringify(JSON.parse(readLine()) satisfies Reply);
}

export const log = (text: string) => send({ kind: 'log', text });

/** An ending without message, position and details. */
export const ENDED = { message: '', at: null, details: '' };

export type Ending = Omit<Extract<Message, { kind: 'end' }>, 'kind'>;
