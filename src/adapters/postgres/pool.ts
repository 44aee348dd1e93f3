import pg from 'pg';
import type { Place } from './place.ts';

/** The result of a statement. */
export interface Answer {
  /** `null` or left out for a statement that has none, such as BEGIN. */
  command?: string | null;
  rowCount?: number | null;
  rows: unknown[];
}

export function rowsOf<Row>(answer: Answer | undefined): Row[] {
  return (answer?.rows ?? []) as Row[];
}

/** A connection that somebody uses. */
export interface Client {
  /** One statement with parameters. */
  query(text: string, values: readonly unknown[]): Promise<Answer>;
  /** Several statements without parameters, in one round trip. */
  script(text: string): Promise<Answer[]>;
  /** @param isBroken it is closed then, and not used again */
  release(isBroken: boolean): void;
}

export interface Pool {
  /**
   * @param answersWithinMs after which a statement fails as on a connection that ended: a network that was cut may drop what is sent
   * without a word, and for longer than anybody waits. Without it, a statement may take any time.
   */
  connect(answersWithinMs?: number): Promise<Client>;
  end(): Promise<void>;
}

interface PoolOptions {
  /** By default 5, of which one writes and the others read. */
  connections?: number;
  /** How long a new connection may take, in milliseconds, and how long one waits for a free one. By default 5 s. */
  connectingMs?: number;
}

/** https://github.com/postgres/postgres/blob/REL_15_STABLE/src/include/catalog/pg_type.dat */
const [INT8, NUMERIC] = [20, 1700];

/**
 * Connections to the server. They need no state of a session, so PgBouncer may share them between transactions: no prepared
 * statements with a name, no parameters at the start but the name of the application.
 */
export function openPool({ url }: Place, { connections = 5, connectingMs = 5_000 }: PoolOptions = {}): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectingMs,
    keepAlive: true,
    application_name: 'countersign',
    types: { getTypeParser },
  });
  // Both would end the process. The next user of the connection gets the error.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    async connect(answersWithinMs) {
      const client = await pool.connect();
      const limit = answersWithinMs === undefined ? {} : { query_timeout: answersWithinMs };
      return {
        query: (text, values) => client.query({ text, values: [...values], ...limit }),
        async script(text) {
          const answers: Answer | Answer[] = await client.query({ text, ...limit });
          return Array.isArray(answers) ? answers : [answers];
        },
        release: (isBroken) => client.release(isBroken),
      };
    },
    end: () => pool.end(),
  };
}

/** Integers as numbers: ids of GitHub and counts are far below 2 to the power of 53. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8 || oid === NUMERIC ? toNumber : pg.types.getTypeParser(oid, format as 'text');

/** @throws RangeError if the number would not be the same */
function toNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && !Number.isSafeInteger(number))
    throw new RangeError(`${text} is too large a number`);
  return number;
}
