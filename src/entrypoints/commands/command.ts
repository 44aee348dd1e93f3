import type { Saying } from '../../domain/policy/approval.ts';
import { isAtLeast, type RepositoryRole } from '../../domain/policy/role.ts';

/** What a person may ask the app for in a comment on a pull request; in the order the help shows them. */
export const VERBS = [
  'help',
  'status',
  'why',
  'review',
  'rerun',
  'ci',
  'approve',
  'reject',
  'cancel',
  'pause',
  'resume',
  'fire',
  'ask',
] as const;
export type Verb = (typeof VERBS)[number];

/**
 * One command as it was understood. None of them lets anything be merged: that is a reaction, so that nobody merges by
 * quoting a sentence. `approve` and `reject` are for steps that merge nothing.
 */
export type Command =
  | { verb: Exclude<Verb, 'rerun' | 'fire' | 'ask' | Saying> }
  /** Without a step: the one that waits for an answer. */
  | { verb: Saying; step?: string }
  /** Without a step: all that failed. */
  | { verb: 'rerun'; step?: string }
  | { verb: 'fire'; chain: string; inputs: Record<string, string> }
  | { verb: 'ask'; question: string };

/** Who may issue a command by their role. */
export interface Permission {
  /** The least role on the repository. */
  role: Extract<RepositoryRole, 'read' | 'write' | 'maintain'>;
  /** Whether the author of the pull request may too, whatever their role. */
  author: boolean;
}

/** Whoever may countersign under the settings of the run; that is judged with the question, and again at each look. */
export const COUNTERSIGNERS = 'countersigners';

const ANYBODY: Permission = { role: 'read', author: true };
const WRITERS_AND_AUTHOR: Permission = { role: 'write', author: true };
/** Not the author: a question costs what its model costs, and can be asked as often as one likes. */
const WRITERS: Permission = { role: 'write', author: false };
const MAINTAINERS: Permission = { role: 'maintain', author: false };

/**
 * The one table of who may do what. Authors may repeat work on their own pull request; what holds others up or spends
 * on chains of the repository's choosing is the maintainers'.
 */
export const PERMISSIONS: Readonly<Record<Verb, Permission | typeof COUNTERSIGNERS>> = {
  help: ANYBODY,
  status: ANYBODY,
  why: ANYBODY,
  review: WRITERS_AND_AUTHOR,
  rerun: WRITERS_AND_AUTHOR,
  ci: WRITERS_AND_AUTHOR,
  approve: COUNTERSIGNERS,
  reject: COUNTERSIGNERS,
  cancel: WRITERS_AND_AUTHOR,
  pause: MAINTAINERS,
  resume: MAINTAINERS,
  fire: MAINTAINERS,
  ask: WRITERS,
};

/** Whether the command does something, and does not only tell. */
export function doesWork(verb: Verb): boolean {
  return PERMISSIONS[verb] !== ANYBODY;
}

/** Who wrote the command, as read from GitHub when it is carried out. */
export interface Issuer {
  role: RepositoryRole;
  isAuthor: boolean;
}

/** Whether that person may issue this command, as far as their role says it. */
export function mayIssue(verb: Verb, issuer: Issuer): boolean {
  const needed = PERMISSIONS[verb];
  if (needed === COUNTERSIGNERS) return true;
  return isAtLeast(issuer.role, needed.role) || (needed.author && issuer.isAuthor);
}
