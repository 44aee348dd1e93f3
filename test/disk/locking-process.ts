// Takes and releases the write lock of a database, as each line of standard input says. Argument: the database's path.
import { createInterface } from 'node:readline';
import BetterSqlite3 from 'better-sqlite3';

const db = new BetterSqlite3(process.argv[2] ?? '');
for await (const line of createInterface({ input: process.stdin })) {
  db.exec(line === 'lock' ? 'begin immediate' : 'rollback');
  process.stdout.write(line === 'lock' ? 'locked\n' : 'free\n');
}
