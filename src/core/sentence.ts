import { z } from 'zod';
import { notAllowed } from './diagnostic.ts';
import { memberOf } from './mapping.ts';
import { redact } from './redact/redact.ts';

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
};

/**
 * Makes zod's messages sentences of ours: what is wrong with a value and what is allowed.
 * @param nameOf the subject of the sentence for the value at a path
 */
export function sentenceBy(nameOf: (path: readonly PropertyKey[]) => string) {
  return (issue: z.core.$ZodRawIssue) => sentence(issue, nameOf(issue.path ?? []));
}

function sentence(issue: z.core.$ZodRawIssue, name: string): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return `${name} is missing`;
      return `${name} must be ${KINDS[issue.expected] ?? issue.expected}, not ${shown(issue.input)}`;
    case 'invalid_value': {
      if (issue.input === undefined) return `${name} is missing`;
      const allowed = issue.values.map(String);
      // Only strings: a mapping can have a "toString" of its own.
      const word = typeof issue.input === 'string' ? issue.input : '';
      return notAllowed(`${name} cannot be ${shown(issue.input)}`, allowed, word);
    }
    case 'invalid_union': {
      if (!issue.discriminator || !Array.isArray(issue.options)) return undefined;
      const given = memberOf(issue.input, issue.discriminator);
      if (given === undefined) return `${name} is missing`;
      const word = typeof given === 'string' ? given : '';
      return notAllowed(`${name} cannot be ${shown(given)}`, issue.options.map(String), word);
    }
    case 'unrecognized_keys': {
      const allowed = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
      const meant = issue.inst instanceof z.ZodObject ? issue.inst.meta()?.elsewhere : undefined;
      return issue.keys
        .map((key) => memberOf(meant, key) ?? notAllowed(`unknown key "${key}"`, allowed, key))
        .join('\n');
    }
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'too_big':
      return `${name} ${limit('at most', issue.maximum, issue.origin)}`;
    case 'too_small':
      return `${name} ${limit('at least', issue.minimum, issue.origin)}`;
    default:
      return undefined;
  }
}

function limit(words: string, bound: number | bigint, origin: string): string {
  if (origin === 'array') return `must have ${words} ${bound} ${bound === 1 ? 'entry' : 'entries'}`;
  if (origin === 'string') return `must have ${words} ${bound} ${bound === 1 ? 'character' : 'characters'}`;
  return `must be ${words} ${bound}`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a mapping';
  // Redacts before truncating: half a secret would not be recognised.
  const text = redact(JSON.stringify(value) ?? 'nothing');
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
