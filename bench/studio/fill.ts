import BetterSqlite3 from 'better-sqlite3';

const DAY_MS = 86_400_000;

export interface Fill {
  path: string;
  runs: number;
  /** The days before `now` over which they are spread. */
  days: number;
  now: Date;
  repositories: number;
  /** One run of so many is a copy of one that waits for a person; the others are copies of finished ones. */
  waitingEvery: number;
  /** Pull requests of runs that are older were closed meanwhile, unless they wait for a person. */
  closedAfterDays: number;
}

/** Nobody has it, so the app cannot ask GitHub about pull requests that the stand-in does not have. */
const NO_INSTALLATION = 404_404;

type Row = Record<string, unknown>;
interface Template {
  at: number;
  isOver: boolean;
  rows: [table: string, row: Row][];
}

/** The tables with the rows of a run, and how they name it. */
const OF_RUN: readonly (readonly [table: string, where: string])[] = [
  ['chain_runs', 'id = ?'],
  ['invocations', 'run_id = ?'],
  ['sessions', 'invocation_id IN (SELECT id FROM invocations WHERE run_id = ?)'],
  ['artifacts', 'run_id = ?'],
  ['approvals', 'run_id = ?'],
  ['effects', 'run_id = ?'],
];
const ID = /\b(run|inv|ses|art|apr|eff)_[0-9a-z]{20,}\b/g;
const TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;

/**
 * Copies the runs of a database until there are as many as wanted, each with rows, ids, times and a pull request of
 * its own, spread over time and repositories. So every copy is one that the app itself could have written. Uses SQL
 * without the app, which would take hours.
 */
export function fill({ path, runs, days, now, repositories, waitingEvery, closedAfterDays }: Fill): {
  runs: number;
  transitions: number;
} {
  const db = new BetterSqlite3(path);
  db.pragma('synchronous = OFF');
  db.pragma('foreign_keys = OFF');
  db.pragma('cache_size = -524288');
  const templates = db
    .prepare<[], { id: string; created_at: string; finished_at: string | null }>(
      'SELECT id, created_at, finished_at FROM chain_runs',
    )
    .all()
    .map(({ id, created_at, finished_at }) => ({
      at: Date.parse(created_at),
      isOver: finished_at !== null,
      rows: rowsOf(db, id),
    }));
  const finished = templates.filter(({ isOver }) => isOver);
  const [waiting] = templates.filter(({ isOver }) => !isOver);
  if (finished.length === 0 || !waiting) throw new Error('there is no finished or no waiting run to copy');
  const inserts = new Map<string, (row: Row) => void>();
  const insert = (table: string, row: Row) => {
    let into = inserts.get(table);
    if (!into) {
      const columns = Object.keys(row);
      const values = columns.map((column) => `@${column}`);
      const statement = db.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${values.join()})`);
      into = (one) => void statement.run(one);
      inserts.set(table, into);
    }
    into(row);
  };

  const copy = db.transaction((from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const template: Template =
        n % waitingEvery === 0 ? waiting : (finished[n % finished.length] ?? waiting);
      const at = now.getTime() - days * DAY_MS + ((days * DAY_MS) / runs) * n;
      const place = n % repositories;
      const moved = rewritten(n, at - template.at);
      const repository = { repository_id: 9_000 + place, repository: `acme/rocket-${place}` };
      for (const [table, row] of template.rows) {
        const own = Object.fromEntries(Object.entries(row).map(([column, value]) => [column, moved(value)]));
        if ('repository_id' in own) {
          Object.assign(own, repository, { [table === 'pull_requests' ? 'number' : 'pull_request']: n + 1 });
        }
        if (table === 'chain_runs') own.delivery_id = null;
        if ('installation_id' in own && template === waiting) own.installation_id = NO_INSTALLATION;
        if (table === 'effects') own.key = `${String(own.key)}:${n}`;
        const isOld = at < now.getTime() - closedAfterDays * DAY_MS;
        if (own.state === 'open' && isOld && template !== waiting) own.state = 'closed';
        insert(table, own);
      }
    }
  });
  const CHUNK = 2_000;
  for (let from = 0; from < runs; from += CHUNK) copy(from, Math.min(runs, from + CHUNK));
  db.exec('ANALYZE');
  db.pragma('wal_checkpoint(TRUNCATE)');
  const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  const counted = { runs: count('chain_runs'), transitions: count('transitions') };
  db.close();
  return counted;
}

/** The rows of a run, without the numbers that the database gives them. */
function rowsOf(db: BetterSqlite3.Database, id: string): [table: string, row: Row][] {
  const rows = OF_RUN.flatMap(([table, where]) =>
    db
      .prepare<[string], Row>(`SELECT * FROM ${table} WHERE ${where}`)
      .all(id)
      .map((row): [string, Row] => [table, row]),
  );
  const subjects = rows.flatMap(([table, row]) =>
    ['chain_runs', 'invocations', 'sessions'].includes(table) ? [String(row.id)] : [],
  );
  const transitions = subjects.flatMap((subject) =>
    db.prepare<[string], Row>('SELECT * FROM transitions WHERE subject_id = ?').all(subject),
  );
  const pullRequests = db
    .prepare<[string], Row>(
      `SELECT p.* FROM pull_requests AS p
        JOIN chain_runs AS r ON r.repository_id = p.repository_id AND r.pull_request = p.number WHERE r.id = ?`,
    )
    .all(id);
  return [
    ...rows,
    ...pullRequests.map((row): [string, Row] => ['pull_requests', row]),
    ...transitions.map(({ id: _, ...row }): [string, Row] => ['transitions', row]),
  ];
}

/** Values of the copy with this number: other ids, and times that are later by so many milliseconds. */
function rewritten(n: number, laterMs: number): (value: unknown) => unknown {
  const name = n.toString(36).padStart(8, '0');
  return (value) =>
    typeof value === 'string'
      ? value
          .replaceAll(ID, (id) => id.slice(0, -8) + name)
          .replaceAll(TIME, (time) => new Date(Date.parse(time) + laterMs).toISOString())
      : value;
}
