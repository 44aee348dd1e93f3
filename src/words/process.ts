/** What the operator reads when the process starts, stops, or cannot. */

export function badSettings(faults: readonly string[]): string {
  const count = faults.length === 1 ? 'One setting is' : `${faults.length} settings are`;
  return `Countersign cannot start. ${count} wrong:\n${faults.map((fault) => `  - ${fault}\n`).join('')}`;
}

export function cannotStart(because: string): string {
  return `Countersign cannot start: ${because}\n`;
}

export function setupOffered(port: number, publicUrl: string | undefined): string {
  return (
    `No GitHub App is registered yet (APP_ID is not set).\n` +
    `Open http://localhost:${port} to register one; its settings are then written to .env. Start again afterwards.\n` +
    (publicUrl === undefined
      ? `Set PUBLIC_URL first to the address under which GitHub reaches this server, or correct the webhook's address in the App's settings later.\n`
      : '')
  );
}

export function listening(url: string): string {
  return `Countersign listens on ${url}`;
}

/** @param reach whether the analyzers could reach the network. */
export function analyzersShutIn(reach: 'cut' | 'open'): string {
  return reach === 'cut'
    ? 'the analyzers run without secrets and without network'
    : 'the analyzers run without secrets, but this machine does not let their network be cut (unshare --user --net, as containers often forbid)';
}

export const stopping = 'stopping: no new webhooks are taken, work under way ends first';

/** Who serves a database, as the lock beside it tells; `since` is ISO-8601. */
export interface Server {
  pid: number;
  host: string;
  since: string;
}

const WHY_ALONE = 'only one process may serve a database';

export function waitingFor(server: Server | undefined, patienceMs: number): string {
  return `waiting up to ${patienceMs / 1_000} s for ${named(server)} to end: ${WHY_ALONE}`;
}

export function servedByAnother(server: Server | undefined): string {
  return (
    `its database is served by ${named(server)}, and ${WHY_ALONE}. ` +
    'Stop that process first, or give this one another DATABASE_URL.'
  );
}

export function migrateLater(server: Server | undefined): string {
  return `The database is served by ${named(server)}; stop that process before the database is brought up to date.`;
}

function named(server: Server | undefined): string {
  if (!server) return 'another process';
  return `another process (pid ${server.pid} on ${server.host}, since ${server.since})`;
}
