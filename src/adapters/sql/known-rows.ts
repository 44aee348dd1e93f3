import type { Selectable } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { InvocationRow, StoredRun } from './run-rows.ts';
import type {
  ApprovalsTable,
  Database,
  EffectsTable,
  JobsTable,
  PullRequestsTable,
  SessionsTable,
} from './schema.ts';

/** The runs whose rows are kept: those at work, and their pull requests' last ones. */
const MAX_RUNS = 100;
/** More jobs than this are not kept in memory: then the table is asked. */
const MAX_JOBS = 2_000;
/** How many times nothing is read after there were too many jobs. */
const PAUSE = 1_000;

export type OpenPullRequest = Pick<Selectable<PullRequestsTable>, 'number' | 'paused_by'>;
export type RunOutline = Pick<StoredRun, 'id' | 'pull_request' | 'chain' | 'status'>;

/**
 * Tables that refer to none of the kept rows in a way that changes them: rows inserted or updated there leave
 * the kept ones as they are. A deletion may, by a foreign key, except that of a job.
 */
const OTHER_TABLES = [
  'artifacts',
  'audit_log',
  'body_packs',
  'cursors',
  'deliveries',
  'delivery_bodies',
  'pushes',
  'transitions',
];

/**
 * The rows that the connection for transactions has read or written, across its transactions. They stay true until
 * somebody else writes, because SQLite admits one writer:
 *
 * - Another connection: SQLite's `data_version` or PostgreSQL's newest commit says so, and is asked at the beginning of each
 *   transaction.
 * - A statement of this connection that does not keep them up to date: `sees` is shown each statement that does not
 *   say that it does, and forgets them for whatever it does not know to be harmless.
 * - A rollback, of a whole group or of one transaction in it: it is such a statement.
 */
export class KnownRows {
  readonly runs = new LRUCache<string, StoredRun>({ max: MAX_RUNS });
  /** The steps of a run. */
  readonly steps = new LRUCache<string, InvocationRow[]>({ max: MAX_RUNS });
  readonly sessions = new LRUCache<string, Selectable<SessionsTable>>({ max: 2 * MAX_RUNS });
  /** All runs of a pull request, newest first. */
  readonly outlines = new LRUCache<string, RunOutline[]>({ max: MAX_RUNS });
  /** The approvals of a run, oldest first. */
  readonly approvals = new LRUCache<string, Selectable<ApprovalsTable>[]>({ max: MAX_RUNS });
  /** Also that there is none of a key, in the table or an archive. */
  readonly effects = new LRUCache<string, { row: Selectable<EffectsTable> | undefined }>({
    max: 4 * MAX_RUNS,
  });
  readonly jobs = new KnownJobs();
  /** By repository: the open pull requests of some heads. */
  readonly openOnHeads = new LRUCache<number, Map<string, OpenPullRequest[]>>({ max: MAX_RUNS });
  /** By repository and branch. */
  readonly gateProtections = new LRUCache<
    string,
    { row: Selectable<Database['gate_protections']> | undefined }
  >({
    max: MAX_RUNS,
  });
  /** How repositories were written last, as text without the time. No other table refers to them. */
  readonly repositoryStates = new LRUCache<number, string>({ max: MAX_RUNS });
  /** The ids of deliveries that are in their table, and not archived. */
  readonly deliveries = new LRUCache<number, true>({ max: 4 * MAX_RUNS });
  #version: unknown;
  /** What a statement forgets, by its text. */
  readonly #effectsOf = new LRUCache<string, 'nothing' | 'rows' | 'all' | 'jobs'>({ max: 300 });

  /** Called when a transaction has begun. @param version differs once anybody else has written */
  begins(version: unknown): void {
    if (this.#version !== version) this.forget();
    this.#version = version;
  }

  /** Called when a transaction has committed that makes another version: the rows are true for that, too. */
  wrote(version: unknown): void {
    this.#version = version;
  }

  /** Called before a statement that does not keep the rows up to date. */
  sees(text: string): void {
    const effect = this.#effectsOf.get(text) ?? effectOf(text);
    this.#effectsOf.set(text, effect);
    if (effect === 'all') this.forget();
    if (effect === 'rows') this.#forgetRows();
    if (effect === 'jobs') this.jobs.forget();
  }

  forget(): void {
    this.#forgetRows();
    this.jobs.forget();
    this.repositoryStates.clear();
  }

  #forgetRows(): void {
    this.runs.clear();
    this.steps.clear();
    this.sessions.clear();
    this.outlines.clear();
    this.approvals.clear();
    this.effects.clear();
    this.openOnHeads.clear();
    this.gateProtections.clear();
    this.deliveries.clear();
  }
}

function effectOf(text: string): 'nothing' | 'rows' | 'all' | 'jobs' {
  if (/^\s*(select|begin|commit|savepoint|release)\b/i.test(text)) return 'nothing';
  const [, verb = '', table = ''] = /^\s*(insert into|update|delete from) "?(\w+)"?/i.exec(text) ?? [];
  if (table === 'jobs') return 'jobs';
  if (OTHER_TABLES.includes(table) && verb.toLowerCase() !== 'delete from') return 'nothing';
  return table === '' || table === 'repository_states' ? 'all' : 'rows';
}

type Job = Selectable<JobsTable>;

/** All jobs, unless they are many. */
export class KnownJobs {
  #all: Map<number, Job> | undefined;
  readonly #byKey = new Map<string, Job[]>();
  #pause = 0;

  /** All of them, or `undefined` if they are too many. @param read reads so many of the table */
  async load(read: (most: number) => Promise<Job[]>): Promise<ReadonlyMap<number, Job> | undefined> {
    if (this.#all) return this.#all;
    if (this.#pause-- > 0) return undefined;
    const rows = await read(MAX_JOBS + 1);
    this.#pause = 0;
    if (rows.length > MAX_JOBS) this.#pause = PAUSE;
    else {
      this.#all = new Map();
      for (const row of rows) this.put(row);
    }
    return this.#all;
  }

  ofKey(key: string): readonly Job[] {
    return this.#byKey.get(key) ?? [];
  }

  put(row: Job): void {
    if (!this.#all) return;
    this.remove(row.id);
    if (this.#all.size === MAX_JOBS) {
      this.forget();
      return;
    }
    this.#all.set(row.id, row);
    this.#byKey.set(row.key, [...this.ofKey(row.key), row]);
  }

  remove(id: number): void {
    const row = this.#all?.get(id);
    if (!row) return;
    this.#all?.delete(id);
    const left = this.ofKey(row.key).filter((other) => other.id !== id);
    if (left.length > 0) this.#byKey.set(row.key, left);
    else this.#byKey.delete(row.key);
  }

  forget(): void {
    this.#all = undefined;
    this.#byKey.clear();
  }
}
