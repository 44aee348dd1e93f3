import { notAllowed } from '../../core/diagnostic.ts';
import { noSuchMember } from '../expression/members.ts';
import type { Reference } from '../expression/reference.ts';
import { cognitiveStateSchema } from '../expression/state-schema.ts';
import type { Chain } from './chain.ts';
import type { TriggerSource } from './trigger-schema.ts';

const COMMON = ['kind', 'event', 'actor'] as const;
const WRITTEN = ['author', 'association', 'title'] as const;
const PULL_REQUEST = [
  ...COMMON,
  ...WRITTEN,
  'pr_number',
  'head',
  'base',
  'head_sha',
  'draft',
  'labels',
] as const;
/** The changed files are kept only in runs whose chain reads them, and only for what follows a head. */
const OF_HEAD = [...PULL_REQUEST, 'paths'] as const;
const ISSUE = [...COMMON, ...WRITTEN, 'issue_number', 'labels'] as const;

/** The members of `trigger` in expressions, besides the inputs of `/countersign fire`. */
export const TRIGGER_MEMBERS = {
  'pr.opened': OF_HEAD,
  'pr.updated': OF_HEAD,
  'pr.labeled': [...PULL_REQUEST, 'label'],
  'pr.review_submitted': [...PULL_REQUEST, 'review', 'reviewer'],
  'pr.merged': PULL_REQUEST,
  'pr.closed': PULL_REQUEST,
  'manual.fired': [...OF_HEAD, 'branch'],
  'issue.created': ISSUE,
  'issue.labeled': [...ISSUE, 'label'],
  'file.changed': [...COMMON, 'author', 'head_sha', 'branch', 'paths'],
  'ci.changed': [...COMMON, 'head_sha', 'branch', 'check', 'conclusion'],
  'release.published': [...COMMON, 'author', 'title', 'tag', 'prerelease'],
  'invocation.completed': [
    ...COMMON,
    'chain',
    'step',
    'run_id',
    'outcome_kind',
    'verdict',
    'passed',
    'summary',
    'pr_number',
    'head_sha',
    'base',
    'depth',
  ],
  'schedule.fired': [...COMMON, 'schedule', 'due_at', 'late', 'head_sha', 'branch'],
} as const satisfies Record<TriggerSource, readonly string[]>;

/** Whether something in the steps of the chain, or in these gates, may read the changed files of the pull request. */
export function mentionsPaths({ steps }: Pick<Chain, 'steps'>, gates: unknown = []): boolean {
  return /\btrigger\b[^}]*\bpaths\b/.test(JSON.stringify([steps, gates]));
}

/** What runs of composites have besides the members of the event that completed it. */
const COMPOSITE_MEMBERS = ['kind', 'composite', 'parts'] as const;
export type CompositeFacts = Record<(typeof COMPOSITE_MEMBERS)[number], Value>;

/** The members of `trigger` in the runs that one of the triggers starts. */
export interface TriggerOrigin {
  /** What can have happened, in words. */
  name: string;
  members: readonly string[];
  /** Triggers whose runs are about the same. */
  subjects: readonly TriggerSource[];
}

export function originOf(source: TriggerSource): TriggerOrigin {
  return { name: source, members: TRIGGER_MEMBERS[source], subjects: [source] };
}

/** The members of any of the parts, and of the pull request that they are about. */
export function originOfComposite(
  kind: string,
  events: readonly TriggerSource[],
  isAboutPullRequest: boolean,
): TriggerOrigin {
  const members = [
    ...COMPOSITE_MEMBERS,
    ...events.flatMap((event): readonly string[] => TRIGGER_MEMBERS[event]),
    ...(isAboutPullRequest ? PULL_REQUEST : []),
  ];
  const subjects = isAboutPullRequest ? (['pr.opened'] as const) : events;
  return { name: kind, members: [...new Set(members)], subjects };
}

type Value = string | number | boolean | null | string[];

/** What a run keeps of the event that started it: exactly the members that lint knows. */
export type TriggerFactsOf<E extends TriggerSource> = Record<(typeof TRIGGER_MEMBERS)[E][number], Value>;

/** The members of `repo` in expressions. */
const REPOSITORY_MEMBERS = ['full_name', 'owner', 'name', 'default_branch'] as const;

/** What begins the name of an input of `/countersign fire <chain> key=value`. */
const INPUT = /^input_/;

/**
 * Why no run of the chain has this member of `trigger`, `repo` or `state`, or `undefined` if runs can have it. Without
 * this diagnostic, a misspelled member would silently be missing in every run.
 * @param origins what can fire the chain; `undefined` if that is not known
 */
export function missingMember(
  { root, path }: Reference,
  origins: readonly TriggerOrigin[] | undefined,
): string | undefined {
  if (root === 'state') return noSuchMember('state', cognitiveStateSchema, path);
  const [member] = path;
  if (typeof member !== 'string') return undefined;
  if (root === 'repo') return unknown('the repository', REPOSITORY_MEMBERS, member);
  if (root !== 'trigger' || origins === undefined || INPUT.test(member)) return undefined;
  const members = new Set(origins.flatMap((origin) => origin.members));
  const owner = [...new Set(origins.map(({ name }) => name))].join(' or ');
  return unknown(owner, [...members], member);
}

function unknown(owner: string, members: readonly string[], member: string): string | undefined {
  return members.includes(member) ? undefined : notAllowed(`${owner} has no "${member}"`, members, member);
}
