import type BetterSqlite3 from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';

/** More than the adapter has different statements, apart from batches of many sizes. */
const STATEMENTS_KEPT = 300;

/** What is to be thrown in the place of what SQLite threw. */
type Translate = (error: unknown) => unknown;

/** Kysely's own SQLite dialect, but for the driver. */
export function sqliteDialect(db: BetterSqlite3.Database, translate: Translate): Dialect {
  return {
    createDriver: () => new ImmediateDriver(db, translate),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  };
}

/**
 * Differs from Kysely's driver in four things: transactions begin IMMEDIATE, since a plain BEGIN fails without
 * waiting when another process wrote between its first read and its first write; an error after which SQLite has
 * rolled back by itself (a full disk) is not hidden by that of a second rollback; errors are translated where they
 * arise, so that readings fail in the same words as transactions; and statements are prepared once.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #db: BetterSqlite3.Database;

  constructor(db: BetterSqlite3.Database, translate: Translate) {
    super({ database: preparingOnce(db, translate) });
    this.#db = db;
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
