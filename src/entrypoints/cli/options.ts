import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../core/duration.ts';
import { LOGIN_PATTERN, REPOSITORY_PATTERN } from '../../core/github-names.ts';
import { MAX_LISTED } from '../../messages/cli/cli.ts';

/*
 * Parsers of arguments. A rejected value ends the command with status 2 and one sentence, which commander
 * starts with the option's name.
 */

export function repository(text: string): string {
  if (!REPOSITORY_PATTERN.test(text)) {
    throw new InvalidArgumentError('A repository is written owner/name.');
  }
  return text;
}

export function pullRequest(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('It must be the number of a pull request.');
  return Number(text);
}

/** Format: `owner/name#7`. */
export function pullRequestOf(text: string): { repository: string; number: number } {
  const [, name = '', number = ''] = /^([^#]*)#([^#]*)$/.exec(text) ?? [];
  if (number === '') throw new InvalidArgumentError('A pull request is written owner/name#number.');
  return { repository: repository(name), number: pullRequest(number) };
}

export function limit(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_LISTED) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_LISTED}.`);
  }
  return count;
}

/** Format: `last:50`. */
export function newest(text: string): number {
  const count = Number(/^last:(\d{1,3})$/.exec(text)?.[1] ?? 0);
  if (count < 1 || count > MAX_PLAYED) {
    throw new InvalidArgumentError(`It is written last:<count>, with a count from 1 to ${MAX_PLAYED}.`);
  }
  return count;
}

/** Each costs about 15 requests of the 5,000 that a token has in an hour. */
const MAX_PLAYED = 200;

/** A login on GitHub. */
export function login(text: string): string {
  if (!LOGIN_PATTERN.test(text)) {
    throw new InvalidArgumentError('It must be somebody’s name on GitHub.');
  }
  return text;
}

export function commit(text: string): string {
  if (!/^[0-9a-f]{7,40}$/.test(text)) {
    throw new InvalidArgumentError('A commit is written with at least 7 of its hexadecimal digits.');
  }
  return text;
}

/** In milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('A length of time is written 90d, 12h or 30m.');
  return ms;
}

/** A duration before now, in milliseconds, or a point in time. */
export type Since = { agoMs: number } | { at: Date };

/**
 * Format: `30d`, a day such as `2026-03-01` (from midnight UTC), or a time such as `2026-03-01T09:00:00Z`.
 */
export function since(text: string): Since {
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return { agoMs };
  const at = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text)
    ? new Date(text)
    : undefined;
  if (at === undefined || Number.isNaN(at.getTime())) {
    throw new InvalidArgumentError('It is written 30d, 2026-03-01 or 2026-03-01T09:00:00Z.');
  }
  return { at };
}

const MAX_VALUE_LENGTH = 1_000;

/** Adds one `key=value` to the previous ones. Allows the same keys as `/countersign fire` in a comment. */
export function input(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (!/^[a-z][a-z0-9_-]{0,63}$/i.test(key)) {
    throw new InvalidArgumentError('An input is written key=value, its key with letters, digits, _ and -.');
  }
  if (Object.hasOwn(before, key)) throw new InvalidArgumentError(`The input ${key} is given twice.`);
  if (value.length > MAX_VALUE_LENGTH) {
    throw new InvalidArgumentError(`The input ${key} is longer than ${MAX_VALUE_LENGTH} characters.`);
  }
  return { ...before, [key]: value };
}

/** Adds one path to the previous ones. */
export function changedPath(text: string, before: readonly string[] = []): string[] {
  if (text === '') throw new InvalidArgumentError('A path is not empty.');
  return [...before, text];
}

export function seed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** The most examples that an optimized module shows its model. */
export function demos(text: string): number {
  if (!/^[1-8]$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 8.');
  return Number(text);
}
