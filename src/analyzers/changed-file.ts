/** One file of a pull request, as in GitHub's list. Every member is hostile input. */
export interface ChangedFile {
  path: string;
  status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied' | 'changed' | 'unchanged';
  previousPath?: string;
  /** GitHub's unified patch. Absent for binary and large files. */
  patch?: string;
  /**
   * GitHub's count of changed lines. It distinguishes a pure rename from one whose patch is too large to
   * send.
   */
  changes?: number;
  /** The bytes at the head. Absent if they could not or need not be fetched. */
  content?: Uint8Array;
  /** Why there is no content, such as `larger than 1 MB`. */
  leftOut?: string;
}

/** The largest file that is reviewed, in bytes. */
export const MAX_FILE_BYTES = 1_000_000;

/** The kind of a file for the analyzers. `config` and `other` are only scanned for secrets. */
export type Language =
  | 'javascript'
  | 'typescript'
  | 'tsx'
  | 'python'
  | 'go'
  | 'workflow'
  | 'action'
  | 'dockerfile'
  | 'shell'
  | 'terraform'
  | 'yaml'
  | 'markdown'
  | 'config'
  | 'other';

const BY_EXTENSION: ReadonlyMap<string, Language> = new Map(
  Object.entries({
    js: 'javascript',
    mjs: 'javascript',
    cjs: 'javascript',
    jsx: 'javascript',
    ts: 'typescript',
    mts: 'typescript',
    cts: 'typescript',
    tsx: 'tsx',
    py: 'python',
    pyi: 'python',
    go: 'go',
    md: 'markdown',
    markdown: 'markdown',
    dockerfile: 'dockerfile',
    sh: 'shell',
    bash: 'shell',
    ksh: 'shell',
    tf: 'terraform',
    yml: 'yaml',
    yaml: 'yaml',
    toml: 'config',
    ini: 'config',
    cfg: 'config',
    conf: 'config',
    env: 'config',
    properties: 'config',
    tfvars: 'config',
  } as const),
);

const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|tiff?|psd|pdf|zip|gz|tgz|bz2|xz|zst|7z|rar|jar|war|class|exe|dll|so|dylib|a|o|wasm|node|pyc|woff2?|ttf|otf|eot|mp[34]|m4a|wav|ogg|flac|webm|mov|avi|sqlite|db|bin|dat|parquet)$/i;

/**
 * Text that no machine executes. If it cannot be read completely, the review says so and the verdict still
 * counts.
 */
const DATA =
  /\.(?:md|markdown|txt|rst|adoc|csv|tsv|json|jsonl|ndjson|geojson|svg|css|map|log|snap|po|pot|lock|sum|xml|html?)$/i;

/** Binaries that are executed, and that no analyzer can read. */
const RUNNABLE_BINARY = /\.(?:jar|war|class|exe|dll|so|dylib|a|o|wasm|node|pyc)$/i;

const LOCK_FILE =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|Cargo\.lock|Gemfile\.lock|composer\.lock|go\.sum|flake\.lock)$/;

const DERIVED: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/(?:^|\/)(?:node_modules|vendor|third_party|bower_components)\//, 'vendored'],
  [/(?:^|\/)dist\/|\.min\.(?:js|css)$|\.bundle\.js$|\.map$/, 'built output'],
  [/\.(?:pb|generated|gen)\.[a-z]+$|_pb2(?:_grpc)?\.pyi?$|\.snap$/, 'generated'],
];

const MINIFIED = /\.min\.(?:js|css)$|\.bundle\.js$/;

/** In characters. People do not write longer lines. */
export const MAX_LINE = 20_000;
/** The same for a file whose name says that it is minified. */
const MAX_LINE_MINIFIED = 1_000;

/** Whether a machine may execute the file's content. */
export function isRunnable(path: string): boolean {
  return RUNNABLE_BINARY.test(path) || !(BINARY.test(path) || DATA.test(path) || LOCK_FILE.test(path));
}

/**
 * Whether there is no verdict if the file is not reviewed. Lock files and generated files are excluded:
 * people cannot make them smaller, so they are only reported.
 */
export function isCode(path: string): boolean {
  return isRunnable(path) && !BINARY.test(path) && derivedKind(path) === undefined;
}

/**
 * Why a file's name suggests that it was generated, or `undefined`. Its author chooses the name, so this only
 * decides whether a model reads the file.
 */
export function derivedKind(path: string): string | undefined {
  if (LOCK_FILE.test(path)) return 'a lock file';
  return DERIVED.find(([pattern]) => pattern.test(path))?.[1];
}

/**
 * Why a file is only scanned for secrets; `undefined` if every analyzer may read it.
 * @param longestLine in characters
 */
export function secretsOnlyReason(path: string, longestLine: number): string | undefined {
  if (LOCK_FILE.test(path)) return 'a lock file: searched for secrets only';
  const most = MINIFIED.test(path) ? MAX_LINE_MINIFIED : MAX_LINE;
  return longestLine > most ? 'has lines as long as minified code: searched for secrets only' : undefined;
}

export function languageOf(path: string): Language {
  if (/^\.github\/workflows\/[^/]+\.ya?ml$/i.test(path)) return 'workflow';
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^action\.ya?ml$/i.test(name)) return 'action';
  if (/^(?:Dockerfile|Containerfile)(?:\.|$)/i.test(name)) return 'dockerfile';
  if (/^\.env(?:\.|$)|^\.npmrc$|^\.netrc$|^\.pypirc$/i.test(name)) return 'config';
  return BY_EXTENSION.get(extensionOf(path)) ?? 'other';
}

/** The file name's extension in lower case; empty if there is none. */
function extensionOf(path: string): string {
  return /\.([A-Za-z0-9]{1,12})$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

/**
 * The name under which a file is written and passed on: a number and a known extension. So no byte from the
 * pull request reaches a path or an argument, and no file can pose as an analyzer's configuration.
 */
export function neutralName(index: number, path: string): string {
  const number = String(index + 1).padStart(4, '0');
  const extension = extensionOf(path);
  if (/\.d\.[cm]?ts$/i.test(path)) return `${number}.d.${extension}`;
  return `${number}.${BY_EXTENSION.has(extension) ? extension : 'txt'}`;
}

/** Test and example code, where invented credentials are normal. */
export function isTestPath(path: string): boolean {
  return /(?:^|\/)(?:tests?|__tests__|spec|fixtures?|testdata|examples?|mocks?)\/|[._-](?:test|spec)\.[a-z]+$|(?:^|\/)test_[^/]+\.py$|\.env\.(?:example|sample|template)$/i.test(
    path,
  );
}

/**
 * Whether to fetch the file's content at the head. Includes lock files, vendored and built files, because a
 * secret in them is just as public. Without `size` (bytes), the file counts as small.
 */
export function wantsContent(file: Pick<ChangedFile, 'path' | 'status'> & { size?: number }): boolean {
  return file.status !== 'removed' && file.status !== 'unchanged' && unreadableReason(file) === undefined;
}

/** Why a file is not read at all, in words for people; `undefined` if it is read. */
export function unreadableReason(file: {
  path: string;
  size?: number;
  maxBytes?: number;
}): string | undefined {
  const { maxBytes = MAX_FILE_BYTES } = file;
  if (BINARY.test(file.path)) return 'a binary file';
  if (file.size !== undefined && file.size > maxBytes) return `larger than ${maxBytes / 1_000_000} MB`;
  return undefined;
}
