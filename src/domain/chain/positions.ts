import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import type { Json } from '../../core/canonical.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { messageOf } from '../../core/errors.ts';

export type Path = readonly PropertyKey[];

/** A YAML file: its plain value, or the diagnostics that prevent one, and the position of every part. */
export interface YamlSource {
  readonly file: string;
  /** `undefined` exactly if there are diagnostics. */
  readonly value: Json | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /**
   * A diagnostic at the value of a path, or at its key. A path that the file lacks gets the position of its
   * nearest existing parent. `offset` points into a text value, in characters, if the YAML spells that text
   * without escapes.
   */
  diagnostic(path: Path, message: string, at?: { part?: 'key' | 'value'; offset?: number }): Diagnostic;
  /** The string at a top-level key, even if the rest of the file is broken. */
  peek(key: string): string | undefined;
}

const MAX_BYTES = 64 * 1024;
const MAX_ALIASES = 20;
const MAX_NODES = 10_000;
const MAX_NESTING = 32;
/** One error in YAML often causes many parser errors; the first few are enough. */
const MAX_SYNTAX_DIAGNOSTICS = 10;

/**
 * Reads one YAML 1.2 document with the core schema: no other tags, no merge keys, and keys that are unique
 * strings. Rejected: the library's own conversion. It gives no positions for its errors, and it takes minutes
 * for a broken document of nested `? ` keys.
 */
export function readYaml(text: string, file: string): YamlSource {
  if (Buffer.byteLength(text) > MAX_BYTES)
    return unreadable(file, `the file is larger than ${MAX_BYTES / 1024} KB`);
  const document = parseLeniently(text);
  if (!document) return unreadable(file, 'the file is nested too deeply to be read');

  const positionOf = positionsIn(text);
  const at: At = (offset, message) => ({ file, ...positionOf(offset), message });
  const diagnostics = [...unreadableCharacters(text, at), ...syntaxDiagnostics(document, at)];
  const targets: Targets = new Map();
  const value = diagnostics.length === 0 ? toPlain(document, at, diagnostics, targets) : undefined;
  return {
    file,
    value: diagnostics.length === 0 ? value : undefined,
    diagnostics,
    diagnostic(path, message, { part = 'value', offset } = {}) {
      const node = locate(document, targets, path, part);
      return at(node ? startOf(node, offset, text) : 0, message);
    },
    peek(key) {
      const pair = isMap(document.contents) ? pairOf(document.contents, key) : undefined;
      return isScalar(pair?.value) && typeof pair.value.value === 'string' ? pair.value.value : undefined;
    },
  };
}

function unreadable(file: string, message: string): YamlSource {
  const diagnostic = { file, line: 1, column: 1, message };
  return {
    file,
    value: undefined,
    diagnostics: [diagnostic],
    diagnostic: () => diagnostic,
    peek: () => undefined,
  };
}

function parseLeniently(text: string): Document | undefined {
  const { stackTraceLimit } = Error;
  try {
    // The library makes an error for each of 60,000 misplaced commas. Their stack traces would be expensive
    // and unread.
    Error.stackTraceLimit = 0;
    // `toPlain` finds duplicate keys, because the library compares every key with every other. Not `silent`:
    // then the library would drop all documents after the first without an error.
    return parseDocument(text, {
      prettyErrors: false,
      version: '1.2',
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      stringKeys: true,
      uniqueKeys: false,
      logLevel: 'error',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

type At = (offset: number, message: string) => Diagnostic;

/** Computed from the text: the library's own line counter misses line ends inside unclosed quoted strings. */
function positionsIn(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    const within = Math.min(Math.max(offset, 0), text.length);
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= within) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: within - (starts[low] ?? 0) + 1 };
  };
}

/**
 * Characters that a text file cannot contain, and U+FFFD, which replaces invalid UTF-8. Escapes such as "\0"
 * are plain letters in YAML source.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const NOT_TEXT = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\uFFFD]/;

/** YAML forbids these characters, but the library accepts them. */
function unreadableCharacters(text: string, at: At): Diagnostic[] {
  const offset = text.search(NOT_TEXT);
  if (offset < 0) return [];
  const code = text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, '0');
  const because = code === 'FFFD' ? 'something that is not UTF-8 text' : `the control character U+${code}`;
  return [at(offset, `the file holds ${because}`)];
}

function syntaxDiagnostics(document: Document, at: At): Diagnostic[] {
  const version = document.directives?.yaml.version;
  const diagnostics = [...document.errors, ...document.warnings]
    .slice(0, MAX_SYNTAX_DIAGNOSTICS)
    .map((error) => at(error.pos[0], `this is not valid YAML: ${syntaxMessage(error.code, error.message)}`));
  if (version !== undefined && version !== '1.2')
    diagnostics.push(at(0, `YAML ${version} is not read here; use YAML 1.2`));
  return diagnostics;
}

function syntaxMessage(code: string, message: string): string {
  switch (code) {
    case 'MULTIPLE_DOCS':
      return 'the file must hold one document';
    case 'NON_STRING_KEY':
      return 'keys must be texts';
    case 'RESOURCE_EXHAUSTION':
      return 'it is nested too deeply';
    case 'BLOCK_AS_IMPLICIT_KEY':
      // In most cases this is a sentence with a colon. The library's message is about compact mappings.
      return 'a second "key: value" begins in this value; a text with ": " in it needs quotes';
    default:
      return message;
  }
}

/** The node that each alias refers to. */
type Targets = Map<Alias, Node>;

/**
 * Converts the document, collects what YAML allows but our files do not, and resolves aliases. Rejected: the
 * library's own alias lookup. It walks the document once per alias, which takes 20 seconds for 15,000
 * aliases.
 */
function toPlain(document: Document, at: At, diagnostics: Diagnostic[], targets: Targets): Json {
  const anchors = new Map<string, Node>();
  let nodes = 0;
  let aliases = 0;

  const convert = (value: unknown, depth: number): Json => {
    const node = value as Node | null;
    if (node === null) return null;
    const here = node.range?.[0] ?? 0;
    const refuse = (message: string): null => {
      diagnostics.push(at(here, message));
      return null;
    };
    if (++nodes > MAX_NODES) {
      return nodes === MAX_NODES + 1 ? refuse(`the file holds more than ${MAX_NODES} values`) : null;
    }
    if (depth > MAX_NESTING) return refuse(`this is nested more than ${MAX_NESTING} deep`);
    if (isAlias(node)) return followAlias(node, depth, refuse);
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isSeq(node)) return node.items.map((item) => convert(item, depth + 1));
    if (isMap(node)) return convertMap(node, depth);
    const scalar = isScalar(node) ? node.value : undefined;
    if (scalar === null || typeof scalar === 'string' || typeof scalar === 'boolean') return scalar;
    if (typeof scalar === 'number' && Number.isFinite(scalar)) return scalar;
    return refuse('this value is not a text, a finite number, true, false or null');
  };

  /** Every use counts, also those inside the target of another alias. */
  const followAlias = (alias: Alias, depth: number, refuse: (message: string) => null): Json => {
    if (++aliases > MAX_ALIASES) {
      return aliases === MAX_ALIASES + 1 ? refuse(`more than ${MAX_ALIASES} aliases are used`) : null;
    }
    const target = targets.get(alias) ?? anchors.get(alias.source);
    if (!target) return refuse(`the alias *${alias.source} has no anchor before it`);
    targets.set(alias, target);
    return convert(target, depth + 1);
  };

  const convertMap = (map: YAMLMap, depth: number): Json => {
    const entries = new Map<string, Json>();
    for (const { key, value } of map.items) {
      const name = keyOf(key);
      const here = (key as Node | null)?.range?.[0] ?? 0;
      if (name === '__proto__') diagnostics.push(at(here, 'the key "__proto__" is not allowed'));
      else if (entries.has(name)) diagnostics.push(at(here, `the key "${name}" is here twice`));
      entries.set(name, convert(value, depth + 1));
    }
    return Object.fromEntries(entries);
  };

  try {
    return convert(document.contents, 0);
  } catch (error) {
    diagnostics.push(at(0, `this is not valid YAML: ${messageOf(error)}`));
    return null;
  }
}

function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

const indexes = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/**
 * The first pair with a key. Each mapping is indexed once, because a file with many diagnostics looks up many
 * keys.
 */
function pairOf(map: YAMLMap, key: PropertyKey): Pair | undefined {
  let index = indexes.get(map);
  if (!index) {
    index = new Map(map.items.toReversed().map((pair) => [keyOf(pair.key), pair]));
    indexes.set(map, index);
  }
  return index.get(String(key));
}

/** The node at a path, or its nearest existing parent. */
function locate(document: Document, targets: Targets, path: Path, part: 'key' | 'value'): Node | undefined {
  let node: unknown = document.contents;
  let shown = node;
  for (const [index, key] of path.entries()) {
    const target: unknown = isAlias(node) ? targets.get(node) : node;
    if (isMap(target)) {
      const pair = pairOf(target, key);
      if (!pair) break;
      const wanted = part === 'key' && index === path.length - 1;
      node = pair.value;
      shown = wanted || node === null ? pair.key : node;
    } else if (isSeq(target) && target.items[Number(key)] !== undefined) {
      node = target.items[Number(key)];
      shown = node;
    } else break;
  }
  return (shown as Node | null) ?? undefined;
}

/**
 * The offset of a node, or of a character inside its text if the file spells the text without escapes or
 * folding.
 */
function startOf(node: Node, offset: number | undefined, text: string): number {
  const start = node.range?.[0] ?? 0;
  if (offset === undefined || !isScalar(node) || typeof node.value !== 'string') return start;
  const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE' ? 1 : 0;
  const spelled = text.startsWith(node.value, start + quoted);
  return spelled ? start + quoted + offset : start;
}
