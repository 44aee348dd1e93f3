import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import BetterSqlite3 from 'better-sqlite3';
import { createNodeMiddleware, Probot } from 'probot';
import { PATH, SECRET } from './deliveries.ts';
import { listenAndReport } from './listen.ts';

/**
 * The peer: Probot as documented, with a handler that commits one row per delivery before Probot answers. The
 * table has the columns of ours. The database has SQLite's defaults except for durability (WAL, a sync at
 * every commit), because the tuning of pages and checkpoints is part of the comparison.
 */
const [path = ''] = process.argv.slice(2);
const db = new BetterSqlite3(path);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(`
  CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY, guid TEXT NOT NULL UNIQUE, event TEXT NOT NULL, action TEXT,
    installation_id INTEGER, received_at TEXT NOT NULL, status TEXT NOT NULL, body TEXT NOT NULL
  ) STRICT
`);
const insert = db.prepare(`
  INSERT INTO deliveries (guid, event, action, installation_id, received_at, status, body)
  VALUES (?, ?, ?, ?, ?, 'received', ?) ON CONFLICT (guid) DO NOTHING
`);

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const probot = new Probot({ appId: 1, privateKey, secret: SECRET, logLevel: 'fatal' });
const middleware = await createNodeMiddleware(
  (app) => {
    app.on('pull_request', ({ id, name, payload }) => {
      const now = new Date().toISOString();
      insert.run(
        id,
        name,
        payload.action,
        'installation' in payload ? (payload.installation?.id ?? null) : null,
        now,
        JSON.stringify(payload),
      );
    });
  },
  { probot, webhooksPath: PATH },
);

listenAndReport(createServer((request, response) => void middleware(request, response)));
