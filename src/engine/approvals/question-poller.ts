import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Step } from '../../domain/chain/chain.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { changeOf, type PolledComment, type QuestionWatch } from '../../domain/policy/question-watch.ts';
import { pollInMs, recheckInMs } from '../../domain/run/question.ts';
import type { Run } from '../../domain/run/run.ts';
import { type GitHub, GitHubError, MAX_POLLED, SignInRefused } from '../../ports/github.ts';
import type { JobResult, JobRunner, NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage } from '../../ports/storage.ts';

/** The open questions of an installation, with when to poll each. */
export interface QuestionPoller {
  /** The question was rechecked and is watched from now on. Call after the result is stored. */
  watch(question: { id: string; askedAt: Date }, installationId: number): void;
  /** Reads the lists of these installations again: another process has polled their questions meanwhile. */
  forget(installationIds: readonly number[]): void;
  jobs: JobRunner<'questions'>;
}

/** A question as the poller remembers it. What GitHub showed of it is stored with the approval. */
interface Watched {
  id: string;
  askedAt: Date;
  /** When it must be polled at the latest, in ms since 1970. */
  dueAt: number;
  /** The change for which the last recheck was requested, and when. */
  woken: { change: string; at: number } | undefined;
}

interface Installation {
  questions: Map<string, Watched>;
  /** When to read the list from the database again, in ms since 1970. */
  reloadAt: number;
  /** How many comments one request asks for: fewer after GitHub could not answer. */
  most: number;
  mostUntil: number;
  /** GraphQL is not asked before then, in ms since 1970. */
  graphqlAt: number;
  failures: number;
}

/**
 * How often the list is read again, in milliseconds, in case a question was opened without this poller. The
 * job itself is renewed as often, by the recovery.
 */
const RELOAD_MS = 3_600_000;
/** The points of GraphQL's 5,000 an hour that polls may spend. With more questions, all intervals grow. */
const POINTS_AN_HOUR = 3_000;
/** GitHub counts a point for 100 connections, and a comment has one: its reactions. */
const COMMENTS_A_POINT = 100;
/** The shortest time between two turns of one installation, in milliseconds. */
const SHORTEST_MS = 1_000;

/** How many comments a request asks for after a failure, and for how long, in milliseconds. */
const FEWER = 100;
const FEWER_MS = 3_600_000;
/** How soon GraphQL is asked again after a failure, in milliseconds: doubled each time, up to the second. */
const RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 300_000;
/** How soon a server without GraphQL is asked again, in milliseconds. */
const ABSENT_RETRY_MS = 3_600_000;
/** The change of a question that is rechecked because GraphQL does not answer. */
const BY_REST = 'by REST';
/**
 * How many questions a turn rechecks by REST, younger and older than an hour, and how often, in milliseconds:
 * a failure of GraphQL causes no burst, and old questions alone do not use up the hourly limit of REST.
 */
const REST_RECHECKS = { young: 10, old: 1 };
const YOUNG_MS = 3_600_000;
const REST_TURN_MS = 3_000;

/**
 * One poller per installation, instead of one job per question. It asks GraphQL for many comments at once,
 * compares them with what the last recheck saw, and requests a recheck of those that differ. The recheck reads
 * everything again from REST and judges; the poller decides nothing. Where GraphQL does not answer, it
 * requests rechecks by time, as often as the questions were polled before there was a poller.
 */
export function createQuestionPoller(deps: {
  storage: Storage;
  github: GitHub;
  queue: Queue;
  isReview(step: Step): boolean;
  clock: Clock;
  log: Log;
}): QuestionPoller {
  const { storage, github, queue, clock, log } = deps;
  const installations = new Map<number, Installation>();

  function watch({ id, askedAt }: { id: string; askedAt: Date }, installationId: number): void {
    const known = installations.get(installationId);
    // Otherwise the first turn reads the list.
    if (!known || known.questions.has(id)) return;
    const dueAt = nextPoll(askedAt, clock.now().getTime(), 1);
    known.questions.set(id, { id, askedAt, dueAt, woken: undefined });
  }

  function forget(installationIds: readonly number[]): void {
    for (const id of installationIds) installations.delete(id);
  }

  async function turn(installationId: number): Promise<JobResult> {
    const installation = await loaded(installationId);
    const now = clock.now().getTime();
    const { questions } = installation;
    const stretch = stretchOf(questions.values(), now);
    if (now >= installation.graphqlAt) await pollByGraphql(installationId, installation, stretch);
    const { graphqlAt } = installation;
    if (now < graphqlAt) await recheckByRest(installationId, installation, now);
    if (questions.size === 0) return { kind: 'done' };
    const next = earliest(questions.values());
    const soonest = now < graphqlAt ? Math.min(graphqlAt, Math.max(next, now + REST_TURN_MS)) : next;
    return { kind: 'reschedule', at: new Date(Math.max(soonest, now + SHORTEST_MS)) };
  }

  async function loaded(installationId: number): Promise<Installation> {
    const now = clock.now().getTime();
    const known = installations.get(installationId);
    if (known && now < known.reloadAt) return known;
    const installation = known ?? {
      questions: new Map(),
      reloadAt: 0,
      most: MAX_POLLED,
      mostUntil: 0,
      graphqlAt: 0,
      failures: 0,
    };
    // Before the list is read, so that `watch` adds the questions that are asked meanwhile.
    installations.set(installationId, installation);
    const rows = await storage.read.approvals.watched(installationId);
    installation.reloadAt = now + RELOAD_MS;
    const added = rows.filter(({ id }) => !installation.questions.has(id));
    // Spread evenly over their interval: a start asks no more in a minute than any other minute.
    for (const [index, { id, askedAt }] of added.entries()) {
      const interval = nextPoll(askedAt, now, 1) - now;
      const dueAt = now + (interval * (index + 1)) / added.length;
      installation.questions.set(id, { id, askedAt, dueAt, woken: undefined });
    }
    return installation;
  }

  async function pollByGraphql(
    installationId: number,
    installation: Installation,
    stretch: number,
  ): Promise<void> {
    const now = clock.now().getTime();
    if (now >= installation.mostUntil) installation.most = MAX_POLLED;
    const due = dueNow(installation, now, stretch);
    if (due.length === 0) return;
    const rows = await stillOpen(installation, due);
    if (rows.length === 0) return;
    const shown = await readComments(installationId, installation, rows);
    if (!shown) return;
    const changed = rows.filter(({ watched, watch }, index) => {
      watched.dueAt = nextPoll(watched.askedAt, now, stretch);
      const change = changeOf(watch, shown[index]);
      return change !== '' && isNew(watched, change ?? 'not shown', now);
    });
    await requestRechecks(installationId, changed);
  }

  /** The most urgent ones, and with them those that must be polled soon, so that fewer requests are needed. */
  function dueNow({ questions, most }: Installation, now: number, stretch: number): Watched[] {
    const soon = [...questions.values()]
      .filter(({ askedAt, dueAt }) => dueAt - (nextPoll(askedAt, now, stretch) - now) / 2 <= now)
      .sort((a, b) => a.dueAt - b.dueAt)
      .slice(0, most);
    return soon.some(({ dueAt }) => dueAt <= now) ? soon : [];
  }

  /** Forgets those that were answered meanwhile. */
  async function stillOpen(
    { questions }: Installation,
    due: readonly Watched[],
  ): Promise<{ watched: Watched; watch: QuestionWatch; sessionId: string }[]> {
    const rows = await storage.read.approvals.stillWatched(due.map(({ id }) => id));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return due.flatMap((watched) => {
      const row = byId.get(watched.id);
      if (row) return [{ watched, watch: row.watch, sessionId: row.sessionId }];
      questions.delete(watched.id);
      return [];
    });
  }

  /** `undefined` if GitHub did not answer, or shows none of many: rechecking all of them would be a burst. */
  async function readComments(
    installationId: number,
    installation: Installation,
    rows: readonly { watch: QuestionWatch }[],
  ): Promise<(PolledComment | undefined)[] | undefined> {
    const reader = github.reader(installationId);
    try {
      const comments = await reader.polledComments(rows.map(({ watch }) => watch.node_id));
      const showsNone = comments.every((comment) => comment === undefined);
      if (showsNone && comments.length > REST_RECHECKS.young)
        throw new GitHubError('unavailable', 200, 'GitHub shows none of the comments');
      installation.failures = 0;
      return comments;
    } catch (error) {
      if (!(error instanceof GitHubError)) throw error;
      const now = clock.now().getTime();
      const isAbsent = error.kind === 'not_found' || error.kind === 'forbidden' || error.kind === 'invalid';
      installation.failures += 1;
      installation.most = FEWER;
      installation.mostUntil = now + FEWER_MS;
      const pause = isAbsent
        ? ABSENT_RETRY_MS
        : Math.min(RETRY_MS * 2 ** (installation.failures - 1), LONGEST_RETRY_MS);
      installation.graphqlAt = Math.max(now + pause, error.retryAt?.getTime() ?? 0);
      const fields = { installation: installationId, failures: installation.failures };
      // The rechecks report a refused sign-in.
      if (!(error instanceof SignInRefused))
        log.warn(
          { ...fields, err: messageOf(error) },
          'GitHub’s GraphQL does not answer the poll for answers',
        );
      return undefined;
    }
  }

  /** As often as a question that the poller cannot watch. A refused sign-in is then handled like any other. */
  async function recheckByRest(
    installationId: number,
    installation: Installation,
    now: number,
  ): Promise<void> {
    const overdue = [...installation.questions.values()]
      .filter((watched) => watched.dueAt <= now && isNew(watched, BY_REST, now, false))
      .sort((a, b) => a.dueAt - b.dueAt);
    const isYoung = ({ askedAt }: Watched) => now - askedAt.getTime() < YOUNG_MS;
    const due = [
      ...overdue.filter(isYoung).slice(0, REST_RECHECKS.young),
      ...overdue.filter((watched) => !isYoung(watched)).slice(0, REST_RECHECKS.old),
    ];
    if (due.length === 0) return;
    const rows = await stillOpen(installation, due);
    for (const { watched } of rows) {
      watched.woken = { change: BY_REST, at: now };
      watched.dueAt = now + recheckInMs(now - watched.askedAt.getTime());
    }
    await requestRechecks(installationId, rows);
  }

  /** Not again for the same change before a recheck is due by time: REST may disagree with GraphQL for good. */
  function isNew(watched: Watched, change: string, now: number, remember = true): boolean {
    const { woken, askedAt } = watched;
    const isSame = woken?.change === change && now - woken.at < recheckInMs(now - askedAt.getTime());
    if (isSame) return false;
    if (remember) watched.woken = { change, at: now };
    return true;
  }

  async function requestRechecks(
    installationId: number,
    questions: readonly { sessionId: string }[],
  ): Promise<void> {
    if (questions.length === 0) return;
    const jobs: NewJob[] = [];
    for (const { sessionId } of questions) {
      jobs.push({
        kind: (await isOfReview(sessionId)) ? 'review' : 'session',
        installationId,
        key: `session:${sessionId}`,
        payload: { sessionId, because: 'time' },
        coalesce: true,
        worth: 'first',
      });
    }
    await storage.transaction((tx) => queue.enqueue(tx, ...jobs));
  }

  /** Whether the step goes on with a review once it is answered, which needs a slot for reviews. */
  async function isOfReview(sessionId: string): Promise<boolean> {
    const found = await storage.read.runs.getSession(sessionId);
    const step = found?.state.run.definition.steps[found.invocation.stepIndex];
    return step !== undefined && deps.isReview(step);
  }

  return {
    watch,
    forget,
    jobs: {
      run: ({ installation_id }) => turn(installation_id),
      /** The app has no access, or the database fails. The poll goes on when that is over. */
      async onRetriesExhausted({ installation_id }, error) {
        log.error({ installation: installation_id, err: error }, 'polling the open questions failed');
        const again = new Date(clock.now().getTime() + RELOAD_MS);
        await storage.transaction((tx) => queue.enqueue(tx, questionsJob(installation_id, again)));
      },
    },
  };
}

/** The job of an installation. Several at the same time become one. */
export function questionsJob(installationId: number, runAt: Date): NewJob {
  return {
    kind: 'questions',
    installationId,
    key: `questions:${installationId}`,
    payload: { installation_id: installationId },
    runAt,
    coalesce: true,
  };
}

/** The poll of a question after its first recheck. */
export function firstPoll(
  { askedAt }: Pick<Approval, 'askedAt'>,
  { installationId }: Pick<Run, 'installationId'>,
  now: Date,
): NewJob {
  return questionsJob(installationId, new Date(nextPoll(askedAt, now.getTime(), 1)));
}

function nextPoll(askedAt: Date, now: number, stretch: number): number {
  return now + pollInMs(now - askedAt.getTime()) * stretch;
}

/** By how much all intervals grow so that the polls stay within their share of GraphQL's limit. */
function stretchOf(questions: Iterable<Watched>, now: number): number {
  let points = 0;
  for (const { askedAt } of questions)
    points += 3_600_000 / pollInMs(now - askedAt.getTime()) / COMMENTS_A_POINT;
  return Math.max(1, points / POINTS_AN_HOUR);
}

function earliest(questions: Iterable<Watched>): number {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { dueAt } of questions) earliest = Math.min(earliest, dueAt);
  return earliest;
}
