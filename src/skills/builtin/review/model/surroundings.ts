import type { AdmittedFile } from '../../../../analyzers/admit.ts';
import { visible } from '../../../../messages/text/markdown.ts';
import type { Piece } from './piece.ts';

/**
 * The code around a piece that the change leaves as it is: the block that encloses it, the definitions of what it calls, and
 * the lines that use what it defines. By indentation and the usual forms of definitions, in all languages alike. A parser
 * would be more exact and would read untrusted text in this process; it is only context, and no finding can point to it.
 */
export interface Surroundings {
  /** Head line numbers by path, in order. */
  lines: ReadonlyMap<string, readonly number[]>;
}

/** The most of a block that is shown, in lines: a long function is shown by the lines that it begins with. */
const MAX_BLOCK = 80;
const MAX_DEFINITION = 25;
const MAX_DEFINITIONS = 6;
const MAX_USES = 8;
/** In characters for each piece: a quarter of what many pieces have themselves. */
const MAX_CHARACTERS = 3_000;
/** Longer lines are data, and patterns on them take time. */
const MAX_LINE = 300;

const MODIFIERS =
  '(?:export|default|pub|public|private|protected|internal|static|async|final|abstract|override|declare|unsafe)';
const KEYWORDS =
  '(?:function\\*?|def|func|fn|class|interface|type|struct|enum|trait|const|let|var|module|sub)';
/** `export async function name`, `def name`, `func (s *Store) name`, `const name`. */
const DEFINED = new RegExp(
  `^\\s*(?:${MODIFIERS}\\s+){0,4}${KEYWORDS}\\s+(?:\\([^()]{0,80}\\)\\s*)?([A-Za-z_$][\\w$]*)`,
);
/** `name(a, b) {` and `public async name(a): B {`, as methods are written. */
const METHOD = new RegExp(
  `^\\s+(?:${MODIFIERS}\\s+){0,4}([A-Za-z_$][\\w$]*)\\([^()]{0,200}\\)\\s*(?::[^{]{0,100})?\\{\\s*$`,
);
const NOT_NAMES = new Set([
  'if',
  'for',
  'while',
  'switch',
  'catch',
  'return',
  'function',
  'await',
  'typeof',
  'new',
]);
const CALLED = /([A-Za-z_$][\w$]{2,})\s*\(/g;
const CLOSES = /^\s*(?:[)}\]]|end\b|<\/)/;

/** Where names are defined in the files of a change, each at its first place. */
export type Definitions = ReadonlyMap<string, { file: AdmittedFile; line: number }>;

export function definitionsIn(files: readonly AdmittedFile[]): Definitions {
  const found = new Map<string, { file: AdmittedFile; line: number }>();
  for (const file of files) {
    for (const [index, text] of file.lines.entries()) {
      const name = definedBy(text);
      if (name !== undefined && !found.has(name)) found.set(name, { file, line: index + 1 });
    }
  }
  return found;
}

function definedBy(text: string): string | undefined {
  if (text.length > MAX_LINE) return undefined;
  const name = DEFINED.exec(text)?.[1] ?? METHOD.exec(text)?.[1];
  return name === undefined || NOT_NAMES.has(name) ? undefined : name;
}

/** `definitions` and `uses` are those of all files that the model reads. */
export function surroundingsOf(
  piece: Piece,
  file: AdmittedFile,
  { definitions, uses }: { definitions: Definitions; uses: Uses },
): Surroundings {
  const own = new Set(piece.lines.flatMap(({ line }) => (line === null ? [] : [line])));
  const room = new Room();
  const add = (of: AdmittedFile, from: number, to: number) => {
    for (let line = from; line <= to; line++) {
      if (of === file && own.has(line)) continue;
      if (!room.add(of.path, line, of.lines[line - 1] ?? '')) return;
    }
  };
  for (const [from, to] of enclosing(piece, file.lines)) add(file, from, to);

  const added = piece.lines.filter(({ mark }) => mark === '+').map(({ text }) => text);
  const called = new Set(
    added.flatMap((text) => [...text.slice(0, MAX_LINE).matchAll(CALLED)].map(([, name = '']) => name)),
  );
  const places = [...called]
    .flatMap((name) => definitions.get(name) ?? [])
    .filter((place) => !(place.file === file && own.has(place.line)));
  for (const { file: of, line } of places.slice(0, MAX_DEFINITIONS))
    add(of, line, Math.min(endOfBlock(of.lines, line), line + MAX_DEFINITION - 1));

  const defines = new Set(added.flatMap((text) => definedBy(text) ?? []));
  const used = [...defines]
    .flatMap((name) => uses.get(name) ?? [])
    .filter((use) => !(use.of === file && own.has(use.line)));
  for (const { of, line } of used.slice(0, MAX_USES)) add(of, line, line);
  return { lines: room.lines() };
}

/** Keeps lines, each once, as long as there is room. */
class Room {
  readonly #lines = new Map<string, Set<number>>();
  #left = MAX_CHARACTERS;

  /** @returns false if there is no room for it */
  add(path: string, line: number, text: string): boolean {
    const known = this.#lines.get(path) ?? new Set();
    if (known.has(line)) return true;
    if (text.length > MAX_LINE || text.length + 1 > this.#left) return false;
    this.#left -= text.length + 1;
    this.#lines.set(path, known.add(line));
    return true;
  }

  lines(): ReadonlyMap<string, readonly number[]> {
    return new Map([...this.#lines].map(([path, lines]) => [path, [...lines].toSorted((a, b) => a - b)]));
  }
}

/**
 * The largest block around the changed lines that is short enough to show, and the first lines of those around it, as ranges
 * of head lines.
 */
function enclosing(piece: Piece, lines: readonly string[]): [from: number, to: number][] {
  const changed = piece.lines.flatMap(({ mark, line, text }) =>
    mark === '+' && text.trim() !== '' ? [line] : [],
  );
  const here = changed.length > 0 ? changed : piece.lines.flatMap(({ line }) => line ?? []);
  const first = here[0];
  const last = here.at(-1);
  if (first === undefined || last === undefined) return [];
  let level = Math.min(...here.map((line) => indentOf(lines[line - 1] ?? '')));
  const ranges: [number, number][] = [];
  for (let line = first - 1; line >= 1 && level > 0; line--) {
    const text = lines[line - 1] ?? '';
    if (text.trim() === '' || indentOf(text) >= level || CLOSES.test(text)) continue;
    level = indentOf(text);
    const end = Math.max(endOfBlock(lines, line), last);
    ranges.unshift(end - line < MAX_BLOCK ? [line, end] : [line, line]);
  }
  return ranges;
}

/** The last line of the block that begins with this one. */
function endOfBlock(lines: readonly string[], begin: number): number {
  const level = indentOf(lines[begin - 1] ?? '');
  let end = begin;
  for (let line = begin + 1; line <= lines.length; line++) {
    const text = lines[line - 1] ?? '';
    if (text.trim() === '') continue;
    if (indentOf(text) > level) end = line;
    else return indentOf(text) === level && CLOSES.test(text) ? line : end;
  }
  return end;
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** More uses of one name are not looked through. */
const MAX_LISTED = 200;

/** Where names are used, each with its first places. Read once for all pieces: a pass for each would take their product. */
export type Uses = ReadonlyMap<string, readonly { of: AdmittedFile; line: number }[]>;

export function usesIn(files: readonly AdmittedFile[]): Uses {
  const found = new Map<string, { of: AdmittedFile; line: number }[]>();
  for (const of of files) {
    for (const [index, text] of of.lines.entries()) {
      if (text.length > MAX_LINE || definedBy(text) !== undefined) continue;
      for (const name of new Set([...text.matchAll(CALLED)].map(([, called = '']) => called))) {
        const places = found.get(name) ?? [];
        if (places.length < MAX_LISTED) places.push({ of, line: index + 1 });
        found.set(name, places);
      }
    }
  }
  return found;
}

/**
 * As a model reads them, without secrets. Without anchors, so that no finding can refer to them.
 *
 *     Around it:
 *       10   export function greet(name) {
 *        …
 *     In src/names.ts:
 *        3   export function nameOf(person) {
 *
 * @param textOf the lines of a file without secrets and line ends; `undefined` if a secret spans some, so that they cannot be told apart
 */
export function shownSurroundings(
  { lines }: Surroundings,
  piece: Piece,
  textOf: (path: string) => readonly string[] | undefined,
): string {
  const parts = [...lines].flatMap(([path, numbers]) => {
    const masked = textOf(path);
    if (!masked || numbers.length === 0) return [];
    const rows = numbers.flatMap((line, index) => {
      const gap = index > 0 && numbers[index - 1] !== line - 1 ? ['    …'] : [];
      return [...gap, `${String(line).padStart(5)}   ${masked[line - 1] ?? ''}`];
    });
    return [path === piece.path ? 'Around it:' : `In ${path}:`, ...rows];
  });
  return visible(parts.join('\n'));
}
