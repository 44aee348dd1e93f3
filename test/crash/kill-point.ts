import { routeOf } from '../support/github/route.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';

/**
 * A moment at which the app dies: at the nth request of a route since it was started, either `before` GitHub carries
 * it out, or `after`, when GitHub has done what was asked and the answer has not left yet. Counted by route, since
 * requests of different routes that are under way together come in any order.
 */
export interface KillPoint {
  when: 'before' | 'after';
  route: string;
  nth: number;
}

export function nameOf({ when, route, nth }: KillPoint): string {
  return `${when} ${route}${nth === 1 ? '' : ` (${nth})`}`;
}

/** Every request of a run that nobody disturbed, as the two moments around each. */
export function pointsAround(routes: readonly string[]): KillPoint[] {
  const seen = new Map<string, number>();
  return routes.flatMap((route) => {
    const nth = (seen.get(route) ?? 0) + 1;
    seen.set(route, nth);
    return (['before', 'after'] as const).map((when) => ({ when, route, nth }));
  });
}

/**
 * Has the app killed at the point. The signal goes out from inside the matching, in the same turn in which the
 * stand-in carries the request out or not; the connection is cut in that turn as well, so no answer can be read.
 */
export function killAt(github: GitHubStandIn, { when, route, nth }: KillPoint, kill: () => void): void {
  let left = nth;
  github.fail(
    (request) => {
      if (routeOf(request) !== route || --left > 0) return false;
      kill();
      return true;
    },
    when === 'before' ? 'reset' : { after: 'reset' },
    1,
  );
}
