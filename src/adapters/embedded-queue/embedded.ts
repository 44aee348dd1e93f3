import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { CountersignError, messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Job, type JobKind, type NewJob, REVIEW, worthOf } from '../../ports/jobs.ts';
import type { Queue, Slots, Worker } from '../../ports/queue.ts';
import type { JobRow, Storage, Tx } from '../../ports/storage.ts';
import type { WorkShare } from '../../ports/work-share.ts';
import { type AttemptOptions, attempt, type Disposition, handlerOf } from './attempt.ts';
import { isOfDeadProcess, isOfProcess, leaseToken, thisProcess } from './owner.ts';

/** The time for an aborted handler to end. A slower one keeps its lease until it expires. */
export const ABORT_GRACE_MS = 500;

export interface EmbeddedQueueOptions {
  storage: Storage;
  clock: Clock;
  log: Log;
  /** How many jobs run in parallel, reviews apart. */
  concurrency?: number;
  /** How many reviews run in parallel. Most of their time, they wait for GitHub, a model or the analyzers. */
  reviews?: number;
  /** How long a job stays with a process that does not renew its lease. */
  leaseMs?: number;
  /** After which time, at most, jobs of another process are noticed. */
  pollMs?: number;
  /** How often a job is attempted before its retries are exhausted. */
  maxAttempts?: number;
  /** From 0 up to 1, for the jitter of the backoff. */
  random?: () => number;
  /**
   * Whether no other process works on what this queue may claim. Then the leases of others are of the past, wherever
   * those processes ran, and their jobs need not wait for the end of the leases.
   */
  worksAlone?: boolean;
  /** What this process does of the work, beside other processes. Without it, everything. */
  share?: WorkShare;
}

/**
 * A queue in the database and in this process. It writes in turns: one short transaction that records ended
 * jobs, renews leases, inserts pending jobs and claims due ones. A busy queue thus needs one commit where
 * separate ones would need three.
 */
export function createEmbeddedQueue(options: EmbeddedQueueOptions): Queue {
  return new EmbeddedQueue(options);
}

/** How many pending jobs a turn inserts. Its transaction delays those of the webhooks. */
const MAX_NEW_JOBS = 128;

/** A job that this process holds. */
interface Work {
  row: JobRow;
  token: string;
  job: Job;
  /** When the lease must be renewed, in ms since 1970. */
  renewAt: number;
  abort: AbortController;
  /** The lease is lost, so the handler's result is ignored. */
  lost: boolean;
  /** A transaction of the handler has deleted it. */
  ended: boolean;
  over: Promise<void>;
}

class EmbeddedQueue implements Queue {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #concurrency: number;
  readonly #reviews: number;
  readonly #leaseMs: number;
  readonly #pollMs: number;
  readonly #attempt: AttemptOptions;
  readonly #worksAlone: boolean;
  readonly #share: WorkShare | undefined;
  readonly #owner = thisProcess();

  #state: 'new' | 'working' | 'stopping' | 'stopped' = 'new';
  #worker: Worker | undefined;
  readonly #underWay = new Set<Work>();
  /** Results of handlers that no transaction has recorded yet. */
  #dispositions: { work: Work; disposition: Disposition }[] = [];
  /** The jobs that transactions insert before they commit. */
  readonly #enqueued = new WeakMap<Tx, NewJob[]>();
  #waitingForIdle: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #deadReleased = false;

  /** Jobs that a transaction has claimed and that begin when it commits. */
  readonly #claiming = new Set<JobRow>();
  readonly #claimed = new WeakSet<Tx>();
  /** When the next waiting job is due, as far as is known; in ms since 1970. */
  #nextDue = 0;
  /** Whether something may have been recorded that has no job yet. */
  #lookForNew = true;
  #leasesEndedAt = Number.NEGATIVE_INFINITY;

  /** Whether there may be due jobs that are not claimed, apart from those of blocked keys. */
  #backlog = true;
  /** Keys of jobs that were enqueued while another job of the key ran. */
  readonly #blocked = new Set<string>();
  /** Whether the next turn reads what another process may have written. */
  #polls = true;

  #timer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #turning: Promise<void> | undefined;
  #woken = false;
  /** Enters the context in which the queue was created. */
  readonly #outside = AsyncLocalStorage.snapshot();
  /**
   * Bound to the context in which the queue was created: `enqueue` runs inside a transaction, and jobs must
   * not inherit its context.
   */
  readonly #startTurning = AsyncLocalStorage.bind(() => {
    if (this.#worker) this.#turning ??= this.#turnWhileWoken(this.#worker);
  });

  constructor(options: EmbeddedQueueOptions) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#concurrency = options.concurrency ?? 16;
    this.#reviews = options.reviews ?? 16;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#pollMs = options.pollMs ?? 1_000;
    this.#worksAlone = options.worksAlone ?? false;
    this.#share = options.share;
    const { clock, log, maxAttempts = 8, random = Math.random } = options;
    this.#attempt = { clock, log, maxAttempts, random };
  }

  async enqueue(tx: Tx, ...jobs: NewJob[]): Promise<void> {
    const enqueued = this.#enqueued.get(tx) ?? [];
    if (enqueued.length === 0 && jobs.length > 0) {
      this.#enqueued.set(tx, enqueued);
      tx.beforeCommit(async () => {
        const left = await this.#insert(tx, enqueued.splice(0), { takes: true });
        if (left) tx.beforeCommit(() => this.#claimWithin(tx));
      });
    }
    enqueued.push(...jobs);
  }

  /**
   * Claims in a transaction that has enqueued due jobs, or has ended one: a turn of its own would wait for the
   * disk again.
   */
  async #claimWithin(tx: Tx): Promise<void> {
    const worker = this.#worker;
    const { others, reviews } = this.#free();
    if (others === 0 || reviews === 0) this.#backlog = true;
    if (!worker || others + reviews === 0 || this.#claimed.has(tx)) return;
    this.#claimed.add(tx);
    const now = this.#clock.now();
    const token = leaseToken(this.#owner);
    const leaseUntil = new Date(now.getTime() + this.#leaseMs);
    const rows = await this.#claim(tx, now, leaseUntil, token, others, { reviews, endsLeases: false });
    const claimed = rows.filter(isReview).length;
    const mayLeaveSome =
      (reviews > 0 && claimed === reviews) || (others > 0 && rows.length - claimed === others);
    await this.#beginAfter(tx, worker, rows, token, now);
    if (!mayLeaveSome) return;
    tx.afterwards((committed) => {
      if (!committed) return;
      this.#backlog = true;
      this.#wake();
    });
  }

  /**
   * Claims jobs of which this process knows that they are its own. It may have leases that it does not know of, if it has not heard yet
   * that it got them, and remembers what is out of date for those installations. Their jobs are returned in the same transaction, and
   * claimed again once it knows (`onGained`). Rejected: to name what it knows in the statement, which may be thousands of installations.
   */
  async #claim(
    { jobs }: Tx,
    now: Date,
    until: Date,
    token: string,
    limit: number,
    { reviews, endsLeases }: { reviews: number; endsLeases: boolean },
  ): Promise<JobRow[]> {
    const { worker } = this.#share ?? {};
    const rows = await jobs.claim(now, until, token, limit, { reviews, endsLeases, worker });
    const own = rows.filter(({ installationId }) => this.#isOwn(installationId));
    for (const row of rows) if (!own.includes(row)) await jobs.retry(row.id, token, row.runAt, row);
    return own;
  }

  /**
   * Prepares jobs that this transaction has taken, and begins them as soon as it has committed. Those that need only
   * the database are done in a transaction that shares its commit.
   */
  async #beginAfter(
    tx: Tx,
    worker: Worker,
    rows: readonly JobRow[],
    token: string,
    now: Date,
  ): Promise<void> {
    for (const row of rows) this.#claiming.add(row);
    const prepared = new Map<JobRow, unknown>();
    const finished = new Map<JobRow, Promise<boolean>>();
    tx.afterwards((committed) => {
      const renewAt = now.getTime() + this.#leaseMs / 3;
      const begin = (row: JobRow) => {
        this.#claiming.delete(row);
        this.#outside(() => this.#begin(worker, row, token, renewAt, prepared.get(row)));
      };
      for (const row of rows) {
        const isDone = finished.get(row);
        if (!committed) this.#claiming.delete(row);
        else if (isDone) void isDone.then((done) => (done ? this.#leave(row) : begin(row)));
        else begin(row);
      }
    });
    for (const row of rows) {
      const job = { ...toJob(row), prepared: await this.#prepare(tx, worker, row) };
      prepared.set(row, job.prepared);
      const finish = row.attempts === 0 ? this.#finishOf(worker, job) : undefined;
      if (finish)
        finished.set(
          row,
          this.#outside(() => this.#finish(row, token, finish)),
        );
    }
  }

  #finishOf(worker: Worker, job: Job): ReturnType<NonNullable<Worker['finish']>> {
    try {
      return worker.finish?.(job);
    } catch (err) {
      this.#log.debug({ kind: job.kind, key: job.key, err }, 'a job could not be read before it is run');
      return undefined;
    }
  }

  /** @returns whether the job is done. It may also have to be run, and then nothing of this was kept */
  async #finish(row: JobRow, token: string, finish: (tx: Tx) => Promise<boolean>): Promise<boolean> {
    const onEnd = (tx: Tx) => this.#claimNext(tx, row.key);
    try {
      return await this.#storage.fenced({ jobId: row.id, token, onEnd }, () =>
        this.#storage.transaction(async (tx) => {
          const isDone = await finish(tx);
          if (isDone) tx.endJob();
          return isDone;
        }),
      );
    } catch (err) {
      this.#log.debug(
        { kind: row.kind, key: row.key, err },
        'a job could not be done with its claim, and is run',
      );
      return false;
    }
  }

  /** A job that was claimed has ended without having been run. */
  #leave(row: JobRow): void {
    const wasFull = this.#free().others === 0;
    this.#claiming.delete(row);
    this.#blocked.delete(row.key);
    const isWaitedFor = this.#waitingForIdle.length > 0 || this.#state !== 'working';
    if (wasFull || isWaitedFor) this.#wake();
  }

  /** In the transaction that ends a job. */
  #claimNext(tx: Tx, key: string): void {
    if (this.#backlog || this.#blocked.has(key)) tx.beforeCommit(() => this.#claimWithin(tx));
  }

  /** A job that cannot be prepared must not stop the others. It reads everything itself, and may fail alone. */
  async #prepare(tx: Tx, worker: Worker, row: JobRow): Promise<unknown> {
    try {
      return await worker.prepare?.(tx, toJob(row));
    } catch (err) {
      this.#log.debug({ kind: row.kind, key: row.key, err }, 'a job could not be prepared');
      return undefined;
    }
  }

  /** The free places for reviews and for all other work. */
  #free(): { others: number; reviews: number } {
    if (this.#state !== 'working') return { others: 0, reviews: 0 };
    const { others, reviews } = this.#busy();
    return {
      others: Math.max(0, this.#concurrency - others),
      reviews: Math.max(0, this.#reviews - reviews),
    };
  }

  #busy(): { others: number; reviews: number } {
    const taken = [...[...this.#underWay].map(({ row }) => row), ...this.#claiming];
    const reviews = taken.filter(isReview).length;
    return { others: taken.length - reviews, reviews };
  }

  slots(): { reviews: Slots; others: Slots } {
    const { others, reviews } = this.#busy();
    return {
      reviews: { slots: this.#reviews, busy: reviews },
      others: { slots: this.#concurrency, busy: others },
    };
  }

  /**
   * Inserts jobs, or brings waiting ones forward. With `takes`, those that are due and can begin are taken at
   * once, which costs no statement of its own. Returns whether due jobs are left.
   */
  async #insert(tx: Tx, jobs: readonly NewJob[], { takes }: { takes: boolean }): Promise<boolean> {
    const now = this.#clock.now();
    const mayTake = takes && this.#worker !== undefined && !this.#backlog && this.#state === 'working';
    const asked = jobs.filter(({ coalesce, runAt = now }) => coalesce || (mayTake && runAt <= now));
    const known = await tx.jobs.ofKeys([...new Set(asked.map(({ key }) => key))]);
    const rows: (Parameters<Tx['jobs']['insert']>[number] & { installationId: number | null })[] = [];
    const forward = new Map<JobRow, Date>();
    for (const job of jobs) {
      const { kind, key, payload, installationId, runAt = now, coalesce = false } = job;
      const isSame = (other: { kind: string; key: string }) => other.kind === kind && other.key === key;
      // The job to bring forward may be an earlier one of this call.
      const sameNew = coalesce ? rows.filter(isSame) : [];
      const same = coalesce ? known.filter((row) => row.leaseToken === null && isSame(row)) : [];
      for (const row of sameNew) if (row.runAt > runAt) row.runAt = runAt;
      for (const row of same) if ((forward.get(row) ?? row.runAt) > runAt) forward.set(row, runAt);
      if (sameNew.length + same.length > 0) continue;
      rows.push({
        kind,
        key,
        payload: JSON.stringify(payload ?? null),
        runAt,
        worth: worthOf(job),
        installationId,
      });
    }
    const free = mayTake ? this.#free() : { others: 0, reviews: 0 };
    const token = leaseToken(this.#owner);
    const until = new Date(now.getTime() + this.#leaseMs);
    const held = new Set([...this.#underWay].filter(({ ended }) => !ended).map(({ row }) => row.key));
    /** Whether it is due, the only job of its key, and has a free place, which it then takes. */
    const takesPlace = (job: Pick<JobRow, 'kind' | 'key' | 'runAt' | 'installationId'>) => {
      const isAlone = [...known, ...rows].filter(({ key }) => key === job.key).length === 1;
      const place = job.kind === REVIEW ? 'reviews' : 'others';
      const mayRun = job.runAt <= now && isAlone && !held.has(job.key) && this.#isOwn(job.installationId);
      if (!mayTake || !mayRun || free[place] === 0) return false;
      free[place] -= 1;
      return true;
    };
    const taken: JobRow[] = [];
    let left = false;
    for (const [row, runAt] of forward) {
      const { id, kind, key, installationId } = row;
      const isTaken = takesPlace({ ...row, runAt });
      const took = isTaken ? await tx.jobs.take(id, runAt, until, token) : undefined;
      if (took) taken.push(took);
      else {
        await tx.jobs.bringForward(kind, key, runAt);
        left ||= runAt <= now && this.#isOwn(installationId);
      }
    }
    for (const row of rows) {
      if (takesPlace(row)) row.lease = { token, until };
      else left ||= row.runAt <= now && this.#isOwn(row.installationId);
    }
    const inserted = await tx.jobs.insert(...rows);
    taken.push(...inserted.filter(({ leaseToken }) => leaseToken === token));
    for (const key of [
      ...[...this.#underWay].map(({ job }) => job.key),
      ...[...this.#claiming].map((row) => row.key),
    ])
      if (rows.some((row) => row.key === key)) this.#blocked.add(key);
    if (this.#worker && taken.length > 0) await this.#beginAfter(tx, this.#worker, taken, token, now);
    for (const { runAt } of jobs) if (runAt) this.#expect(runAt);
    return left;
  }

  /** Whether this process does the work of the installation. */
  #isOwn(installationId: number | null): boolean {
    return this.#share?.has(installationId) ?? true;
  }

  /** Makes sure that the queue looks for work then. What is due already is claimed, or waits for a free place. */
  #expect(due: Date): void {
    if (due <= this.#clock.now() || due.getTime() >= this.#nextDue) return;
    this.#nextDue = due.getTime();
    this.#setTimer();
  }

  #setTimer(): void {
    if (this.#turning || (this.#state !== 'working' && this.#state !== 'stopping')) return;
    clearTimeout(this.#timer);
    const wait = Math.max(1, this.#nextDue - this.#clock.now().getTime());
    // A later job is noticed by a poll, before a timer of its own could be too long for the runtime.
    if (wait < this.#pollMs) this.#timer = setTimeout(() => this.#wake(), wait);
  }

  /** Looks for everything that may have come from elsewhere, and renews leases. */
  #poll(): void {
    this.#polls = true;
    this.wake();
  }

  start(worker: Worker): void {
    if (this.#state !== 'new') throw new CountersignError('queue.started', 'The queue was started before.');
    this.#state = 'working';
    this.#worker = worker;
    this.#pollTimer = setInterval(() => this.#poll(), Math.min(this.#pollMs, this.#leaseMs / 3));
    this.#poll();
    this.#share?.onGained(() => {
      this.#deadReleased = false;
      this.#poll();
    });
    this.#share?.begin();
  }

  hasRoomFor(works: readonly { installationId: number | null }[]): boolean {
    return (
      !this.#lookForNew &&
      !this.#backlog &&
      this.#worker !== undefined &&
      this.#free().others >= works.length &&
      works.every(({ installationId }) => this.#isOwn(installationId))
    );
  }

  wake(): void {
    this.#lookForNew = true;
    this.#wake();
  }

  idle(): Promise<void> {
    if (this.#state !== 'working') return Promise.reject(notWorking());
    return new Promise((resolve, reject) => {
      this.#waitingForIdle.push({ resolve, reject });
      this.wake();
    });
  }

  async stop(ms: number): Promise<void> {
    if (this.#state === 'new') this.#state = 'stopped';
    if (this.#state !== 'working') return;
    this.#state = 'stopping';
    this.#share?.retire();
    await this.#turning;
    await this.#untilIdle(ms);
    for (const work of this.#underWay) {
      work.abort.abort(new CountersignError('queue.stopping', 'The queue is being stopped.'));
    }
    await this.#untilIdle(ABORT_GRACE_MS);
    for (const work of this.#underWay) {
      work.lost = true;
      this.#log.warn({ job: work.row.id, kind: work.job.kind }, 'a job went on after it was aborted');
    }
    this.#wake();
    await this.#turning;
    this.#state = 'stopped';
    clearTimeout(this.#timer);
    clearInterval(this.#pollTimer);
    for (const waiting of this.#waitingForIdle.splice(0)) waiting.reject(notWorking());
  }

  #wake(): void {
    if (this.#state !== 'working' && this.#state !== 'stopping') return;
    this.#woken = true;
    this.#startTurning();
  }

  async #turnWhileWoken(worker: Worker): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#woken) {
      // Everything that ends or is enqueued in one turn of the event loop shares a transaction.
      await nextTurn();
      this.#woken = false;
      try {
        await this.#turn(worker);
      } catch (error) {
        this.#deadReleased = false;
        // Polls would wake it again and again while the database is away, and who stops it waits for the last turn.
        if (this.#state === 'stopping') this.#woken = false;
        this.#log.error({ err: error }, `the queue could not reach its database: ${messageOf(error)}`);
      }
    }
    // In the same synchronous step as the last check of `woken`, so that no wake is missed.
    this.#turning = undefined;
    this.#setTimer();
  }

  async #turn(worker: Worker): Promise<void> {
    const now = this.#clock.now();
    const leaseUntil = new Date(now.getTime() + this.#leaseMs);
    const token = leaseToken(this.#owner);
    const dispositions = [...this.#dispositions];
    const renewing = [...this.#underWay].filter(
      (work) => !work.lost && !work.ended && work.renewAt <= now.getTime(),
    );
    const waiting = this.#waitingForIdle.length;
    const looks = this.#lookForNew;
    const endsLeases = now.getTime() - this.#leasesEndedAt >= this.#leaseMs / 3;
    const readsDue = this.#polls || this.#backlog || this.#nextDue <= now.getTime();
    this.#polls = false;
    const { worker: of } = this.#share ?? {};
    const releasesDead = !this.#deadReleased;
    this.#deadReleased = true;

    const found = await this.#storage.transaction(async (tx) => {
      const { jobs } = tx;
      if (releasesDead) {
        const tokens = await jobs.leaseTokens(of);
        const isDead = (held: string) =>
          this.#worksAlone ? !isOfProcess(held, this.#owner) : isOfDeadProcess(held, this.#owner);
        for (const dead of tokens.filter(isDead)) {
          for (const row of await jobs.release(dead, of)) {
            const job = toJob(row);
            // Of a kind that only a newer version knows, this one can say nothing.
            if (handlerOf(worker, job)) await worker.onInterrupted?.(tx, job);
          }
        }
      }
      // Other transactions may have claimed since this one was requested.
      const { others, reviews } = this.#free();
      const lost: Work[] = [];
      for (const { work, disposition } of dispositions) {
        const { row } = work;
        const kept =
          disposition.kind === 'remove'
            ? await jobs.complete(row.id, work.token)
            : await jobs.retry(row.id, work.token, disposition.at, disposition.counted);
        if (!kept) lost.push(work);
      }
      for (const work of renewing) {
        if (!(await jobs.extend(work.row.id, work.token, leaseUntil))) lost.push(work);
      }
      const pending = looks && others > 0 ? ((await worker.pendingJobs?.(tx, MAX_NEW_JOBS, of)) ?? []) : [];
      // The clock of the process that recorded it may be ahead of this one's.
      const fresh = pending.map((job) => (job.runAt && job.runAt > now ? { ...job, runAt: now } : job));
      await this.#insert(tx, fresh, { takes: false });
      const claims = others + reviews > 0;
      const claimed = claims
        ? await this.#claim(tx, now, leaseUntil, token, others, { reviews, endsLeases })
        : [];
      const due = waiting > 0 ? await jobs.countDue(now) : undefined;
      if (readsDue) {
        const first = await jobs.nextDue(new Date(0), of);
        this.#backlog = first !== undefined && first <= now;
        const next = this.#backlog ? await jobs.nextDue(now, of) : first;
        this.#nextDue = next?.getTime() ?? Number.POSITIVE_INFINITY;
      }
      await this.#beginAfter(tx, worker, claimed, token, now);
      return { lost, fresh, claims, looked: looks && others > 0, due };
    });

    if (endsLeases && found.claims) this.#leasesEndedAt = now.getTime();
    if (found.fresh.length === MAX_NEW_JOBS) this.#woken = true;
    else if (found.looked && !this.#woken) this.#lookForNew = false;
    for (const { disposition } of dispositions)
      if (disposition.kind === 'return') this.#expect(disposition.at);
    this.#dispositions = this.#dispositions.slice(dispositions.length);
    for (const work of renewing) work.renewAt = now.getTime() + this.#leaseMs / 3;
    for (const work of found.lost) this.#lose(work);
    // Only those who waited before the count. Handlers that lost their lease still count as running.
    if (found.due === 0 && this.#underWay.size === 0 && this.#claiming.size === 0) {
      for (const { resolve } of this.#waitingForIdle.splice(0, waiting)) resolve();
    }
  }

  #lose(work: Work): void {
    work.lost = true;
    work.abort.abort(new CountersignError('queue.lease_lost', 'The lease of this job was lost.'));
    this.#log.warn({ job: work.row.id, kind: work.job.kind }, 'the lease of a job was lost');
  }

  #begin(worker: Worker, row: JobRow, token: string, renewAt: number, prepared: unknown): void {
    const job: Job = { ...toJob(row), prepared };
    const work: Work = {
      row,
      token,
      job,
      renewAt,
      abort: new AbortController(),
      lost: false,
      ended: false,
      over: Promise.resolve(),
    };
    this.#underWay.add(work);
    const onEnd = (tx: Tx) => {
      this.#claimNext(tx, job.key);
      tx.afterwards((committed) => {
        work.ended = committed;
      });
    };
    const others = () => {
      const isWaitedFor = this.#waitingForIdle.length > 0 || this.#state !== 'working';
      return isWaitedFor ? 0 : this.#underWay.size - 1;
    };
    work.over = this.#storage
      .fenced({ jobId: row.id, token, onEnd, others }, () =>
        attempt(this.#attempt, worker, job, work.abort.signal),
      )
      .then((disposition) => {
        // A connection that the job opened keeps the job's context, and all in it, until it is closed.
        delete job.prepared;
        const { others, reviews } = this.#free();
        const wasFull = (isReview(row) ? reviews : others) === 0;
        this.#underWay.delete(work);
        this.#blocked.delete(job.key);
        if (!work.lost && !work.ended) this.#dispositions.push({ work, disposition });
        const isWaitedFor = this.#waitingForIdle.length > 0 || this.#state !== 'working';
        if (!work.ended || wasFull || isWaitedFor) this.#wake();
      });
  }

  /** Resolves when no job is running, also none that a transaction had claimed, or after `ms`. */
  async #untilIdle(ms: number): Promise<void> {
    if (this.#underWay.size === 0) return;
    let isLate = false;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      isLate = true;
      resolve();
    }, ms);
    while (this.#underWay.size > 0 && !isLate)
      await Promise.race([late, Promise.all([...this.#underWay].map((work) => work.over))]);
    clearTimeout(timer);
  }
}

function isReview({ kind }: JobRow): boolean {
  return kind === REVIEW;
}

function toJob({ kind, key, payload, attempts, unavailableSince }: JobRow): Job {
  return { kind: kind as JobKind, key, payload: JSON.parse(payload), attempts, unavailableSince };
}

function notWorking(): CountersignError {
  return new CountersignError('queue.not_working', 'The queue does not run, so it cannot become idle.');
}
