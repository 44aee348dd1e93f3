import { existsSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { databaseIn } from './app-process.ts';

/** The accepted deliveries that the engine has not taken over from the inbox yet. */
export function notTaken(folder: string): { guid: string; event: string }[] {
  const path = `${databaseIn(folder)}-inbox`;
  if (!existsSync(path)) return [];
  const database = new BetterSqlite3(databaseIn(folder), { readonly: true });
  const inbox = new BetterSqlite3(path, { readonly: true });
  try {
    const id = inbox.prepare('SELECT id FROM identity').pluck().get();
    const cursor = database.prepare("SELECT position_json FROM cursors WHERE name = 'inbox:' || ?");
    const rows = inbox.prepare('SELECT deliveries FROM recorded WHERE id > ? ORDER BY id').pluck();
    const commits = rows.all(Number(cursor.pluck().get(id) ?? 0)) as string[];
    return commits.flatMap((text) => JSON.parse(text));
  } finally {
    inbox.close();
    database.close();
  }
}
