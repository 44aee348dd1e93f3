import { unreachable } from '../../core/errors.ts';

/** The operator's messages when the process starts, stops, or fails to start. */

export function badSettings(diagnostics: readonly string[]): string {
  const count = diagnostics.length === 1 ? 'One setting is' : `${diagnostics.length} settings are`;
  return `Countersign cannot start. ${count} wrong:\n${diagnostics.map((diagnostic) => `  - ${diagnostic}\n`).join('')}`;
}

export const NO_WEBHOOK_SECRET =
  'this Probot server accepts webhooks that are signed with Probot’s default secret, which everybody knows. Set WEBHOOK_SECRET to the ' +
  'webhook secret of your GitHub App.';

export const NEEDS_A_FILE =
  'in a Probot server, the database must be a file: set DATABASE_URL to sqlite:<path>.';

/** @param plugins of the Octokit class that a Probot server was given */
export function pluginsDoNotApply(plugins: readonly string[]): string {
  return `Octokit plugins of this Probot server do not apply to Countersign, which sends its requests itself: ${plugins.join(', ')}`;
}

export function cannotStart(because: string): string {
  return `Countersign cannot start: ${because}\n`;
}

/** @param file the file for the App's settings */
export function setupOffered(url: string, { file, isOpen }: { file: string; isOpen: boolean }): string {
  return (
    `No GitHub App is registered yet (APP_ID is not set).\n` +
    `Open ${url} to register one; its settings are then written to ${file}. Start again with them afterwards.\n` +
    (isOpen
      ? `HOST lets others reach that page, and whoever does decides which App this is: leave HOST out, or stop this as soon as you are done.\n`
      : '')
  );
}

export function setupDone(file: string): string {
  return (
    `The App's settings are in ${file} now, readable by you alone. Stop this (Ctrl-C) and start again with them.\n` +
    'Then install the App, and require the check `countersign: main` on the branch main, with the App as its source. ' +
    'GitHub\'s own merge button works without a countersign until you do: see docs/security.md, "Protect a branch".\n'
  );
}

/** Why the setup page refused a request that another site may have caused. */
export function setupRefused(because: 'host' | 'origin' | 'state' | 'length'): string {
  switch (because) {
    case 'host':
      return 'Open this page by localhost or by an address in numbers: other sites can point a name of theirs at this machine.';
    case 'origin':
      return 'This was not sent from the setup page itself, so it may be the work of another site. Nothing was changed.';
    case 'state':
      return 'This did not begin on the setup page of this process, so it may be the work of another site. Nothing was changed. Begin again at /setup.';
    case 'length':
      return 'This is longer than the settings of an App can be, or does not say how long it is. Nothing was changed.';
    default:
      return unreachable(because);
  }
}

export function setupFailed(because: string): string {
  return `The App could not be registered: ${because}\n`;
}

/** @param because such as "it answered 404" */
export function notConverted(because: string): string {
  return `GitHub did not give the credentials of the App: ${because}. It keeps them for an hour: load this page again. If that does not help, delete the App on GitHub and begin again at /setup.`;
}

/** @param name of the App that was registered first */
export function secondApp(name: string): string {
  return `the App “${name}” was registered first, and this process keeps the credentials of one. Delete the second App on GitHub.`;
}

export function noManifest(folder: string): string {
  return `no GitHub App is registered (APP_ID is not set), and none can be: app.yml, which says what to register, is not in ${folder}.`;
}

export function cannotKeepSettings(file: string, code: string): string {
  return (
    `no GitHub App is registered (APP_ID is not set), and the settings of a new one could not be kept, as ${file} cannot be written ` +
    `(${code}). Run npm start in a checkout on a machine of yours, register the App there, and give this process what is then in .env ` +
    '(docker run --env-file .env …); or start in a folder that can be written.'
  );
}

export function alreadyRegistered(file: string): string {
  return (
    `${file} holds the settings of an App already, but this process was not given them. Start it with them (npm start reads .env; ` +
    'countersign serve --settings .env does too), or move the file away to register another App.'
  );
}

export function cannotOfferSetup(because: string): string {
  return `the page that registers the App cannot be offered: ${because}`;
}

export function portTaken(port: number): string {
  return `another program uses port ${port}: stop it, or set PORT to another one.`;
}

export function listening(url: string): string {
  return `Countersign listens on ${url}`;
}

/** @param because a whole sentence */
export function noMetrics(because: string): string {
  return `there are no metrics: ${because} Set METRICS_PORT to another port, or to "off".`;
}

export function metricsAt(url: string): string {
  return `Metrics are at ${url}/metrics`;
}

/** @param reach whether the analyzers can reach the network */
export function analyzersShutIn(reach: 'cut' | 'open'): string {
  return reach === 'cut'
    ? 'the analyzers run without secrets and without network'
    : 'the analyzers run without secrets, but this machine does not let their network be cut (unshare --user --net, as containers often forbid)';
}

export const setUpWell = 'the check of the set-up found nothing wrong';

export const setUpUnchecked = 'how the App is set up could not be checked';

export const coreDumpsAllowed =
  'this machine lets a crash write the memory of this process to a file, and the keys are in it: start it behind ulimit -c 0';

export const stopping = 'stopping: no new webhooks are taken, work under way ends first';

/** The process that serves a database, from the lock file beside it; `since` is ISO 8601. */
export interface Server {
  pid: number;
  host: string;
  since: string;
}

const WHY_ALONE = 'only one process may serve a database';

export function waitingFor(server: Server | undefined, timeoutMs: number): string {
  return `waiting up to ${timeoutMs / 1_000} s for ${serverName(server)} to end: ${WHY_ALONE}`;
}

/** @see ADR 66 */
export const SERVED_BY_ANOTHER_NOW =
  'another process serves the database now, because this one could not reach it for too long: this one ends, and nothing more of it is written';

export function servedByAnother(server: Server | undefined): string {
  return (
    `its database is served by ${serverName(server)}, and ${WHY_ALONE}. ` +
    'Stop that process first, or give this one another DATABASE_URL.'
  );
}

export function migrateLater(server: Server | undefined): string {
  return `The database is served by ${serverName(server)}; stop that process before the database is brought up to date.`;
}

/** Why a process on PostgreSQL does not work yet: see ADR 73. @param server from `serverName` */
export function standingBy(server: string): string {
  return `standing by: ${server} does the work, and this one goes on with it if that one ends; webhooks are taken meanwhile`;
}

export const WORKS_NOW = 'this process works now';

/** @param installations their ids; 0 is what belongs to none of them */
export function worksForMore(installations: readonly number[]): string {
  return `this process now does ${workOf(installations)}`;
}

export function worksForFewer(installations: readonly number[]): string {
  return `another process may now do ${workOf(installations)}`;
}

/** @param by the session, such as "the server’s process 4711 of the user backup (pg_dump)" */
export function migrationWaits(by: string): string {
  return (
    'the tables cannot be changed for this version yet, because another session uses one of them: probably ' +
    `${by}. The migration is tried again for a minute, and other processes work meanwhile`
  );
}

export function notDivided(because: string): string {
  return `which process works for which installation could not be looked at (${because}): it is tried again twice a second`;
}

/** The list can have thousands. The log has all of them in a field. */
const MOST_NAMED = 5;

function workOf(installations: readonly number[]): string {
  const ids = installations.filter((id) => id !== 0);
  const more = ids.length - MOST_NAMED;
  const named = ids.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const parts = [
    ...(ids.length > 0
      ? [`the work of ${ids.length === 1 ? 'installation' : 'installations'} ${named}`]
      : []),
    ...(ids.length < installations.length ? ['what belongs to no installation, such as schedules'] : []),
  ];
  return parts.join(', and ');
}

export const TURN_UNKNOWN = 'standing by: the database could not yet say which process does the work';

export const ENGINE_STARTS_LATER = 'the work begins later: the database cannot be written to yet';

export function engineDidNotStart(because: string): string {
  return `the work could not be begun (${because}), so this process ends and another one can try`;
}

/** Such as "another process (pid 17 on web-1, since 2026-03-02T09:00:00.000Z)". */
export function serverName(server: Server | undefined): string {
  if (!server) return 'another process';
  return `another process (pid ${server.pid} on ${server.host}, since ${server.since})`;
}
