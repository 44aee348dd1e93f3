import { unreachable } from '../../src/core/errors.ts';
import type { Fault } from '../support/github/faults.ts';
import { routesOf } from '../support/github/route.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';

export type When = 'before' | 'after';

/** A moment in the life of a process, counted from its start, at which it dies. */
export type KillPoint = RequestPoint | WritePoint | { at: 'moment'; ms: number };

/**
 * At the nth request of a route, either `before` GitHub carries it out, or `after`, when GitHub has done so and the answer has
 * not left yet, or `while` GitHub works on it, which ends some seconds later, or `between` the first write of a mutation and the
 * others, which GitHub does not execute. Counted by route, because requests of different
 * routes that are under way together come in any order.
 */
export interface RequestPoint {
  at: 'request';
  when: When | 'while' | 'between';
  route: string;
  nth: number;
}

/** Before or after the nth durable write of a name is committed; of `*name`, the nth that writes this among others. */
export interface WritePoint {
  at: 'write';
  when: When;
  name: string;
  nth: number;
}

/** The point as the watched app reads and writes it: `before:runs.save+jobs.insert#1`. */
export function faultPoint({ when, name, nth }: Omit<WritePoint, 'at'>): string {
  return `${when}:${name}#${nth}`;
}

/** Whether the app is to die there: what a transaction writes beside the intended write depends on what else is due. */
export function isDeadly(
  deadly: string | undefined,
  { when, name, nth }: Omit<WritePoint, 'at'>,
  nthOf: (write: string) => number,
): boolean {
  if (deadly === undefined) return false;
  if (deadly === faultPoint({ when, name, nth })) return true;
  return name
    .split('+')
    .some((write) => deadly === faultPoint({ when, name: `*${write}`, nth: nthOf(write) }));
}

/** The points that a watched app reported. @throws Error for an invalid line. */
export function writesIn(lines: readonly string[]): WritePoint[] {
  return lines.map((line) => {
    const [, when, name, nth] = /^(before|after):(.+)#(\d+)$/.exec(line) ?? [];
    if ((when !== 'before' && when !== 'after') || name === undefined)
      throw new Error(`no fault point: ${line}`);
    return { at: 'write', when, name, nth: Number(nth) };
  });
}

export function nameOf(point: KillPoint): string {
  switch (point.at) {
    case 'request':
      return `${point.when} ${point.route}${point.nth === 1 ? '' : ` (${point.nth})`}`;
    case 'write':
      return faultPoint(point);
    case 'moment':
      return `${point.ms} ms after its start`;
    default:
      return unreachable(point);
  }
}

/** Of the ten that GitHub allows itself: long enough for the next life to have started. */
const AT_IT_MS = 4_000;

/** Every request of an undisturbed run, as the moments around each; requests that create something may also take a while. */
export function pointsAround(routes: readonly string[]): RequestPoint[] {
  const count = counter();
  return routes.flatMap((route) => {
    const nth = count(route);
    const moments: RequestPoint['when'][] = [
      'before',
      'after',
      ...(isCreate(route) ? ['while' as const] : []),
      ...(isMutation(route) ? ['between' as const] : []),
    ];
    return moments.map((when) => ({ at: 'request', when, route, nth }));
  });
}

function isCreate(route: string): boolean {
  return /^POST .*(\/(check-runs|comments)$| (createCheckRun|addComment)\b)/.test(route);
}

function isMutation(route: string): boolean {
  return /^POST \/graphql \w+ \w+/.test(route);
}

/** How often it was called with that name, this call included. */
export function counter(): (name: string) => number {
  const counts = new Map<string, number>();
  return (name) => {
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    return nth;
  };
}

const FAULTS: Readonly<Record<RequestPoint['when'], Fault>> = {
  before: 'reset',
  after: { after: 'reset' },
  while: { lateMs: AT_IT_MS },
  between: { afterFields: 1 },
};

/**
 * Has the app killed at the request. The signal goes out from inside the matching, in the same turn in which the stand-in carries
 * the request out or not. The connection is cut in that turn as well, so no answer can be read.
 * @returns a function that removes it.
 */
export function killAtRequest(
  github: GitHubStandIn,
  { when, route, nth }: RequestPoint,
  kill: () => void,
): () => void {
  let left = nth;
  return github.fail(
    (request) => {
      if (!routesOf(request).includes(route) || --left > 0) return false;
      kill();
      return true;
    },
    FAULTS[when],
    1,
  );
}
