import { routeOf } from '../../test/support/github/route.ts';
import { type Harness, REPO } from '../../test/support/harness.ts';

/** One pull request of one file, from opened to merged. */
export interface Round {
  /** From GitHub beginning to send the deliveries of the opening to the check run being there. */
  toCheckRun: Span;
  /** From the answer that first shows the reaction to GitHub having carried out the merge call. */
  toMerge: Span;
  /** How often each route was answered, by method and path template. */
  requests: RouteCount[];
}

/** Milliseconds between two moments. */
export interface Span {
  /** All of them, as an app with the machine's clock would take them. */
  ms: number;
  /** Those of them that the app meant to wait: the test's clock was moved over them. */
  waitedMs: number;
}

/** A moment by the machine's clock and by the test's, in milliseconds. */
interface Moment {
  machine: number;
  clock: number;
}

export interface RouteCount {
  route: string;
  /** Answers that cost one of the hour's requests. */
  counted: number;
  /** Answers 304, which GitHub does not count. */
  unchanged: number;
}

/** What opening to merging may cost of the hour's requests, with an app that knows nothing yet. */
export const MAX_REQUESTS = 29;

const CHECK_RUN = 'POST /repos/{owner}/{repo}/check-runs';
const LOOK = 'GET /repos/{owner}/{repo}/issues/comments/{number}';
const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{number}/merge';

/**
 * Plays a round with the real app and the shipped chain: a pull request opens, one check of another app passes, a
 * maintainer reacts as soon as they are asked. The clock is a test's, so nobody waits for the next look; what the app
 * waits within a span counts as if it had passed.
 * @param name Names the branch and the changed file, so that rounds do not meet.
 */
export async function playRound(harness: Harness, name: string): Promise<Round> {
  const { github } = harness;
  // What an app looks for when it starts is no part of a pull request's way.
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

/** Notes when the first check run was made, the reaction was first shown and the merge was carried out. */
function watch(harness: Harness): () => Record<'checkRun' | 'seen' | 'merged', Moment> {
  const at: Partial<Record<'checkRun' | 'seen' | 'merged', Moment>> = {};
  harness.github.onRequest((request) => {
    const now = moment(harness);
    const route = routeOf(request);
    if (route === CHECK_RUN) at.checkRun ??= now;
    if (route === LOOK && JSON.stringify(request.responseBody).includes('"rocket":1')) at.seen ??= now;
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
