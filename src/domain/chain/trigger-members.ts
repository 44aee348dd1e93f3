import { notAllowed } from '../../core/diagnostic.ts';
import { noSuchMember } from '../expression/members.ts';
import type { Reference } from '../expression/reference.ts';
import { cognitiveStateSchema } from '../expression/state-schema.ts';
import type { TriggerEvent } from './chain.ts';

const PULL_REQUEST = [
  'event',
  'actor',
  'author',
  'title',
  'pr_number',
  'head',
  'base',
  'head_sha',
  'draft',
  'labels',
] as const;
const ISSUE = ['event', 'actor', 'author', 'title', 'issue_number'] as const;
const PUSH = ['event', 'actor', 'author', 'head_sha', 'branch', 'paths'] as const;

/** The members of `trigger` in expressions, besides the inputs of `/countersign fire`. */
export const TRIGGER_MEMBERS = {
  'pr.opened': PULL_REQUEST,
  'pr.updated': PULL_REQUEST,
  'pr.merged': PULL_REQUEST,
  'pr.closed': PULL_REQUEST,
  'manual.fired': PULL_REQUEST,
  'issue.created': ISSUE,
  'file.changed': PUSH,
} as const satisfies Record<TriggerEvent, readonly string[]>;

type Value = string | number | boolean | null | string[];

/** What a run keeps of the event that started it: exactly the members that lint knows. */
export type TriggerFactsOf<E extends TriggerEvent> = Record<(typeof TRIGGER_MEMBERS)[E][number], Value>;

/** The members of `repo` in expressions. */
const REPOSITORY_MEMBERS = ['full_name', 'owner', 'name', 'default_branch'] as const;

/** What begins the name of an input of `/countersign fire <chain> key=value`. */
const INPUT = /^input_/;

/**
 * Why no run of the chain has this member of `trigger`, `repo` or `state`, or `undefined` if runs can have it. Without
 * this diagnostic, a misspelled member would silently be missing in every run.
 * @param event the chain's event; `undefined` if it is not valid
 */
export function missingMember(
  { root, path }: Reference,
  event: TriggerEvent | undefined,
): string | undefined {
  if (root === 'state') return noSuchMember('state', cognitiveStateSchema, path);
  const [member] = path;
  if (typeof member !== 'string') return undefined;
  if (root === 'repo') return unknown('the repository', REPOSITORY_MEMBERS, member);
  if (root !== 'trigger' || event === undefined || INPUT.test(member)) return undefined;
  return unknown(event, TRIGGER_MEMBERS[event], member);
}

function unknown(owner: string, members: readonly string[], member: string): string | undefined {
  return members.includes(member) ? undefined : notAllowed(`${owner} has no "${member}"`, members, member);
}
