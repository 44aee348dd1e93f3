import type { Saying } from '../../domain/policy/approval.ts';
import { isAtLeast, type RepositoryRole } from '../../domain/policy/role.ts';

/** What people can ask the app for in a comment on a pull request, in the order of the help. */
export const VERBS = [
  'help',
  'status',
  'why',
  'review',
  'rerun',
  'ci',
  'approve',
  'reject',
  'accept',
  'withdraw',
  'forget',
  'cancel',
  'pause',
  'resume',
  'fire',
  'ask',
] as const;
export type Verb = (typeof VERBS)[number];

/**
 * One parsed command. None of them approves a merge: a merge requires a reaction, so that nobody approves one
 * by quoting a sentence. `approve` and `reject` are for steps that merge nothing.
 */
export type Command =
  | { verb: Exclude<Verb, 'review' | 'rerun' | 'fire' | 'ask' | 'accept' | 'withdraw' | 'forget' | Saying> }
  /** Without a step: the step that waits for an answer. */
  | { verb: Saying; step?: string }
  /** Without a path: all files. */
  | { verb: 'review'; path?: string }
  /** Without a step: all that failed. */
  | { verb: 'rerun'; step?: string }
  /** The name of a finding, or the beginning of its hash. */
  | { verb: 'accept'; finding: string; because: string }
  | { verb: 'withdraw'; finding: string }
  /** The name of a rule, such as `sql/drop-column`. */
  | { verb: 'forget'; rule: string }
  | { verb: 'fire'; chain: string; inputs: Record<string, string> }
  | { verb: 'ask'; question: string };

/** Which roles may issue a command. */
export interface Permission {
  /** The lowest role on the repository that may. */
  role: Extract<RepositoryRole, 'read' | 'write' | 'maintain'>;
  /** Whether the author of the pull request may, too, whatever their role. */
  author: boolean;
}

/**
 * Anybody who may countersign under the run's settings. That is judged when the command is read and again at
 * each poll.
 */
export const COUNTERSIGNERS = 'countersigners';

const ANYBODY: Permission = { role: 'read', author: true };
const WRITERS_AND_AUTHOR: Permission = { role: 'write', author: true };
/** Without the author: each question costs a model call, and there is no limit on questions. */
const WRITERS: Permission = { role: 'write', author: false };
/** Also for authors with write access: what it changes is that more is shown. */
const SHOWS_MORE: Permission = { role: 'write', author: false };
const MAINTAINERS: Permission = { role: 'maintain', author: false };

/**
 * The only table of permissions. Authors may repeat work on their own pull request. What stops others' work,
 * or runs a chain of choice, is for maintainers.
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
  accept: COUNTERSIGNERS,
  withdraw: COUNTERSIGNERS,
  forget: SHOWS_MORE,
  cancel: WRITERS_AND_AUTHOR,
  pause: MAINTAINERS,
  resume: MAINTAINERS,
  fire: MAINTAINERS,
  ask: WRITERS,
};

/** Whether the command changes something, and not only shows something. */
export function doesWork(verb: Verb): boolean {
  return PERMISSIONS[verb] !== ANYBODY;
}

/** The author of the command, as read from GitHub when it is executed. */
export interface Issuer {
  role: RepositoryRole;
  isAuthor: boolean;
}

/** Whether that person's role permits the command. */
export function mayIssue(verb: Verb, issuer: Issuer): boolean {
  const needed = PERMISSIONS[verb];
  if (needed === COUNTERSIGNERS) return true;
  return isAtLeast(issuer.role, needed.role) || (needed.author && issuer.isAuthor);
}
