import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type QueryResult,
} from 'kysely';
import { PostgresForms } from '../sql/dialect.ts';
import type { Database } from '../sql/schema.ts';
import { ConnectionLost } from './failure.ts';
import type { Answer, Client } from './pool.ts';

/** One for all, because what is compiled once per database is remembered by it. */
const adapter = new PostgresAdapter();

/** A connection during one transaction. Its statements are refused once that is over. */
export class Connection implements DatabaseConnection {
  readonly db: Kysely<Database>;
  readonly #client: Client;
  readonly #translate: (error: unknown) => unknown;
  readonly #sees: (query: CompiledQuery) => void;
  #isOver = false;
  #lost: ConnectionLost | undefined;

  /** @param sees called before each statement that Kysely makes */
  constructor(
    client: Client,
    translate: (error: unknown) => unknown,
    sees: (query: CompiledQuery) => void = () => {},
  ) {
    this.#client = client;
    this.#translate = translate;
    this.#sees = sees;
    this.db = new Kysely({ dialect: dialectOn(this) });
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    this.#sees(query);
    const answer = await this.#asking(() =>
      this.#client.query(
        query.sql,
        query.parameters.map((value) => storable(value)),
      ),
    );
    return {
      rows: answer.rows as Row[],
      ...(changesRows(answer) && { numAffectedRows: BigInt(answer.rowCount ?? 0) }),
    };
  }

  // biome-ignore lint/correctness/useYield: no query of ours is streamed
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('results are not streamed');
  }

  /** Several statements in one round trip. */
  script(text: string): Promise<Answer[]> {
    return this.#asking(() => this.#client.script(text));
  }

  /** Ends the transaction without its changes. Never rejects. @returns whether the server may still be within it */
  async rollBack(): Promise<{ isWithin: boolean }> {
    try {
      await this.script('ROLLBACK');
      return { isWithin: false };
    } catch {
      return { isWithin: true };
    }
  }

  /** Gives the connection back. @param isBroken the server may still be within a transaction */
  end(isBroken = false): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#client.release(isBroken || this.isLost);
  }

  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#isOver) throw new Error('the transaction is over');
    // Nothing would answer, and each statement would wait for that.
    if (this.#lost) throw this.#lost;
    try {
      return await ask();
    } catch (error) {
      const failure = this.#translate(error);
      if (failure instanceof ConnectionLost) this.#lost = failure;
      throw failure;
    }
  }
}

function changesRows({ command }: Answer): boolean {
  return command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
}

/**
 * PostgreSQL's texts cannot have the character 0, which programs may print. The substitute is as long in bytes, by which lines of
 * running sessions are counted.
 */
export function storable<T>(value: T | string): T | string {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\x1a') : value;
}

function dialectOn(connection: DatabaseConnection): Dialect {
  return {
    createAdapter: () => adapter,
    createDriver: () => new OneConnection(connection),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresForms(),
  };
}

/** Kysely begins and ends no transactions: each is the connection's whole life. */
class OneConnection implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  async beginTransaction(): Promise<void> {
    throw new Error('a transaction is open already');
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}
