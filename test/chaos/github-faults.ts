import type { Asked, Fault } from '../support/github/faults.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';
import { counter, draw, drawOne } from './draw.ts';

/** What goes wrong with a call to GitHub, with its weight. */
const WEIGHTS = {
  'status 500': 2,
  'status 502': 3,
  'status 503': 2,
  'reset before': 2,
  'reset after': 3,
  'broken off': 2,
  'reset, done late': 2,
  'no answer': 1,
  'secondary limit': 1,
  'status 429': 1,
  'cut JSON': 2,
} as const;
type Trouble = keyof typeof WEIGHTS | 'not there yet';

/** How often GitHub does not yet know what its webhook has just reported. */
const NOT_THERE_YET = 0.3;

const HOW: Readonly<Record<Trouble, Fault>> = {
  'status 500': { status: 500, body: { message: 'Server Error' } },
  'status 502': { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>502 Bad Gateway</h1>' },
  'status 503': { status: 503, body: { message: 'Service Unavailable' } },
  'reset before': 'reset',
  'reset after': { after: 'reset' },
  'broken off': { afterFields: 1 },
  'reset, done late': { lateMs: 6_000 },
  'no answer': 'hang',
  'secondary limit': {
    status: 403,
    headers: { 'retry-after': '20' },
    body: {
      message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    },
  },
  'status 429': { status: 429, headers: { 'retry-after': '15' }, body: { message: 'Too many requests' } },
  'cut JSON': {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: '{"id": 1, "number": 7, "node',
  },
  'not there yet': { status: 404, body: { message: 'Not Found' } },
};

export interface GitHubFaults {
  /** Faults so far, by kind. */
  counts(): Record<string, number>;
  clear(): void;
}

/**
 * Makes a share of the calls to GitHub fail, until it is cleared.
 * @param isYoung Whether a path is of something so new that GitHub's replicas may not know it yet.
 */
export function injectFaults(
  github: GitHubStandIn,
  { seed, rate, isYoung }: { seed: number; rate: number; isYoung: (path: string) => boolean },
): GitHubFaults {
  const calls = counter();
  const troubles = counter();
  let asked: object | undefined;
  let fate: Trouble | undefined;

  function fateOf(request: Asked): Trouble | undefined {
    // The stand-in asks once for each kind of fault; the draw is made once for each request.
    if (request === asked) return fate;
    asked = request;
    const { method, path } = request;
    const call = `${method} ${path}`;
    const nth = calls.next(call);
    fate = undefined;
    if (draw(seed, 'fails', call, nth) < rate) {
      fate = drawOne(draw(seed, 'how', call, nth), WEIGHTS);
      if (fate === 'reset, done late' && method === 'GET') fate = 'reset before';
      // Only a mutation has parts.
      if (fate === 'broken off' && !request.mutates) fate = 'reset before';
      // The stand-in does not carry out what it answers like this; GitHub never answers 200 to a write that it has not carried
      // out.
      if (fate === 'cut JSON' && method !== 'GET') fate = 'reset after';
    } else if (method === 'GET' && isYoung(path) && draw(seed, 'lags', call, nth) < NOT_THERE_YET) {
      fate = 'not there yet';
    }
    if (fate) troubles.next(fate);
    return fate;
  }

  const ends = (Object.keys(HOW) as Trouble[]).map((trouble) =>
    github.fail((request) => fateOf(request) === trouble, HOW[trouble]),
  );
  return {
    counts: troubles.counts,
    clear() {
      for (const end of ends) end();
    },
  };
}
