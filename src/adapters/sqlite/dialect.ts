import type BetterSqlite3 from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';
import type { LockWait } from './lock-wait.ts';

/** More than the adapter has different statements, apart from batches of many sizes. */
const STATEMENTS_KEPT = 300;

/** What is to be thrown in the place of what SQLite threw. */
type Translate = (error: unknown) => unknown;

/** How statements wait for the lock of another process. */
export interface LockWaitPolicy {
  lock: LockWait;
  /** When to give up what the running code asks for, by the lock's clock; `undefined` when it has no time of its own. */
  exhaustedAt(): number | undefined;
}

/**
 * Kysely's own SQLite dialect, but for the driver.
 * @param patience left out, a locked file is an error at once.
 */
export function sqliteDialect(
  db: BetterSqlite3.Database,
  translate: Translate,
  lockWait?: LockWaitPolicy,
): Dialect {
  return {
    createDriver: () => new ImmediateDriver(db, translate, lockWait),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  };
}

/**
 * Differs from Kysely's driver in five things: transactions begin IMMEDIATE, since a plain BEGIN fails without
 * waiting when another process wrote between its first read and its first write; an error after which SQLite has
 * rolled back by itself (a full disk) is not hidden by that of a second rollback; errors are translated where they
 * arise, so that readings fail in the same words as transactions; statements are prepared once; and what finds the file locked waits
 * without standing still.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #db: BetterSqlite3.Database;
  readonly #lockWait: LockWaitPolicy | undefined;
  #connection: DatabaseConnection | undefined;

  constructor(db: BetterSqlite3.Database, translate: Translate, lockWait: LockWaitPolicy | undefined) {
    super({ database: preparingOnce(db, translate) });
    this.#db = db;
    this.#lockWait = lockWait;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#connection ??= this.#waiting(await super.acquireConnection());
    return this.#connection;
  }

  /**
   * Only outside of a transaction, where a statement that met the lock has done nothing: that is the one that begins a transaction,
   * and each reading. Inside, the lock is ours.
   */
  #waiting(connection: DatabaseConnection): DatabaseConnection {
    const lockWait = this.#lockWait;
    if (!lockWait) return connection;
    const db = this.#db;
    return {
      executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
        const work = () => connection.executeQuery<Row>(query);
        return db.inTransaction ? work() : lockWait.lock.outlast(work, lockWait.exhaustedAt());
      },
      streamQuery: (query, size) => connection.streamQuery(query, size),
    };
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#db.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
}

/** Keeps the statements used last; SQLite itself prepares them again when the schema changes. */
function preparingOnce(db: BetterSqlite3.Database, translate: Translate): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  const translated = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw translate(error);
    }
  };
  return {
    prepare(sql) {
      const statement = statements.get(sql) ?? prepare(sql);
      statements.delete(sql);
      statements.set(sql, statement);
      if (statements.size > STATEMENTS_KEPT) {
        const [oldest] = statements.keys();
        if (oldest !== undefined) statements.delete(oldest);
      }
      return statement;
    },
    close: () => db.close(),
  };

  function prepare(sql: string): SqliteStatement {
    const statement = translated(() => db.prepare<unknown[]>(sql));
    return {
      reader: statement.reader,
      all: (parameters) => translated(() => statement.all(...parameters)),
      run: (parameters) => translated(() => statement.run(...parameters)),
      iterate: (parameters) => statement.iterate(...parameters) as IterableIterator<unknown>,
    };
  }
}
