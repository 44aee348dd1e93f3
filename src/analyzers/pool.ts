import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { unreachable } from '../core/errors.ts';
import { OWN_CODE } from '../core/package-root.ts';
import { watchMemory } from '../sandbox/memory.ts';
import type { Ending } from '../sandbox/process.ts';
import { ANALYZERS } from './analyzers.ts';
import { type CompiledCode, compileAnalyzers, ifComplete, KEPT_CODE } from './compiled-code.ts';
import type { Job, JobResult, WorkerRequest } from './worker/protocol.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

/** For all processes of a review together. The most text per review (24 MB) takes 1,000 at its peak. */
const MAX_MEMORY_MB = 2_048;
/** In characters. Less is done before a second process has started. */
const MOST_TEXT_TOGETHER = 200_000;
/**
 * The shares of the review's time. What has no result after the first share, of analyzers that share a process,
 * runs again, each analyzer in a process of its own.
 */
const TOGETHER = 0.1;
const SIDE_BY_SIDE = 0.4;
const ALONE = 0.8;
/** A quiet app keeps no process. */
const KEEP_SPARES_MS = 5 * 60_000;

interface Limits {
  /** For all jobs together. A single job gets 80 % of it. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Called with each result as it comes. */
  onResult?: ((result: JobResult) => void) | undefined;
}

/** The processes in which analyzers run. */
export interface AnalyzerPool {
  /**
   * Runs the jobs in sandboxed processes that no other review uses, in their order where they share one, and
   * returns one result per job. Little text has one process; more has one for each core, because starting one and
   * warming it up takes as long as analysing a hundred files. Any failure (crash, time, memory, too much or malformed output) becomes the
   * result of a job. Waits for its turn first, because at most as many reviews run at once as there are cores.
   * @throws the signal's reason if aborted; the processes are dead by then
   */
  run(request: WorkerRequest, limits: Limits): Promise<JobResult[]>;
  /** Ends all processes. */
  stop(): Promise<void>;
}

export interface PoolOptions {
  /** Keeps processes ready for the next review, from the first one on. They must be stopped in the end. */
  spares?: boolean;
  /** How many reviews run at once. */
  atOnce?: number;
  maxMemoryMb?: number;
  /** Files of analyzers outside of our own code, for tests. */
  modules?: readonly string[];
  /** Where compiled code stays for later starts. */
  keptIn?: string;
}

export function createAnalyzerPool({
  spares: keepsSpares = true,
  atOnce = availableParallelism(),
  maxMemoryMb = MAX_MEMORY_MB,
  modules = [],
  keptIn = KEPT_CODE,
}: PoolOptions = {}): AnalyzerPool {
  const turns = createTurns(atOnce);
  const alive = new Set<WorkerProcess>();
  const spares: Promise<WorkerProcess>[] = [];
  let compiling: Promise<void> | undefined;
  let compiled: CompiledCode | 'not possible' | undefined;
  let compiledIn = ifComplete(keptIn);
  let expiry: NodeJS.Timeout | undefined;
  let stopping = false;

  async function start(readable: readonly string[] = modules): Promise<WorkerProcess> {
    const worker = await startWorkerProcess(compiledIn, readable);
    watch(worker);
    worker.tell({ kind: 'load', modules: [ANALYZERS.secrets.module.href] });
    return worker;
  }

  function watch(worker: WorkerProcess): void {
    alive.add(worker);
    void worker.gone.catch(() => {}).then(() => alive.delete(worker));
    if (stopping) worker.stop();
  }

  async function take(jobs: readonly Job[], fresh: boolean): Promise<Taken> {
    const foreign = jobs
      .map((job) => fileURLToPath(job.module))
      .filter((path) => !path.startsWith(OWN_CODE) && !modules.includes(path));
    if (foreign.length > 0) return { worker: await start([...modules, ...foreign]), waited: false };
    for (;;) {
      const next = fresh ? undefined : spares.shift();
      if (!next) return { worker: await start(), waited: false };
      const worker = await next.catch(() => undefined);
      if (worker && !worker.over.aborted) return { worker, waited: true };
    }
  }

  /** One spare, or as many as there are reviews now. */
  function refill(): void {
    if (!keepsSpares || stopping) return;
    compiling ??= compileAnalyzers(keptIn, watch)
      .catch(() => undefined)
      .then((code) => {
        compiled = code ?? 'not possible';
        compiledIn = code?.folder ?? compiledIn;
        refill();
      });
    // Until then, a review starts a process that compiles what it needs.
    if (!compiled) return;
    while (spares.length < Math.max(1, turns.taken())) {
      const spare = start();
      spare.catch(() => {});
      spares.push(spare);
    }
    clearTimeout(expiry);
    expiry = setTimeout(() => void Promise.allSettled(spares.splice(0).map(ended)), KEEP_SPARES_MS);
    expiry.unref();
  }

  return {
    async run(request, limits) {
      limits.signal.throwIfAborted();
      if (request.jobs.length === 0) return [];
      const done = await turns.take(limits.signal);
      try {
        return await review(request, limits, { take, maxMemoryMb });
      } finally {
        done();
        refill();
      }
    },

    async stop() {
      stopping = true;
      clearTimeout(expiry);
      for (const worker of alive) worker.stop();
      await compiling;
      await Promise.allSettled(spares.splice(0).map(ended));
      await Promise.allSettled([...alive].map(({ gone }) => gone));
      if (typeof compiled === 'object') await compiled.remove();
    },
  };
}

async function ended(spare: Promise<WorkerProcess>): Promise<void> {
  const worker = await spare;
  worker.stop();
  await worker.gone;
}

/** Lets so many through at once, in the order of their arrival. */
function createTurns(atOnce: number) {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const done = () => {
    const next = waiting.shift();
    if (next) next();
    else taken--;
  };
  return {
    taken: () => taken,
    /** @throws the signal's reason if aborted before its turn */
    async take(signal: AbortSignal): Promise<() => void> {
      if (taken < atOnce) {
        taken++;
        return done;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onAbort = () => {
        const at = waiting.indexOf(resolve);
        if (at < 0) return;
        waiting.splice(at, 1);
        reject(signal.reason);
      };
      waiting.push(resolve);
      signal.addEventListener('abort', onAbort, { once: true });
      await promise;
      signal.removeEventListener('abort', onAbort);
      return done;
    },
  };
}

interface Taken {
  worker: WorkerProcess;
  /** It was a spare, so it may have died before it was needed. */
  waited: boolean;
}

interface Means {
  /** @param fresh starts a process even if there is a spare */
  take(jobs: readonly Job[], fresh: boolean): Promise<Taken>;
  maxMemoryMb: number;
}

async function review(
  { files, jobs }: WorkerRequest,
  { timeoutMs, signal, onResult }: Limits,
  { take, maxMemoryMb }: Means,
): Promise<JobResult[]> {
  const results = new Map<string, JobResult>();
  const keep = (result: JobResult) => {
    results.set(result.analyzer, result);
    onResult?.(result);
  };
  const begun = performance.now();
  const running = new Set<WorkerProcess>();
  let timedOut: Ending | undefined;
  const stopAll = (because?: Ending) => {
    for (const worker of running) worker.stop(because);
  };
  const onAbort = () => stopAll();
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => {
    timedOut = { kind: 'timed_out', ms: timeoutMs };
    stopAll(timedOut);
  }, timeoutMs);
  const watched = async (work: Promise<unknown>) => {
    const pids = () => [...running].map(({ pid }) => pid);
    const endWatch = watchMemory(pids, maxMemoryMb, () =>
      stopAll({ kind: 'too_much_memory', mb: maxMemoryMb }),
    );
    await work.finally(endWatch);
  };

  /** Runs jobs in one process, one after another, and resolves when that is gone. */
  const attempt = async (some: readonly Job[], share: number, fresh = false): Promise<Ending> => {
    const { worker, waited } = await take(some, fresh);
    running.add(worker);
    if (signal.aborted || timedOut) worker.stop(timedOut);
    const ms = Math.ceil(timeoutMs * share);
    const slow = setTimeout(() => worker.stop({ kind: 'timed_out', ms }), ms);
    const expected = new Set(some.map(({ analyzer }) => analyzer));
    worker.onResult((result) => {
      // A flaw of one analyzer must not let a file replace what others found, such as its secrets.
      if (!expected.delete(result.analyzer)) return;
      keep(result);
      if (some.every(({ analyzer }) => results.has(analyzer))) worker.stop();
    });
    const wanted = new Set(some.flatMap((job) => job.files));
    worker.tell({ kind: 'review', files: files.filter(({ index }) => wanted.has(index)), jobs: [...some] });
    const ending = await worker.gone.finally(() => {
      clearTimeout(slow);
      running.delete(worker);
    });
    const isInnocent =
      waited && ending.kind === 'died' && !some.some(({ analyzer }) => results.has(analyzer));
    return isInnocent && !signal.aborted ? attempt(some, share, true) : ending;
  };

  const alone = async (job: Job): Promise<void> => {
    if (signal.aborted) return;
    const ending = timedOut ?? (await attempt([job], ALONE));
    if (results.has(job.analyzer)) return;
    const status = ending.kind === 'timed_out' ? 'timed_out' : 'crashed';
    const durationMs = performance.now() - begun;
    const message = messageFor(ending, ending === timedOut);
    keep({ analyzer: job.analyzer, status, message, durationMs });
  };

  try {
    const characters = files.reduce((sum, { text }) => sum + text.length, 0);
    const shares = divided(jobs, characters <= MOST_TEXT_TOGETHER ? 1 : Math.max(2, availableParallelism()));
    const time = shares.length === 1 ? TOGETHER : SIDE_BY_SIDE;
    const together = shares.filter(({ length }) => length > 1);
    const single = shares.flatMap((share) => (share.length === 1 ? share : []));
    await watched(Promise.all([...together.map((share) => attempt(share, time)), ...single.map(alone)]));
    const left = jobs.filter(({ analyzer }) => !results.has(analyzer));
    await watched(Promise.all(left.map(alone)));
  } finally {
    clearTimeout(timer);
    stopAll();
    signal.removeEventListener('abort', onAbort);
  }
  signal.throwIfAborted();
  return jobs.flatMap(({ analyzer }) => results.get(analyzer) ?? []);
}

/** The jobs in at most so many shares of about the same work, the largest first. Each share keeps their order. */
function divided(jobs: readonly Job[], most: number): Job[][] {
  const shares = Array.from({ length: Math.min(most, jobs.length) }, () => ({
    cost: 0,
    jobs: new Set<Job>(),
  }));
  for (const job of jobs.toSorted((a, b) => b.cost - a.cost)) {
    const least = shares.reduce((one, other) => (other.cost < one.cost ? other : one));
    least.jobs.add(job);
    least.cost += job.cost;
  }
  return shares.sort((a, b) => b.cost - a.cost).map((share) => jobs.filter((job) => share.jobs.has(job)));
}

function messageFor(ending: Ending, isWholeReview: boolean): string {
  switch (ending.kind) {
    case 'not_started':
      return `it could not be started: ${ending.detail}`;
    case 'died':
      return `ended with ${ending.detail} and no result`;
    case 'timed_out':
      return isWholeReview
        ? `the whole review took longer than ${ending.ms} ms`
        : `gave no result within ${ending.ms} ms`;
    case 'too_much_memory':
      return `the analyzers took more than ${ending.mb.toLocaleString('en')} MB of memory`;
    case 'too_much_output':
      return 'it wrote more than can be read';
    case 'no_message':
      return 'it wrote something that is no result';
    default:
      return unreachable(ending);
  }
}
