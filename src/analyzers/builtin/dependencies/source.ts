import type { RuleName } from '../../../domain/skill/analyzer-rules.ts';
import type { Entry } from './entry.ts';

/** The host of an https address; `undefined` for any other text. */
export function hostOf(resolved: string | undefined): string | undefined {
  if (resolved === undefined || !URL.canParse(resolved)) return undefined;
  const { protocol, hostname } = new URL(resolved);
  return protocol === 'https:' ? hostname : undefined;
}

/** The hosts of a repository's packages, according to its own lock file. */
export interface Hosts {
  /** A package from any other host is reported. */
  known: ReadonlySet<string>;
  /** Hosts whose addresses follow the registries' layout. All their entries must follow it. */
  registries: ReadonlySet<string>;
}

/**
 * Rejected: a list of public registries. A repository with another registry would get a finding for each
 * package, and the first use of a public registry would go unreported. Without an earlier lock file, the most
 * frequent host counts as known.
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

/** Whether a range in a manifest, or an address in a lock file, bypasses all registries. */
export function directSource(from: string): RuleName<'dependencies'> | undefined {
  if (/^(?:http|git\+http|git):/i.test(from)) return 'insecure-source';
  if (/^(?:git[+@]|ssh:|https:|(?:github|gitlab|bitbucket|gist):|[\w.-]+@[\w.-]+:)/i.test(from))
    return 'direct-source';
  // `owner/repo` means GitHub. A range has no slash, unless it is a path or has a protocol of the package
  // manager.
  return /^[\w.-]+\/[\w.-]+(?:#.*)?$/.test(from) && !from.startsWith('.') ? 'direct-source' : undefined;
}

/** The problem with an entry's source. */
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
