import type { Recorder } from '../../src/entrypoints/webhook/delivery/intake.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import type { Storage, Tx } from '../../src/ports/storage.ts';
import type { When } from './kill-point.ts';

/** Called with a durable write's name; the returned hooks are called before and after it. */
export type Watch = (name: string) => (when: When) => void;

/** What is no table. */
type End = 'beforeCommit' | 'afterwards' | 'endJob';

/** Methods that only read. Everything else writes, so that a method that is added later becomes a fault point by itself. */
const READS: { readonly [Table in Exclude<keyof Tx, End>]: readonly (keyof Tx[Table])[] } = {
  deliveries: ['get', 'byGuid', 'known', 'list', 'countByStatus', 'oldestToQueue'],
  runs: [
    'searchedTo',
    'load',
    'loadAll',
    'get',
    'list',
    'current',
    'getSession',
    'sessionsOf',
    'historyOf',
    'wasFired',
    'archivable',
    'countByStatus',
    'stamp',
  ],
  sessionLogs: ['read'],
  approvals: ['ofInvocation', 'ofRun', 'newestOf', 'answered', 'watched', 'stillWatched'],
  effects: [
    'get',
    'getWithRun',
    'preload',
    'ofRun',
    'mergesSent',
    'gatesToClose',
    'withContent',
    'list',
    'countByStatus',
  ],
  artifacts: ['ofRun', 'get', 'list', 'page', 'search'],
  pullRequests: ['get', 'openWithHead', 'ofRepository'],
  gateProtections: ['get'],
  pushes: ['of'],
  jobs: ['isHeld', 'isUnderWay', 'ofKeys', 'leaseTokens', 'nextDue', 'countDue', 'ready'],
  chains: ['all', 'changedAt'],
  schedules: ['ofRepository', 'due', 'nextAt', 'upcoming'],
  firings: ['get', 'queued', 'list', 'counts'],
  composites: ['get', 'ofPullRequest', 'expired', 'nextAt', 'beyond'],
  cursors: ['get'],
  missedDeliveries: ['get', 'due'],
  modelCalls: ['spent', 'ofRun'],
  skillCalls: ['get', 'ofComment'],
  threadReplies: ['threadsSince'],
  skillTraces: ['ofRun', 'page'],
  skills: ['get', 'outlines', 'adopted'],
  appliedCommands: ['of'],
  acceptedFindings: ['ofHead', 'byRule', 'found', 'history'],
  apiTokens: ['byHash', 'all', 'ofOwner', 'countUsable'],
  studioSessions: ['find', 'ofSignIn', 'ofPerson'],
  studioCommands: ['get'],
  dryRuns: ['get', 'underWay', 'askedToStop'],
  audit: ['lastConfiguration', 'page'],
  overview: [
    'active',
    'stopped',
    'counts',
    'ofPullRequest',
    'atAddress',
    'repositoryAt',
    'chains',
    'pullRequests',
  ],
  // It writes with the end of the transaction.
  insight: ['add', 'totals', 'leadTimes', 'ofRepositories', 'waitingIn', 'repositories'],
  repositoryStates: ['list'],
  operations: [
    'chains',
    'repositories',
    'stepTimes',
    'deliveries',
    'effects',
    'jobs',
    'owners',
    'delivery',
    'jobOfDelivery',
    'modelDays',
    'skills',
    'tracesOf',
    'versionsOf',
  ],
  pruning: ['page', 'unknownPullRequests', 'blobsToDelete'],
};
const READING = new Set(
  Object.entries(READS).flatMap(([table, methods]) => methods.map((method) => `${table}.${method}`)),
);

/** Every durable write, by its name in fault points. */
export function writesOf(tx: Tx): string[] {
  const { beforeCommit, afterwards, endJob, ...all } = tx;
  const calls = Object.entries(all).flatMap(([table, methods]) =>
    Object.keys(methods).map((method) => `${table}.${method}`),
  );
  return calls.filter((call) => !READING.has(call));
}

/**
 * The same storage, with each writing transaction watched: `before` with everything written and nothing committed, `after` as
 * soon as it is committed. Its name is the sorted list of its writes, because their order can depend on which job came first.
 */
export function watchedStorage(storage: Storage, watch: Watch): Storage {
  return {
    read: storage.read,
    version: () => storage.version(),
    check: () => storage.check(),
    backup: (path) => storage.backup(path),
    giveBack: (pages) => storage.giveBack(pages),
    close: () => storage.close(),
    fenced: (lease, work) => storage.fenced(lease, work),
    async transaction(work) {
      let reached: ReturnType<Watch> | undefined;
      const result = await storage.transaction(async (tx) => {
        const writes = new Set<string>();
        const result = await work(noting(tx, writes));
        // After what the work left for the end of its transaction.
        tx.beforeCommit(async () => {
          reached = writes.size === 0 ? undefined : watch([...writes].sort().join('+'));
          reached?.('before');
        });
        return result;
      });
      reached?.('after');
      return result;
    },
  };
}

/** The same recorder of the intake, with each commit watched. */
export function watchedRecorder(recorder: Recorder, watch: Watch): Recorder {
  return {
    async record(deliveries) {
      const reached = watch('inbox.record');
      reached('before');
      const fresh = await recorder.record(deliveries);
      reached('after');
      return fresh;
    },
  };
}

/** The same store, with each write watched: before any of it exists, and as soon as it is complete. */
export function watchedBlobs(blobs: Blobs, watch: Watch): Blobs {
  return {
    ...blobs,
    async put(path, data) {
      const reached = watch('blobs.put');
      reached('before');
      const stored = await blobs.put(path, data);
      reached('after');
      return stored;
    },
  };
}

function noting(tx: Tx, writes: Set<string>): Tx {
  return new Proxy(tx, {
    get: (tables, table) =>
      typeof Reflect.get(tables, table) === 'function'
        ? Reflect.get(tables, table)
        : notingTable(Reflect.get(tables, table), String(table), writes),
  });
}

function notingTable(table: object, name: string, writes: Set<string>): object {
  return new Proxy(table, {
    get(methods, property) {
      const method: unknown = Reflect.get(methods, property);
      const call = `${name}.${String(property)}`;
      if (typeof method !== 'function' || READING.has(call)) return method;
      return async (...given: unknown[]) => {
        const answer: unknown = await method.apply(methods, given);
        if (!isNothing(given) && !isNothing(answer)) writes.add(call);
        return answer;
      };
    },
  });
}

/** Inserting no job, or looking for due ones in vain, changes nothing, so there is no moment to die at. */
function isNothing(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
