import type { RuleName } from '../../domain/skill/analyzer-rules.ts';
import type { Entry, Lock } from './dependencies/entry.ts';
import { looseness, UNBOUNDED } from './dependencies/looseness.ts';
import { type Manifest, type Requested, readManifest } from './dependencies/manifest.ts';
import { similarName } from './dependencies/near-name.ts';
import { readPackageLock } from './dependencies/package-lock.ts';
import { readPnpmLock } from './dependencies/pnpm-lock.ts';
import { registrySettings } from './dependencies/settings.ts';
import { directSource, hostsOf, sourceDiagnostic } from './dependencies/source.ts';
import { readYarnLock } from './dependencies/yarn-lock.ts';
import { eachFile, type FileSet, type Found, type OwnFile } from './each-file.ts';

export type Rule = RuleName<'dependencies'>;

const LOCKS: Readonly<Record<string, (text: string) => Lock>> = {
  'package-lock.json': readPackageLock,
  'npm-shrinkwrap.json': readPackageLock,
  'yarn.lock': readYarnLock,
  'pnpm-lock.yaml': readPnpmLock,
};

/**
 * What a change makes an installation download and run, compared with the state before. Rejected: a list of
 * trusted packages.
 */
export const analyze = eachFile(checkDependencies);

export function checkDependencies(file: OwnFile, fileSet: FileSet): Found<Rule>[] {
  const name = baseOf(file.path);
  const readLock = Object.hasOwn(LOCKS, name) ? LOCKS[name] : undefined;
  if (readLock) return readable(file, readLock, (lock, before) => checkLock(lock, before, fileSet));
  if (name === 'package.json') {
    return readable(file, readManifest, (manifest, before) => checkManifest(manifest, before, file, fileSet));
  }
  return registrySettings(file.text);
}

/**
 * A file that cannot be parsed is reported: its package manager might still read it, so it could hide
 * anything.
 */
function readable<T>(
  { text, before }: OwnFile,
  read: (text: string) => T,
  check: (now: T, before: T | undefined) => Found<Rule>[],
): Found<Rule>[] {
  const now = orDiagnostic(text, read);
  if ('diagnostic' in now) {
    return [{ rule: 'unreadable', line: 1, endLine: text.split('\n').length, message: now.diagnostic }];
  }
  const earlier = before === undefined ? undefined : orDiagnostic(before, read);
  return check(now.value, earlier && 'value' in earlier ? earlier.value : undefined);
}

function orDiagnostic<T>(text: string, read: (text: string) => T): { value: T } | { diagnostic: string } {
  try {
    return { value: read(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { diagnostic: error.message };
    throw error;
  }
}

function checkLock(lock: Lock, before: Lock | undefined, fileSet: FileSet): Found<Rule>[] {
  const known = before?.entries ?? [];
  const same = new Set(known.map(identity));
  const hosts = hostsOf(known, lock.entries);
  const names = [...new Set(known.map(({ name }) => name))];
  const ofName = Map.groupBy(known, ({ name }) => name);
  const direct = new Set(
    fileSet.files.filter(isManifest).flatMap(({ text }) => {
      const read = orDiagnostic(text, readManifest);
      return 'value' in read ? read.value.asked.map(({ name }) => name) : [];
    }),
  );
  const hasIntegrity = lock.hasIntegrity || before?.hasIntegrity === true;

  return lock.entries
    .filter((entry) => !entry.local && !same.has(identity(entry)))
    .flatMap((entry) => {
      const { name, line, endLine } = entry;
      const at = (rule: Rule, message: string): Found<Rule> => ({ rule, line, endLine, message });
      const earlier = ofName.get(name) ?? [];
      const found: Found<Rule>[] = [];
      const source = sourceDiagnostic(entry, hosts);
      if (source) found.push(at(source.rule, source.message));
      const isFromRegistry = source?.rule !== 'direct-source';
      if (!entry.integrity && hasIntegrity && isFromRegistry) {
        found.push(at('integrity-missing', `${name}@${entry.version}`));
      }
      if (earlier.some((other) => other.version === entry.version && isOtherContent(other, entry))) {
        found.push(at('integrity-changed', `${name}@${entry.version}`));
      }
      if (entry.installScript && !earlier.some(({ installScript }) => installScript)) {
        found.push(at('install-script', `${name}@${entry.version}`));
      }
      const near = earlier.length === 0 && !direct.has(name) ? similarName(name, names) : undefined;
      if (near !== undefined) found.push(at('near-name', `${name}, and there is ${near}`));
      return found;
    });
}

function identity({ key, name, version, resolved, integrity, installScript }: Entry): string {
  return JSON.stringify([key, name, version, resolved, integrity, installScript]);
}

/**
 * Two different hashes of the same kind, or a strong hash that is gone. Replacing a weak hash by a strong one
 * does not mean other content.
 */
function isOtherContent({ integrity: before }: Entry, { integrity: now }: Entry): boolean {
  if (!before || !now) return false;
  const [old, fresh] = [hashes(before), hashes(now)];
  return [...old].some(([kind, hash]) =>
    fresh.has(kind) ? fresh.get(kind) !== hash : kind === 'sha512' || kind === 'sha384',
  );
}

function hashes(integrity: string): Map<string, string> {
  return new Map(
    integrity.split(/\s+/).map((one) => {
      const cut = one.search(/[-/]/);
      return [one.slice(0, Math.max(cut, 0)), one] as const;
    }),
  );
}

function checkManifest(
  manifest: Manifest,
  before: Manifest | undefined,
  { path }: OwnFile,
  { files, tree }: FileSet,
): Found<Rule>[] {
  const earlier = new Map(before?.asked.map((asked) => [asked.name, asked]));
  const known = [...earlier.keys()];
  const changed = manifest.asked.filter(({ name, range }) => earlier.get(name)?.range !== range);
  const found: Found<Rule>[] = changed.flatMap((asked) =>
    checkRequested(asked, earlier.get(asked.name), known),
  );
  for (const [name, { command, line }] of manifest.scripts) {
    if (before?.scripts.get(name)?.command !== command) {
      found.push({ rule: 'lifecycle-script', line, message: `${name}: ${command}` });
    }
  }

  const installed = changed.filter(({ peer }) => !peer);
  const place = lockFor(path, tree);
  if (installed.length === 0 || place === undefined) return found;
  const lock = files.find((file) => file.path === place);
  if (!lock) {
    return [
      ...found,
      ...installed.map(({ line, name }) => ({ rule: 'lock-not-updated' as const, line, message: name })),
    ];
  }
  const read = orDiagnostic(lock.text, LOCKS[baseOf(place)] ?? readPackageLock);
  const folder = folderOf(path).slice(folderOf(place).length).replace(/^\//, '');
  const locked = 'value' in read ? read.value.asked.get(folder) : undefined;
  if (!locked) return found;
  const others = installed.filter(({ name, range }) => locked.get(name) !== range);
  return [
    ...found,
    ...others.map(({ line, name, range }) => ({
      rule: 'lock-mismatch' as const,
      line,
      message: `${name} is asked for as ${range}, and the lock file has ${locked.get(name) ?? 'no such package'}`,
    })),
  ];
}

function checkRequested(
  { name, range, peer, line }: Requested,
  earlier: Requested | undefined,
  known: readonly string[],
) {
  const found: Found<Rule>[] = [];
  const source = directSource(range);
  if (source) found.push({ rule: source, line, message: `${name} comes from ${range}` });
  const near = earlier ? undefined : similarName(name, known);
  if (near !== undefined) found.push({ rule: 'near-name', line, message: `${name}, and there is ${near}` });
  if (peer || source) return found;
  const loose = looseness(range);
  const isLooser = earlier ? loose > looseness(earlier.range) : loose === UNBOUNDED;
  if (isLooser) found.push({ rule: 'range-loosened', line, message: `${name}: ${range}` });
  return found;
}

/** The lock file of a manifest: the nearest one upwards, because a workspace has one for all its folders. */
function lockFor(path: string, tree: ReadonlySet<string>): string | undefined {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    const prefix = folder === '' ? '' : `${folder}/`;
    const found = Object.keys(LOCKS).find((name) => tree.has(prefix + name));
    if (found !== undefined) return prefix + found;
    if (folder === '') return undefined;
  }
}

function isManifest({ path }: OwnFile): boolean {
  return baseOf(path) === 'package.json';
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
