import { parseArgs } from 'node:util';
import BetterSqlite3 from 'better-sqlite3';
import { startHarness } from '../../test/support/harness.ts';
import {
  daysUntilAnswer,
  MEAN_DAYS_OPEN,
  MERGED,
  PEAK_SHARE,
  repositoriesBySize,
  seededRandom,
  shareOfHoursWithArrivals,
} from './arrivals.ts';

/**
 * A year of an organisation, from some of its hours. The app, its engine and SQLite are the real ones, GitHub is the stand-in with
 * GitHub's hourly limit, and time is a test's. These are played in full: the first hour after the installation; hours in which nothing
 * happens; the first and the second hour of a question that nobody answers, because the app polls for reactions, and one poll serves
 * all questions; and hours as busy as the busiest of the week. The year is computed from what an hour, the polls of an hour and a
 * pull request cost there.
 */
const { values: options } = parseArgs({
  options: {
    repositories: { type: 'string', default: '500' },
    'pull-requests': { type: 'string', default: '60000' },
    'quiet-hours': { type: 'string', default: '4' },
    'busy-hours': { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
  },
});
const REPOSITORIES = Number(options.repositories);
const A_YEAR = Number(options['pull-requests']);
const QUIET_HOURS = Number(options['quiet-hours']);
const BUSY_HOURS = Number(options['busy-hours']);
const HOUR = 3_600_000;
const HOURS_OF_YEAR = 8_760;
const DAYS_OF_YEAR = 365;
/** Until what is over is archived. */
const HOURS_UNTIL_ARCHIVED = 3;
/** GitHub's hourly limit for an installation with so many repositories: 5,000 and 50 for each beyond 20, and at most 12,500. */
const HOURLY = Math.min(12_500, 5_000 + 50 * Math.max(0, REPOSITORIES - 20));
const RETENTION_DAYS = 90;

interface Cost {
  /** That GitHub counts: not those answered 304. */
  requests: number;
  graphql: number;
  writes: number;
  cpuMs: number;
  rows: number;
  bytes: number;
  deliveries: number;
}

const random = seededRandom(Number(options.seed));
const harness = await startHarness({
  ids: 'real',
  rateLimit: HOURLY,
  pollMs: HOUR,
});
const { github, clock } = harness;
try {
  const names = Array.from({ length: REPOSITORIES }, (_, index) => `acme/service-${index}`);
  github.addOrganization('acme');
  for (const name of names)
    github.addRepository({
      owner: 'acme',
      name: name.slice('acme/'.length),
      files: { 'README.md': `# ${name}\n` },
      collaborators: { ada: 'write', mia: 'maintain' },
    });

  const installing = await costOf(async () => {
    github.installApp('acme');
    await harness.settle();
    await harness.advance(HOUR);
  });
  const quiet = await costOf(() => harness.advance(QUIET_HOURS * HOUR));

  const [repository = ''] = names;
  const waiting = await open(repository, 'waiting');
  await harness.settle();
  const young = await costOf(() => harness.advance(HOUR));
  const aged = await costOf(() => harness.advance(HOUR));
  await answer(repository, waiting, true);
  await harness.advance(HOURS_UNTIL_ARCHIVED * HOUR);
  const merged = github.merges.length;

  const count = Math.round(A_YEAR * PEAK_SHARE * BUSY_HOURS);
  const where = repositoriesBySize(REPOSITORIES, random);
  const busy = await costOf(async () => {
    await playBusyHours(
      Array.from({ length: count }, () => names[where()] ?? ''),
      BUSY_HOURS * HOUR,
    );
    await harness.advance(HOURS_UNTIL_ARCHIVED * HOUR);
  });

  const hour = shareOf(quiet, QUIET_HOURS);
  const pollsYoung = less(young, hour, 1);
  const pollsAged = less(aged, hour, 1);
  const pullRequest = shareOf(
    less(less(busy, hour, BUSY_HOURS + HOURS_UNTIL_ARCHIVED), pollsYoung, BUSY_HOURS),
    count,
  );
  const withYoung = HOURS_OF_YEAR * shareOfHoursWithArrivals(A_YEAR);
  const polls = plus(times(pollsYoung, withYoung), times(pollsAged, HOURS_OF_YEAR - withYoung));
  const year = plus(plus(times(hour, HOURS_OF_YEAR), polls), times(pullRequest, A_YEAR));
  const peak = plus(plus(hour, pollsYoung), times(pullRequest, A_YEAR * PEAK_SHARE));
  const kept = plus(
    times(hour, 24 * RETENTION_DAYS),
    times(pullRequest, (A_YEAR / DAYS_OF_YEAR) * RETENTION_DAYS),
  );

  console.log(
    `Simulated: ${REPOSITORIES} repositories; ${count} pull requests, of which ${github.merges.length - merged} were merged`,
  );
  console.table({
    'the first hour': shown(installing),
    [`${QUIET_HOURS} quiet hours`]: shown(quiet),
    'the first hour of a question': shown(young),
    'its second hour': shown(aged),
    [`${BUSY_HOURS} hours like the busiest, and ${HOURS_UNTIL_ARCHIVED} after them`]: shown(busy),
  });
  console.log(`\nScaled from that to ${A_YEAR} pull requests a year`);
  console.table({
    'a quiet hour': shown(hour),
    'polls of an hour with a new question': shown(pollsYoung),
    'polls of another hour': shown(pollsAged),
    'a pull request, without polls': shown(pullRequest),
    'the busiest hour of the week': shown(peak),
    'a year': shown(year),
    [`what is kept after ${RETENTION_DAYS} days`]: { rows: Math.round(kept.rows), 'disk MB': mb(kept.bytes) },
  });
  console.table({
    'of the hourly limit of GitHub, in the busiest hour (%)': percent(peak.requests, HOURLY),
    'of one core, in the busiest hour, with the stand-in (%)': percent(peak.cpuMs, HOUR),
    'of one core, over the year, with the stand-in (%)': percent(year.cpuMs, HOURS_OF_YEAR * HOUR),
    'hours of the year with a question of the last hour (%)': percent(withYoung, HOURS_OF_YEAR),
    'open questions, on average': Math.round((A_YEAR / DAYS_OF_YEAR) * MEAN_DAYS_OPEN),
  });
} finally {
  await harness.stop();
}

/** Pull requests at random times of the span. Answers that would come after it come at its end. */
async function playBusyHours(repositories: readonly string[], span: number): Promise<void> {
  const begun = clock.now().getTime();
  const acts: { at: number; act: () => Promise<void> }[] = repositories.map((repo, index) => ({
    at: random() * span,
    act: async () => {
      const number = await open(repo, `change-${index}`);
      const isMerged = random() < MERGED;
      const answered = clock.now().getTime() - begun + daysUntilAnswer(random) * 24 * HOUR;
      acts.push({ at: Math.min(answered, span), act: () => answer(repo, number, isMerged) });
    },
  }));
  while (acts.length > 0) {
    acts.sort((a, b) => a.at - b.at);
    const next = acts.shift();
    if (!next) break;
    const wait = begun + next.at - clock.now().getTime();
    if (wait > 0) await harness.advance(wait, 0);
    await next.act();
  }
}

/** With green CI. @returns its number */
async function open(repo: string, branch: string): Promise<number> {
  const { number, headSha } = await github.openPullRequest({
    repo,
    author: 'ada',
    branch,
    title: `Change ${branch}`,
    files: { [`src/${branch}.ts`]: `export const name = '${branch}';\n` },
  });
  await github.reportCheck(repo, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  return number;
}

async function answer(repo: string, number: number, isMerged: boolean): Promise<void> {
  await harness.settle();
  if (!isMerged) return github.closePullRequest(repo, number, 'mia');
  const asked = github.comments(repo, number).findLast(({ body }) => body.includes('countersign:approval'));
  if (!asked) throw new Error(`nobody was asked about ${repo}#${number}`);
  await github.react(repo, asked.id, 'mia', '+1');
}

async function costOf(work: () => Promise<void>): Promise<Cost> {
  const before = { ...stored(), from: github.requests.length, deliveries: github.deliveries.length };
  const cpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  const sent = github.requests.slice(before.from).filter(({ status }) => status !== 304);
  const after = stored();
  return {
    requests: sent.length,
    graphql: sent.filter(({ path }) => path === '/graphql').length,
    writes: sent.filter(({ method, path, mutates }) =>
      path === '/graphql' ? (mutates?.length ?? 0) > 0 : method !== 'GET' && !path.endsWith('/access_tokens'),
    ).length,
    cpuMs: (user + system) / 1_000,
    rows: after.rows - before.rows,
    bytes: after.bytes - before.bytes,
    deliveries: github.deliveries.length - before.deliveries,
  };
}

/** Rows of all tables, and bytes of pages in use. */
function stored(): { rows: number; bytes: number } {
  const db = new BetterSqlite3(harness.config.databaseUrl.slice('sqlite:'.length), { readonly: true });
  try {
    const tables = db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all();
    const rows = tables.map(
      (table) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0,
    );
    const bytes = db.prepare<[], number>('SELECT sum(pgsize) FROM dbstat').pluck().get() ?? 0;
    return { rows: rows.reduce((sum, one) => sum + one, 0), bytes };
  } finally {
    db.close();
  }
}

function combined(a: Cost, b: Cost, of: (one: number, other: number) => number): Cost {
  const keys = Object.keys(a) as (keyof Cost)[];
  return Object.fromEntries(keys.map((key) => [key, of(a[key], b[key])])) as unknown as Cost;
}

function plus(a: Cost, b: Cost): Cost {
  return combined(a, b, (one, other) => one + other);
}

function less(a: Cost, b: Cost, often: number): Cost {
  return combined(a, b, (one, other) => one - other * often);
}

function times(a: Cost, often: number): Cost {
  return combined(a, a, (one) => one * often);
}

function shareOf(a: Cost, count: number): Cost {
  return times(a, 1 / count);
}

function shown({ requests, graphql, writes, cpuMs, rows, bytes, deliveries }: Cost) {
  const short = (value: number) => Number(value.toFixed(Math.abs(value) < 100 ? 1 : 0));
  return {
    deliveries: short(deliveries),
    requests: short(requests),
    'of GraphQL': short(graphql),
    'that write': short(writes),
    'processor s': Number((cpuMs / 1_000).toFixed(cpuMs < 10_000 ? 2 : 0)),
    rows: short(rows),
    'disk MB': mb(bytes),
  };
}

function mb(bytes: number): number {
  return Number((bytes / 1e6).toFixed(Math.abs(bytes) < 1e7 ? 3 : 0));
}

function percent(part: number, of: number): number {
  return Number(((part / of) * 100).toFixed(1));
}
