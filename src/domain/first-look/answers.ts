import type { SettingsFile } from '../chain/settings.ts';
import { teamSchema, userSchema } from '../policy/countersign-rules.ts';
import type { Owners } from './code-owners.ts';

export type MergeMethod = NonNullable<NonNullable<SettingsFile['merge']>['method']>;
/** In the order in which one is proposed: that of the default settings first. */
export const MERGE_METHODS: readonly MergeMethod[] = ['squash', 'merge', 'rebase'];

/** What the four questions ask. */
export interface Answers {
  who: Who;
  /** How many people must countersign. */
  count: number;
  method: MergeMethod;
  /** Names of checks that must be there and pass. */
  checks: string[];
}

export type Who = { kind: 'maintainers' } | ({ kind: 'named' } & Owners);

const MAX_COUNT = 10;
const MAX_NAMED = 50;

/** @returns `undefined` for what is neither `maintainers` nor a list of teams and logins */
export function parseWho(text: string): Who | undefined {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length === 1 && names[0] === 'maintainers') return { kind: 'maintainers' };
  if (names.length === 0 || names.length > MAX_NAMED) return undefined;
  const who = { kind: 'named' as const, teams: [] as string[], users: [] as string[] };
  for (const given of new Set(names)) {
    const name = given.replace(/^@/, '');
    if (teamSchema.safeParse(name).success) who.teams.push(name);
    else if (userSchema.safeParse(name).success) who.users.push(name);
    else return undefined;
  }
  return who;
}

export function parseCount(text: string): number | undefined {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= MAX_COUNT ? count : undefined;
}

/** @returns `undefined` for a method that does not exist, or that the repository does not allow */
export function parseMethod(
  text: string,
  allowed: readonly MergeMethod[] = MERGE_METHODS,
): MergeMethod | undefined {
  return allowed.find((method) => method === text);
}

/**
 * `none`, or numbers of the checks that can be chosen, from 1. Names are not accepted: they can contain any separator.
 * @returns `undefined` for anything else
 */
export function parseChecks(text: string, from: readonly string[]): string[] | undefined {
  if (text === 'none') return [];
  const chosen = text
    .split(/[\s,]+/)
    .map((number) => (/^\d{1,3}$/.test(number) ? from[Number(number) - 1] : undefined));
  return chosen.every((name) => name !== undefined) ? [...new Set(chosen)] : undefined;
}

/** Whether fewer people are named than must countersign: then nothing could ever be merged. */
export function tooFewNamed({ who, count }: Pick<Answers, 'who' | 'count'>): boolean {
  return who.kind === 'named' && who.teams.length === 0 && who.users.length < count;
}
