import type { Log } from '../../src/core/log.ts';

/** A log that keeps its warnings and errors, as `message` with the fields that came with it. */
export function keepingLog(): { log: Log; lines: { message: string; fields: object }[] } {
  const lines: { message: string; fields: object }[] = [];
  const keep: Log['warn'] = (fields, message) => void lines.push({ message, fields });
  return { log: { debug() {}, info() {}, warn: keep, error: keep }, lines };
}
