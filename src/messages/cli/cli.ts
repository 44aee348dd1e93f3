import { basename, dirname } from 'node:path';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { formatDuration } from '../../core/duration.ts';
import type { Contract } from '../../domain/artifact/contract.ts';
import type { Chain, Step } from '../../domain/chain/chain.ts';
import { topologicalOrder } from '../../domain/chain/graph.ts';
import type { Scope } from '../../domain/chain/scope.ts';
import { nameOfTrigger, type TriggerFilter, triggersOf } from '../../domain/chain/trigger-schema.ts';
import { wantedByStep } from '../../domain/policy/countersign-rules.ts';
import { plainLine } from '../../domain/run/explain.ts';
import type { Run } from '../../domain/run/run.ts';
import type { DeliveryStatus, DeliverySummary } from '../../ports/storage.ts';
import { contractSummary } from '../run/artifacts.ts';
import { asSentence, listed, plural, short } from '../text/pretty.ts';
import { PLAIN, paint, type Screen } from '../text/screen.ts';
import { becauseOf, diagnosticLines, noSuch } from './diagnostics.ts';
import { table } from './table.ts';
import { deliveryList, type ListedRun, runList } from './terminal.ts';

/** The maximum length of a list on the command line. */
export const MAX_LISTED = 1_000;

export const NOTHING_ASKED = 'Say what to do; countersign --help lists the commands.';

/** Commander's message as one sentence: `Unknown option '--jsn' (did you mean --json?).` */
export function usageSentence(message: string): string {
  const sentence = message
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace('(Did ', '(did ');
  const [, unknown, missing] =
    /^(?:unknown (command|option)|missing required (argument)) '[^']*'$/.exec(sentence) ?? [];
  const hint = unknown ? `; --help lists the ${unknown}s` : missing ? '; --help says what it can be' : '';
  return asSentence(plainLine(`${sentence}${hint}`));
}

export function runTable(
  runs: readonly ListedRun[],
  filtered: boolean,
  now: Date,
  screen: Screen = PLAIN,
): string {
  if (runs.length > 0) return runList(runs, now, screen);
  return filtered ? 'No such runs.' : 'No runs yet.';
}

export function deliveryTable(
  deliveries: readonly DeliverySummary[],
  status: DeliveryStatus | undefined,
  now: Date,
  screen: Screen = PLAIN,
): string {
  if (deliveries.length > 0) return deliveryList(deliveries, now, screen);
  return status === undefined ? 'No deliveries yet.' : `No deliveries are ${status}.`;
}

export function unknownRun(id: string): string {
  return `There is no run ${plainLine(id)}; countersign run list shows those there are.`;
}

export function noRunsOf(pullRequest: string): string {
  return `No chain has run for ${plainLine(pullRequest)}; countersign run list shows the runs there are.`;
}

/** The tree of one run among several of a pull request. */
export function whyOfRun({ id, chain }: Run, tree: string): string {
  return `${chain} (${id})\n${tree}`;
}

/** The conditions of a chain as its author wrote them; none if it has none. */
export function conditionsOf({ steps }: Run['definition']): string[] {
  const lines = steps.flatMap(({ id, condition }) =>
    condition === undefined ? [] : [`  ${id}: ${withoutBraces(plainLine(condition))}`],
  );
  return lines.length === 0 ? [] : [['Conditions:', ...lines].join('\n')];
}

export function runIsOver(run: Run, now: Date): string {
  const when = run.finishedAt ?? run.updatedAt;
  const age = formatDuration(Math.max(0, now.getTime() - when.getTime()));
  return `The run ${run.id} is over already (${run.status}, ${age} ago), so there is nothing to cancel.`;
}

export function cancelAsked(run: Run): string {
  return `Asked for: the app cancels ${run.id} (${run.chain}, ${place(run)}) at once, or when it next runs.`;
}

export function notAChainName(chain: string): string {
  return `${plainLine(chain)} is no name of a chain: small letters, digits and - are, and a letter comes first.`;
}

/** @param because a sentence */
export function unknownRepository(repository: string, because: string): string {
  return (
    `Nothing has run for ${repository} yet, and GitHub does not say which installation of the App it belongs to. ${because} ` +
    'Run this command where the App’s settings are, or open a pull request there first.'
  );
}

export function withoutInstallation(repository: string): string {
  return `The App is not installed on ${repository}, or there is no such repository. Install it there, on the App’s page on GitHub.`;
}

/** @param waitedMs how long the command has waited in vain */
export function fireAsked(chain: string, fired: FiredFor, waitedMs: number): string {
  const place = placeFiredFor(fired);
  const { repo, pr } = fired;
  const first =
    waitedMs === 0
      ? `Asked for: the app fires ${chain} for ${place} at once, or when it next runs.`
      : `The app has not answered within ${waitedMs / 1_000} s: it fires ${chain} for ${place} when it next runs.`;
  const only = pr === null ? '' : ` --pr ${pr}`;
  return `${first}\ncountersign run list --repo ${plainLine(repo)}${only} shows what comes of it.`;
}

export function fireBegun(chain: string, fired: FiredFor, run: string): string {
  return `Fired ${chain} for ${placeFiredFor(fired)}: run ${run} has begun.\ncountersign run show ${run} shows it.`;
}

/** A pull request, or a branch: the default one if none is named. */
interface FiredFor {
  repo: string;
  pr: number | null;
  ref: string | undefined;
}

function placeFiredFor({ repo, pr, ref }: FiredFor): string {
  if (pr !== null) return `${plainLine(repo)}#${pr}`;
  return `${ref === undefined ? 'the default branch' : `the branch ${plainLine(ref)}`} of ${plainLine(repo)}`;
}

export function notFired(because: string): string {
  return asSentence(`not fired: ${plainLine(because)}`);
}

export function unknownDelivery(guid: string): string {
  return `There is no delivery ${plainLine(guid)}: give the number or the GUID of one that countersign delivery list shows.`;
}

export function unseenRepository(repository: string): string {
  return `There has been no run for ${plainLine(repository)} yet.`;
}

export function unknownOrganisation(owner: string): string {
  return `No settings of ${plainLine(owner)} are remembered, so there is nothing to forget.`;
}

export function organisationForgotten(owner: string, { sha }: { sha: string }): string {
  return `The settings of ${plainLine(owner)} (${short(sha)}) are forgotten. As long as GitHub shows none, its repositories go by their own.`;
}

export function deliveryWithoutBody(guid: string, what: 'processed again' | 'explained'): string {
  return `What GitHub sent with ${plainLine(guid)} is older than RETENTION keeps it, so it cannot be ${what}.`;
}

export function deliveryIsWaiting(guid: string, status: 'received' | 'processing'): string {
  const state = status === 'received' ? 'waits to be processed' : 'is being processed';
  return `The delivery ${plainLine(guid)} ${state}, so there is nothing to replay.`;
}

export function replayAsked({ guid, event, action }: DeliverySummary): string {
  const what = action === null ? event : `${event}.${action}`;
  return `Asked for: the app processes ${plainLine(guid)} (${plainLine(what)}) again at once, or when it next runs.`;
}

/**
 * @param diagnostics as the configuration reports them, each starting with the variable's name
 * @param argument what named the database, if not that variable
 */
export function badDatabase(diagnostics: readonly string[], argument = 'DATABASE_URL'): string {
  return asSentence(diagnostics.join('; ').replace('DATABASE_URL', argument));
}

export const IN_MEMORY =
  'A database in memory belongs to the process that made it, so there is nothing to see from outside.';

export const BACKUP_BY_PG_DUMP =
  'The backup was not written: a database of PostgreSQL is backed up with pg_dump, as docs/operations.md says.';

export const NOTHING_TO_VACUUM =
  'PostgreSQL gives back and reuses free pages by itself, so there is nothing to do.';

export function noDatabase(path: string): string {
  return `There is no database at ${plainLine(path)}; start the app, or make one with countersign db migrate.`;
}

export function olderDatabase(path: string, missing: readonly string[]): string {
  return (
    `The database ${plainLine(path)} lacks ${plural(missing.length, 'migration')} of this version of Countersign ` +
    `(${listed(missing, 'and')}); run countersign db migrate, or start the app, which does the same.`
  );
}

export function migrated(done: { database: string; from: number; to: number; applied: readonly string[] }) {
  const { from, to, applied } = done;
  const database = plainLine(done.database);
  if (applied.length === 0) return `The database ${database} is up to date already (version ${to}).`;
  const what = from === 0 ? `Made the database ${database}` : `Brought the database ${database} up to date`;
  return `${what}, version ${from === 0 ? to : `${from} to ${to}`}: applied ${listed(applied, 'and')}.`;
}

export function backedUp(database: string, file: string): string {
  return `Backed up ${plainLine(database)} to ${plainLine(file)}.`;
}

/** Sizes in bytes. */
export function vacuumed({ database, before, after }: { database: string; before: number; after: number }) {
  const sizes = `${megabytes(before)} before, ${megabytes(after)} now`;
  return `Rewrote ${plainLine(database)}: ${sizes}. From now on its free pages are given back as they come.`;
}

export function noRoomToVacuum(database: string, needed: number): string {
  return `There is too little room to rewrite ${plainLine(database)}: ${megabytes(needed)} are needed beside it. Nothing was changed.`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** @param diagnostics as the configuration reports them, each starting with the variable's name */
export function badArtifacts(diagnostics: readonly string[]): string {
  return asSentence(diagnostics.join('; '));
}

export function noArtifacts(folder: string): string {
  return `There is no folder ${plainLine(folder)} for artifacts; correct ARTIFACTS_URL, or start the app, which makes it.`;
}

export function pruned(done: {
  runs: number;
  artifacts: number;
  traces: number;
  blobs: number;
  dryRun: boolean;
}): string {
  const { runs, artifacts, traces, blobs, dryRun } = done;
  if (artifacts + traces === 0) return 'There is nothing to prune.';
  const traced = traces === 0 ? '' : ` and ${plural(traces, 'trace')}`;
  const what = `${plural(artifacts, 'artifact')}${traced} of ${plural(runs, 'run')}, ${plural(blobs, 'blob')} among them`;
  return dryRun ? `Would delete ${what}.` : `Deleted ${what}.`;
}

/** Per kind, in the text output of `artifact check`. */
const MAX_PATHS = 20;

/** The report of `artifact check`: each problem with its path, then a line with the totals. */
export function artifactsChecked(found: {
  blobs: number;
  rows: number;
  tooYoung: number;
  blobsWithoutRows: readonly string[];
  rowsWithoutBlobs: readonly string[];
  damaged: readonly string[];
  repaired: boolean;
}): string {
  const { blobs, rows, tooYoung, blobsWithoutRows, rowsWithoutBlobs, damaged, repaired } = found;
  const done = repaired ? ' (deleted)' : '';
  const lines = [
    ...limitedLines(blobsWithoutRows, (path) => `${path}: a blob without a row${done}`),
    ...limitedLines(rowsWithoutBlobs, (path) => `${path}: a row without a blob${done}`),
    ...limitedLines(damaged, (path) => `${path}: damaged`),
  ];
  const diagnostics = [
    `${plural(blobsWithoutRows.length, 'blob')} without a row`,
    `${plural(rowsWithoutBlobs.length, 'row')} without a blob`,
    ...(damaged.length > 0 ? [`${damaged.length} damaged`] : []),
  ];
  const young =
    tooYoung === 0
      ? ''
      : ` ${plural(tooYoung, 'new blob')} may still get a row and ${tooYoung === 1 ? 'was' : 'were'} left alone.`;
  const summary = lines.length === 0 ? 'no errors' : listed(diagnostics, 'and');
  return [
    ...lines,
    ...(lines.length === 0 ? [] : ['']),
    `Checked ${plural(blobs, 'blob')} and ${plural(rows, 'row')}: ${summary}.${young}`,
  ].join('\n');
}

function limitedLines(paths: readonly string[], describe: (path: string) => string): string[] {
  const more = paths.length - MAX_PATHS;
  const shown = paths.slice(0, MAX_PATHS).map((path) => describe(plainLine(path)));
  return more > 0 ? [...shown, `… and ${more} more; --json lists all.`] : shown;
}

export const STRANGE_STORE =
  'Nothing was repaired, because not one blob of this store has a row in this database: DATABASE_URL and ARTIFACTS_URL ' +
  'hardly belong together. If they do, empty the store by hand.';

export const NO_DEMO =
  'The demo needs a checkout of the repository: clone it, run npm ci, then npm run demo.';

export function unreadableSettings(file: string, because: string): string {
  return `--settings: ${plainLine(file)} cannot be read: ${plainLine(because)}.`;
}

export function noSuchPath(path: string): string {
  return `There is no file or folder ${plainLine(path)}.`;
}

/** @param code the system's error code, such as `ENOENT` */
export function unreadableFile(file: string, code?: string): string {
  if (code === 'ENOENT') return noSuchPath(file);
  if (code === 'EISDIR') return `${plainLine(file)} is a folder, and this needs a file.`;
  return `The file ${plainLine(file)} cannot be read${inBrackets(code)}.`;
}

export function unwritableFile(file: string, code?: string): string {
  if (code === 'EEXIST') {
    return `${plainLine(file)} is there already, and is not written over: name another file, or remove this one first.`;
  }
  if (code === 'ENOENT')
    return `There is no folder ${plainLine(dirname(file))} to write ${plainLine(basename(file))} to.`;
  return `The file ${plainLine(file)} cannot be written${inBrackets(code)}.`;
}

function inBrackets(code: string | undefined): string {
  return code === undefined ? '' : ` (${code})`;
}

/** @param paths where the user asked to search; empty for the working folder */
export function nothingToLint(paths: readonly string[]): string {
  return paths.length === 0
    ? 'Nothing to check: there is no .github/countersign.yml here, and no YAML file in .github/countersign/chains. Without them, the shipped chain runs.'
    : `Nothing to check: there are no chain files and no settings in ${listed(paths.map(plainLine), 'or')}. Searched were .github/countersign.yml and .github/countersign/chains of a repository, or the YAML files directly in another folder.`;
}

/**
 * Each diagnostic as `file:line:col: message`, the contracts of valid chains, then a line with the totals.
 */
export function lintText(
  files: readonly {
    file: string;
    diagnostics: readonly Diagnostic[];
    warnings: readonly Diagnostic[];
    contracts: readonly Contract[];
  }[],
  screen: Screen = PLAIN,
): string {
  const diagnostics = files.flatMap((file) => file.diagnostics);
  const warnings = files.flatMap((file) => file.warnings);
  const contracts = files.flatMap(({ file, contracts }) => {
    const summary = contractSummary(contracts);
    return summary === undefined ? [] : [`${plainLine(file)}: artifacts: ${summary}`];
  });
  const faulty = files.filter((file) => file.diagnostics.length > 0).length;
  const where = files.length === 1 ? '' : ` in ${faulty} of them`;
  const lines = [...diagnosticLines([...diagnostics, ...warnings]), ...contracts];
  const errors = diagnostics.length === 0 ? 'no errors' : `${plural(diagnostics.length, 'error')}${where}`;
  const count = warnings.length === 0 ? errors : `${errors}, ${plural(warnings.length, 'warning')}`;
  return [
    ...lines,
    ...(lines.length === 0 ? [] : ['']),
    `Checked ${plural(files.length, 'file')}: ${paint(errors === 'no errors' ? 'good' : 'bad', count, screen)}.`,
  ].join('\n');
}

export function chainTable(
  chains: readonly {
    name: string;
    scope: Scope;
    file: string;
    chain: Chain | undefined;
    diagnostics: readonly Diagnostic[];
    runs: boolean;
  }[],
  screen: Screen = PLAIN,
): string {
  if (chains.length === 0) return 'No chains.';
  return table(
    [
      'CHAIN',
      { heading: 'RUNS', whole: true },
      { heading: 'FROM', whole: true },
      { heading: 'FILE', keeps: 'end', leftOut: 1 },
      'FIRES ON',
      { heading: 'STEPS', whole: true },
    ],
    chains.map(({ name, scope, file, chain, diagnostics, runs }) => [
      name,
      runs ? 'yes' : 'no',
      scope,
      file,
      chain ? triggersOf(chain).map(nameOfTrigger).join(', ') : '',
      chain ? String(chain.steps.length) : `${plural(diagnostics.length, 'error')}`,
    ]),
    { screen },
  );
}

export function unknownChain(name: string, known: readonly string[]): string {
  return noSuch('chain', name, known);
}

export function brokenChain(name: string, file: string, diagnostics: readonly Diagnostic[]): string {
  const so = `The chain ${plainLine(name)} does not run because of ${plainLine(file)}`;
  return becauseOf(so, diagnostics, 'countersign chain lint');
}

/** `chain show`: the chain's origin and trigger, and its steps as a graph, each below what it waits for. */
export function chainText(chain: Chain, scope: Scope, file: string): string {
  const from =
    { shipped: 'ships with Countersign', stored: 'defined by the operator' }[scope as string] ??
    `of the ${scope}`;
  return [
    `${chain.name} (${from}: ${plainLine(file)})`,
    ...(chain.description === undefined ? [] : [asSentence(plainLine(chain.description))]),
    ...triggersOf(chain).map((trigger) =>
      asSentence(
        `fires on ${nameOfTrigger(trigger)}${'event' in trigger ? filterWords(trigger.filter) : ''}`,
      ),
    ),
    ...(chain.maxParallel === undefined
      ? []
      : [asSentence(`at most ${plural(chain.maxParallel, 'step')} of a run at the same time`)]),
    '',
    ...stepGraph(chain.steps),
  ].join('\n');
}

function filterWords(filter: TriggerFilter): string {
  const wanted = Object.entries(filter).map(([key, value]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return listed(
        Object.entries(value).map(([which, globs]) => `${which} of ${key} is ${valueWords(globs)}`),
        'and',
      );
    return `${key} is ${valueWords(value)}`;
  });
  return wanted.length === 0 ? '' : `, where ${listed(wanted, 'and')}`;
}

function valueWords(value: unknown): string {
  const values = Array.isArray(value) ? value.map(String) : [String(value)];
  return listed(
    values.map((text) => withoutBraces(plainLine(text))),
    'or',
  );
}

/**
 * Draws the graph as a tree: each step is below the last of its dependencies, and names the others. Rejected:
 * crossing lines, which are unreadable in more than three rows.
 */
function stepGraph(steps: readonly Step[]): string[] {
  const order = topologicalOrder(steps);
  const parentOf = (step: Step) =>
    [...step.dependsOn].sort((a, b) => order.indexOf(a) - order.indexOf(b)).at(-1);
  const drawn: { head: string; step: Step }[] = [];

  const draw = (parent: string | undefined, indent: string) => {
    const children = steps.filter((step) => parentOf(step) === parent);
    children.forEach((step, index) => {
      const last = index === children.length - 1;
      const isRoot = parent === undefined;
      drawn.push({ head: `${indent}${isRoot ? '' : last ? '└─ ' : '├─ '}${step.id}`, step });
      draw(step.id, isRoot ? '' : `${indent}${last ? '   ' : '│  '}`);
    });
  };
  draw(undefined, '');

  const width = Math.max(...drawn.map(({ head }) => head.length));
  return drawn.map(({ head, step }) => `${head.padEnd(width)}  ${stepWords(step)}`);
}

function approvalWords({ approval: { count = 1, ...people } = {} }: Step): string {
  const wanted = wantedByStep({ step: people });
  return `${count === 1 ? 'a countersign' : `${count} countersigns`}${wanted === undefined ? '' : ` by ${plainLine(wanted)}`}`;
}

function stepWords(step: Step): string {
  return [
    `${step.uses.kind} ${plainLine(step.uses.name)}`,
    ...(step.dependsOn.length > 1 ? [`after ${listed(step.dependsOn, 'and')}`] : []),
    ...(step.timeoutMs === undefined ? [] : [`at most ${formatDuration(step.timeoutMs)}`]),
    ...(step.retry.attempts === 1 ? [] : [`up to ${step.retry.attempts} attempts`]),
    ...(step.onFailure === 'continue' ? ['goes on when it fails'] : []),
    ...(step.requiresApproval ? [`after ${approvalWords(step)}`] : []),
    ...(step.condition === undefined ? [] : [`if ${withoutBraces(plainLine(step.condition))}`]),
  ].join(', ');
}

/** An expression without its braces, if it is the whole text. */
function withoutBraces(text: string): string {
  return /^\{\{\s*((?:(?!\}\}).)*?)\s*\}\}$/.exec(text)?.[1] ?? text;
}

export function place(run: Run): string {
  return plainLine(run.pullRequest === null ? run.repository : `${run.repository}#${run.pullRequest}`);
}
