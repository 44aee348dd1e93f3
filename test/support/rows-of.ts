import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';
import { noteCommit } from '../../src/adapters/postgres/commits.ts';
import { isPostgres } from '../../src/composition/storage.ts';

/** Runs one statement on the database of an app, whichever that is. @returns its rows, with integers as numbers */
export async function rowsOf<Row = Record<string, unknown>>(
  databaseUrl: string,
  statement: string,
): Promise<Row[]> {
  if (isPostgres(databaseUrl)) {
    const client = new pg.Client({ connectionString: databaseUrl });
    client.setTypeParser(pg.types.builtins.INT8, Number);
    await client.connect();
    try {
      const { command, rows } = await client.query(statement);
      // SQLite says by itself that somebody else has written.
      if (command !== 'SELECT') await client.query(noteCommit('test'));
      return rows as Row[];
    } finally {
      await client.end();
    }
  }
  const database = new BetterSqlite3(databaseUrl.slice('sqlite:'.length));
  try {
    const prepared = database.prepare<[], Row>(statement);
    if (prepared.reader) return prepared.all();
    prepared.run();
    return [];
  } finally {
    database.close();
  }
}
