import { createHash } from 'node:crypto';
import type { Finding } from './finding.ts';

/** Categories that analyzers use for the same cause as another one. */
const SAME_CAUSE: ReadonlyMap<string, string> = new Map([
  ['injection', 'security'],
  ['workflow', 'security'],
  ['style', 'correctness'],
]);

/** The family of causes that a category belongs to; mostly only itself. */
export function familyOf(category: string): string {
  return SAME_CAUSE.get(category) ?? category;
}

/**
 * Identifies a finding across rounds: file, rule and content of its line, but not the line's number. White
 * space is ignored, because a fix elsewhere often changes the indentation. For a model, the family of causes
 * replaces the rule: it calls the same problem `security` in one round and `injection` in the next.
 */
export function fingerprint({ file, rule, category, evidence, description }: Finding): string {
  const cause = rule.startsWith('model/') ? `model/${familyOf(category)}` : rule;
  return JSON.stringify([file, cause, (evidence ?? description).replaceAll(/\s+/g, '')]);
}

/** The fingerprint as a word for hidden markers. 80 bits: nobody can make a harmless finding that counts as a harmful one. */
export function fingerprintHash(finding: Finding): string {
  return shortHash(fingerprint(finding));
}

/** How many letters of the hash name a finding for people. A command may give more of them, or all. */
const ID_LETTERS = 8;

/** The name of a finding for people and their commands. The same line found twice by one rule has one name. */
export function findingId(finding: Finding): string {
  return fingerprintHash(finding).slice(0, ID_LETTERS);
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 20);
}
