import { createHash } from 'node:crypto';

/**
 * How a model refers to a line: its number and a short hash of its content, as in `12#a3f0`. Models miscount,
 * and the hash reveals it. It is not a protection against attackers and need not be: a line must be one that
 * the change adds in any case.
 */
export function anchorOf(line: number, text: string): string {
  return `${line}#${createHash('sha256').update(text).digest('hex').slice(0, 4)}`;
}
