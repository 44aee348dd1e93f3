import { createHash } from 'node:crypto';

/** What a weakness is, as the table of the bench groups it. A find counts if its rule is about the same kind. */
export const KINDS = [
  'prototype-pollution',
  'redos',
  'command-injection',
  'code-injection',
  'path-traversal',
  'xss',
  'ssrf',
  'sql-injection',
  'nosql-injection',
  'open-redirect',
  'deserialisation',
  'weak-random',
  'weak-crypto',
  'tls',
  'xxe',
  'log-injection',
  'timing',
  'access',
  'secret',
  'script-injection',
  'untrusted-checkout',
  'unpinned',
  'permissions',
  'secret-exposed',
  'environment-injection',
  'bot-check',
  'self-hosted',
  'cache-poisoning',
  'pipe-to-shell',
  'artifact',
  'container',
  'infrastructure',
  'destructive',
  'other',
] as const;
export type Kind = (typeof KINDS)[number];

export const GROUPS = [
  'javascript',
  'packages',
  'python',
  'go',
  'shell',
  'secrets',
  'workflows',
  'containers',
  'terraform',
  'kubernetes',
] as const;
export type Group = (typeof GROUPS)[number];

export interface CorpusFile {
  path: string;
  text: string;
}

/** A weakness with its corrected version. Look-alikes have only the twin. */
export interface CorpusCase {
  name: string;
  group: Group;
  kind: Kind;
  weak?: CorpusFile & {
    /** The lines of the weakness, from 1. */
    places: readonly number[];
  };
  fixed?: CorpusFile & {
    /** Where the correction is, in a file that has more than it. Without these lines, any finding in the file is an alarm. */
    places?: readonly number[];
  };
}

export const HALVES = ['tuning', 'control'] as const;
export type Half = (typeof HALVES)[number];

/**
 * The half of a case, by its name alone, so that it never changes. Rules are written with the tuning half in view; the
 * control half only says whether they hold for what their author did not look at.
 */
export function halfOf({ name }: Pick<CorpusCase, 'name'>): Half {
  return (createHash('sha256').update(name).digest()[0] ?? 0) % 2 === 0 ? 'tuning' : 'control';
}
