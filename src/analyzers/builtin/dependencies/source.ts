import type { RuleName } from '../../../domain/skill/analyzer-rules.ts';
import type { Entry } from './entry.ts';

/** The host a package is fetched from; `undefined` for what is no https address. */
export function hostOf(resolved: string | undefined): string | undefined {
  if (resolved === undefined || !URL.canParse(resolved)) return undefined;
  const { protocol, hostname } = new URL(resolved);
  return protocol === 'https:' ? hostname : undefined;
}

/** Where the packages of a repository come from, as its own lock file tells. */
export interface Hosts {
  /** Nothing comes from another one without being told. */
  known: ReadonlySet<string>;
  /** Those that serve packages by the address of registries; each entry of theirs must have it. */
  registries: ReadonlySet<string>;
}

/**
 * A list of the public registries was rejected: a repository that uses another one would be told of each of its packages, and one
 * that uses a public one for the first time should be. Where no lock file was before, the host that most entries name is the known one.
 */
export function hostsOf(before: readonly Entry[], now: readonly Entry[]): Hosts {
  const named = (entries: readonly Entry[]) => entries.flatMap(({ resolved }) => hostOf(resolved) ?? []);
  const known = new Set(before.length > 0 ? named(before) : mostFrequent(named(now)));
  const registries = [...before, ...now].flatMap(({ name, version, resolved }) => {
    const host = hostOf(resolved);
    const serves = resolved !== undefined && isOwnTarball(resolved, name, version, true);
    return host !== undefined && known.has(host) && serves ? [host] : [];
  });
  return { known, registries: new Set(registries) };
}

function mostFrequent(hosts: readonly string[]): string[] {
  const groups = [...Map.groupBy(hosts, (host) => host)].toSorted(([, a], [, b]) => b.length - a.length);
  return groups.slice(0, 1).map(([host]) => host);
}

/** Whether a range of a manifest, or an address of a lock file, leads past every registry. */
export function directSource(from: string): RuleName<'dependencies'> | undefined {
  if (/^(?:http|git\+http|git):/i.test(from)) return 'insecure-source';
  if (/^(?:git[+@]|ssh:|https:|(?:github|gitlab|bitbucket|gist):|[\w.-]+@[\w.-]+:)/i.test(from))
    return 'direct-source';
  // `owner/repo` is GitHub's; a range has no slash, unless it begins as a path or names a protocol of the package manager.
  return /^[\w.-]+\/[\w.-]+(?:#.*)?$/.test(from) && !from.startsWith('.') ? 'direct-source' : undefined;
}

/** What is wrong with where an entry comes from. */
export function sourceDiagnostic(
  { name, version, resolved }: Entry,
  { known, registries }: Hosts,
): { rule: RuleName<'dependencies'>; message: string } | undefined {
  if (resolved === undefined) return undefined;
  const host = hostOf(resolved);
  if (host === undefined) {
    const rule = directSource(resolved) ?? 'direct-source';
    return { rule, message: `${name} comes from ${withoutSecrets(resolved)}` };
  }
  if (!known.has(host)) return { rule: 'new-host', message: `${name} comes from ${host}` };
  return isOwnTarball(resolved, name, version, registries.has(host))
    ? undefined
    : { rule: 'other-package', message: `${name}@${version} is fetched from ${new URL(resolved).pathname}` };
}

/** Registries serve `@a/b` in version 1.0.0 as `…/@a/b/-/b-1.0.0.tgz`. */
function isOwnTarball(resolved: string, name: string, version: string, isStrict: boolean): boolean {
  const path = decoded(new URL(resolved).pathname);
  const cut = path.indexOf('/-/');
  if (cut < 0) return !isStrict;
  const file = `${name.slice(name.lastIndexOf('/') + 1)}-${version.replace(/\+.*$/, '')}.tgz`;
  const folder = path.slice(0, cut);
  const isOfName = isStrict ? folder === `/${name}` : folder.endsWith(`/${name}`);
  return isOfName && path.slice(path.lastIndexOf('/') + 1) === file;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function withoutSecrets(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//').slice(0, 200);
}
