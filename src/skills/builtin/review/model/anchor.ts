import { createHash } from 'node:crypto';

/**
 * How a model names a line: its number and a short hash of its content, as in `12#a3f0`. Models miscount; the hash shows it. It is
 * no protection against anybody, which it need not be: a line that is named must be one that the change adds in any case.
 */
export function anchorOf(line: number, text: string): string {
  return `${line}#${createHash('sha256').update(text).digest('hex').slice(0, 4)}`;
}
