import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { watchDatabases } from '../../test/support/statements.ts';
import { ownedBy } from '../postgres-cpu.ts';
import type { Target } from './fill.ts';

/** Where the databases of one run of the bench are. */
export interface Place {
  /** Another migrated database each time, and a connection to it below the app. */
  make(name: string): Promise<{ url: string; connect(): Promise<Target & { end(): Promise<void> }> }>;
  /** Processor time of the database's server in milliseconds, apart from this process. */
  serverMs(): number;
  /** Statements so far of all databases, from this thread. */
  statements(): number;
  remove(): Promise<void>;
}

export async function placeOf(kind: Target['kind'], folder: string): Promise<Place> {
  return kind === 'sqlite' ? sqlitePlace(folder) : postgresPlace(await startPostgres({ parent: folder }));
}

function sqlitePlace(folder: string): Place {
  const watched = watchDatabases();
  return {
    async make(name) {
      const path = join(folder, `${name}.db`);
      return {
        url: `sqlite:${path}`,
        async connect() {
          const db = new BetterSqlite3(path);
          return {
            kind: 'sqlite',
            async run(sql) {
              const statement = db.prepare(sql);
              if (statement.reader) return statement.all() as Record<string, unknown>[];
              statement.run();
              return [];
            },
            async end() {
              db.close();
            },
          };
        },
      };
    },
    serverMs: () => 0,
    statements: () => watched.work().statements,
    async remove() {
      watched.stop();
    },
  };
}

function postgresPlace(server: PostgresServer): Place {
  const watched = watchClients();
  const { serverMs } = ownedBy(server);
  return {
    async make() {
      const url = await server.newMigrated();
      return {
        url,
        async connect() {
          const client = new pg.Client({ connectionString: url });
          await client.connect();
          return {
            kind: 'postgres',
            async run(sql) {
              const answers = (await client.query(sql)) as pg.QueryResult | pg.QueryResult[];
              return (Array.isArray(answers) ? answers.at(-1) : answers)?.rows ?? [];
            },
            end: () => client.end(),
          };
        },
      };
    },
    serverMs,
    statements: () => watched.count(),
    async remove() {
      watched.stop();
      await server.remove();
    },
  };
}

/** Statements of Kysely, which have values beside their text; those that begin and end transactions have none. */
function watchClients(): { count(): number; stop(): void } {
  const driver = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
  const { query } = driver;
  let count = 0;
  driver.query = function watched(this: unknown, ...given) {
    const [asked] = given;
    if (typeof asked === 'object' && asked !== null && 'values' in asked) count += 1;
    return query.apply(this, given);
  };
  return {
    count: () => count,
    stop() {
      driver.query = query;
    },
  };
}
