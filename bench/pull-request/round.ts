import { routeOf } from '../../test/support/github/route.ts';
import { type Harness, REPO } from '../../test/support/harness.ts';

/** One pull request with one file, from opened to merged. */
export interface Round {
  /** From GitHub's first delivery about the opened pull request to the check run. */
  toCheckRun: Span;
  /** From the answer that first shows the reaction to the merge on GitHub. */
  toMerge: Span;
  /** The number of answers per route (method and path template). */
  requests: RouteCount[];
}

/** The milliseconds between two moments. */
export interface Span {
  /** The total, as with a real clock. */
  ms: number;
  /** The part that the app waited on purpose, for which the test's clock was moved. */
  waitedMs: number;
}

/** A moment on the machine's clock and the test's clock, in milliseconds. */
interface Moment {
  machine: number;
  clock: number;
}

export interface RouteCount {
  route: string;
  /** Answers that count towards the hourly limit. */
  counted: number;
  /** Answers 304, which do not count. */
  unchanged: number;
}

/** The most requests from opened to merged, for an app without caches. */
export const MAX_REQUESTS = 15;

const CHECK_RUN = 'POST /repos/{owner}/{repo}/check-runs';
const GRAPHQL = 'POST /graphql';
const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{number}/merge';

/**
 * Plays a round with the real app and the shipped chain: a pull request opens, a check of another app passes,
 * a maintainer reacts as soon as the approval comment appears. The clock is a test's, so nothing waits for
 * the next poll; intended waits within a span count as if they had passed.
 * @param name of the branch and the changed file, unique per round
 */
export async function playRound(harness: Harness, name: string): Promise<Round> {
  const { github } = harness;
  // Requests at the app's start do not belong to the pull request.
  await harness.settle();
  const before = github.requests.length;
  const moments = watch(harness);

  github.holdDeliveries();
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: name,
    title: `Add ${name}`,
    files: { [`src/${name}.ts`]: `export const name: string = '${name}';\n` },
  });
  const opened = moment(harness);
  await github.releaseDeliveries();
  await harness.settle();
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await harness.settle();

  const asked = github.comments(REPO, number).find(({ body }) => body.includes('countersign:approval'));
  if (!asked) throw new Error(`#${number} was not put to the maintainers`);
  await github.react(REPO, asked.id, 'mia', 'rocket');
  await harness.advance(10_000);

  const { checkRun, seen, merged } = moments();
  if (!github.pullRequest(REPO, number).merged) throw new Error(`#${number} was not merged`);
  return {
    toCheckRun: between(opened, checkRun),
    toMerge: between(seen, merged),
    requests: count(github.requests.slice(before)),
  };
}

/** Records when the first check run was created, the reaction was first visible, and the merge happened. */
function watch(harness: Harness): () => Record<'checkRun' | 'seen' | 'merged', Moment> {
  const at: Partial<Record<'checkRun' | 'seen' | 'merged', Moment>> = {};
  harness.github.onRequest((request) => {
    const now = moment(harness);
    const route = routeOf(request);
    if (route === CHECK_RUN || request.mutates?.includes('createCheckRun')) at.checkRun ??= now;
    if (route === GRAPHQL && JSON.stringify(request.responseBody).includes('"ROCKET"')) at.seen ??= now;
    if (route === MERGE) at.merged ??= now;
  });
  return () => {
    const { checkRun, seen, merged } = at;
    if (checkRun === undefined || seen === undefined || merged === undefined) {
      throw new Error(`something did not happen: ${JSON.stringify(at)}`);
    }
    return { checkRun, seen, merged };
  };
}

function moment({ clock }: Harness): Moment {
  return { machine: performance.now(), clock: clock.now().getTime() };
}

function between(from: Moment, to: Moment): Span {
  const waitedMs = to.clock - from.clock;
  return { ms: to.machine - from.machine + waitedMs, waitedMs };
}

function count(requests: readonly { method: string; path: string; status: number }[]): RouteCount[] {
  const byRoute = new Map<string, RouteCount>();
  for (const request of requests) {
    const route = routeOf(request);
    const line = byRoute.get(route) ?? { route, counted: 0, unchanged: 0 };
    if (request.status === 304) line.unchanged += 1;
    else line.counted += 1;
    byRoute.set(route, line);
  }
  return [...byRoute.values()];
}

export function totalOf(requests: readonly RouteCount[]): { counted: number; unchanged: number } {
  return {
    counted: requests.reduce((sum, line) => sum + line.counted, 0),
    unchanged: requests.reduce((sum, line) => sum + line.unchanged, 0),
  };
}
