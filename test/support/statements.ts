import BetterSqlite3 from 'better-sqlite3';

/** What an app has asked of its database since the last reset. */
export interface DatabaseWork {
  /** Statements that read or write, without those that begin, save or end a transaction. */
  statements: number;
  /** Transactions that wrote something and so waited for the disk. */
  commits: number;
  /** How often each kind of statement ran, most frequent first, as lines for people. */
  histogram: string;
  /** How many statements wrote to the table. */
  writesTo(table: string): number;
}

interface Statement {
  all(...given: unknown[]): { count?: number }[];
  run(...given: unknown[]): unknown;
}
interface Driver {
  prepare(this: BetterSqlite3.Database, sql: string): Statement;
}

const CONTROL = /^(begin|commit|rollback|savepoint|release)/;

/**
 * Counts the statements of every database that is opened while it watches, in this thread. It watches below
 * the app, so that nothing can be left out.
 */
export function watchDatabases(): { work(): DatabaseWork; reset(): void; stop(): void } {
  const driver = BetterSqlite3.prototype as unknown as Driver;
  const { prepare } = driver;
  const changesBefore = new WeakMap<object, number>();
  let statements: string[] = [];
  let commits = 0;

  function changesOf(database: BetterSqlite3.Database): number {
    const [row] = prepare.call(database, 'select total_changes() as count').all();
    return row?.count ?? 0;
  }

  function note(database: BetterSqlite3.Database, sql: string): void {
    const control = CONTROL.exec(sql)?.[1];
    if (control === 'begin') changesBefore.set(database, changesOf(database));
    if (control === 'commit' && changesOf(database) > (changesBefore.get(database) ?? 0)) commits += 1;
    if (control === undefined) statements.push(kindOf(sql));
  }

  driver.prepare = function watched(sql) {
    const statement = prepare.call(this, sql);
    const { all, run } = statement;
    statement.all = (...given) => {
      note(this, sql);
      return all.apply(statement, given);
    };
    statement.run = (...given) => {
      note(this, sql);
      return run.apply(statement, given);
    };
    return statement;
  };

  return {
    work() {
      const counts = new Map<string, number>();
      for (const kind of statements) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
      const seen = statements;
      return {
        statements: seen.length,
        commits,
        histogram: sorted.map(([kind, count]) => `${count} × ${kind}`).join('\n'),
        writesTo: (table) =>
          seen.filter((kind) => /^(insert|update|delete)/.test(kind) && kind.endsWith(` ${table}`)).length,
      };
    },
    reset() {
      statements = [];
      commits = 0;
    },
    stop() {
      driver.prepare = prepare;
    },
  };
}

/** Its verb and its table. */
function kindOf(sql: string): string {
  const plain = sql.replaceAll('"', '');
  const [, verb = ''] = /^\s*(\w+)/.exec(plain) ?? [];
  const [, table = ''] = /(?:from|into|update) (\w+)/.exec(plain) ?? [];
  return `${verb} ${table}`;
}
