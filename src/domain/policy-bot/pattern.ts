import { globProblem } from '../../core/glob.ts';

/** One piece of a pattern, after its groups are written out. */
type Piece =
  | { kind: 'text'; text: string }
  /** `.` */
  | { kind: 'one' }
  /** `.*` or, at least one character, `.+` */
  | { kind: 'any'; least: 0 | 1 }
  /** `[^/]*` or `[^/]+` */
  | { kind: 'segment'; least: 0 | 1 };

type Part = Piece | { kind: 'start' } | { kind: 'end' };

/** A pattern as a glob that matches exactly the same paths or branches. */
export interface Translated {
  /** With braces if the pattern stands for several. */
  glob: string;
  /** It has a `.`, which matches no line break, as a glob does. */
  hasDot: boolean;
  /** The text that everything that matches begins with; empty if that is not known. */
  beginsWith: readonly string[];
}

const MAX_ALTERNATIVES = 32;
const MAX_LENGTH = 500;

/**
 * The glob for a pattern of RE2 over paths or names of branches; `undefined` if there is none that matches exactly the same.
 * Both have no empty segment between slashes, and no slash at their beginning or end.
 */
export function globOf(pattern: string): Translated | undefined {
  if (pattern.length > MAX_LENGTH) return undefined;
  const alternatives = new Reader(pattern).read();
  if (!alternatives) return undefined;
  const globs = alternatives.map(written);
  if (globs.some((glob) => glob === undefined)) return undefined;
  const all = [...new Set(globs as string[])];
  const glob = all.length === 1 ? (all[0] ?? '') : `{${all.join(',')}}`;
  if (globProblem(glob) !== undefined) return undefined;
  const hasDot = alternatives.some(
    (parts) =>
      parts[0]?.kind !== 'start' ||
      parts.at(-1)?.kind !== 'end' ||
      parts.some(({ kind }) => kind === 'any' || kind === 'one'),
  );
  return { glob, hasDot, beginsWith: alternatives.map(beginningOf) };
}

function beginningOf([start, first]: readonly Part[]): string {
  return start?.kind === 'start' && first?.kind === 'text' ? first.text : '';
}

/** Reads a pattern into its alternatives. Whatever it does not know makes it give up. */
class Reader {
  readonly #chars: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#chars = Array.from(pattern);
  }

  read(): Part[][] | undefined {
    const found = this.#alternatives(0);
    return found && this.#at === this.#chars.length ? found.map(joined) : undefined;
  }

  #alternatives(depth: number): Part[][] | undefined {
    const all: Part[][] = [];
    if (depth > 4) return undefined;
    do {
      const found = this.#sequence(depth);
      if (!found) return undefined;
      all.push(...found);
    } while (this.#take('|'));
    return all.length > MAX_ALTERNATIVES ? undefined : all;
  }

  #sequence(depth: number): Part[][] | undefined {
    let found: Part[][] = [[]];
    for (;;) {
      const char = this.#chars[this.#at];
      if (char === undefined || char === '|' || char === ')') return found;
      const next = this.#piece(depth);
      if (!next) return undefined;
      found = found.flatMap((before) => next.map((after) => [...before, ...after]));
      if (found.length > MAX_ALTERNATIVES) return undefined;
    }
  }

  #piece(depth: number): Part[][] | undefined {
    const char = this.#chars[this.#at++] ?? '';
    if (char === '^') return [[{ kind: 'start' }]];
    if (char === '$') return [[{ kind: 'end' }]];
    if (char === '(') {
      if (this.#take('?') && !this.#take(':')) return undefined;
      const inside = this.#alternatives(depth + 1);
      return inside && this.#take(')') ? this.#optional(inside) : undefined;
    }
    if (char === '.')
      return /[*+]/.test(this.#chars[this.#at] ?? '')
        ? this.#repeated('any')
        : this.#optional([[{ kind: 'one' }]]);
    if (char === '[') return this.#class();
    if (char === '\\') {
      const escaped = this.#chars[this.#at++] ?? '';
      // A backslash before a letter or digit is a class, an anchor or an error.
      return /^[^\p{L}\p{N}]$/u.test(escaped)
        ? this.#optional([[{ kind: 'text', text: escaped }]])
        : undefined;
    }
    return /[*+?{}\]]/.test(char) ? undefined : this.#optional([[{ kind: 'text', text: char }]]);
  }

  /** What can follow a character: a question mark. Other repetitions have no glob. */
  #optional(found: Part[][]): Part[][] | undefined {
    const isOptional = this.#take('?');
    const next = this.#chars[this.#at];
    if (next === '*' || next === '+' || next === '{' || next === '?') return undefined;
    return isOptional ? [[], ...found] : found;
  }

  #repeated(kind: 'any' | 'segment'): Part[][] | undefined {
    const least = this.#take('*') ? 0 : this.#take('+') ? 1 : undefined;
    if (least === undefined) return undefined;
    // Which match is preferred changes nothing about whether there is one.
    this.#take('?');
    const next = this.#chars[this.#at];
    return next === '*' || next === '+' || next === '{' ? undefined : [[{ kind, least }]];
  }

  #class(): Part[][] | undefined {
    const end = this.#chars.indexOf(']', this.#at + 1);
    if (end < 0) return undefined;
    const inside = this.#chars.slice(this.#at, end).join('');
    this.#at = end + 1;
    if (inside === '^/' || inside === '^\\/') return this.#repeated('segment');
    const [, plain] = /^\\?([^\\^\p{L}\p{N}])$/u.exec(inside) ?? [];
    return plain === undefined ? undefined : this.#optional([[{ kind: 'text', text: plain }]]);
  }

  #take(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }
}

function joined(parts: readonly Part[]): Part[] {
  const found: Part[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (part.kind === 'text' && last?.kind === 'text')
      found[found.length - 1] = { kind: 'text', text: last.text + part.text };
    else found.push(part);
  }
  return found;
}

/** One alternative as a glob. */
function written(parts: readonly Part[]): string | undefined {
  const isStart = parts[0]?.kind === 'start';
  const isEnd = parts.length > (isStart ? 1 : 0) && parts.at(-1)?.kind === 'end';
  const inner = parts.slice(isStart ? 1 : 0, isEnd ? -1 : undefined);
  const any: Piece = { kind: 'any', least: 0 };
  const pieces: Piece[] = isStart ? [] : [any];
  for (const part of inner) {
    // An anchor in the middle.
    if (part.kind === 'start' || part.kind === 'end') return undefined;
    const last = pieces.at(-1);
    const run = last && runOf(last, part);
    if (run === 'none') return undefined;
    if (run) pieces[pieces.length - 1] = run;
    else pieces.push(part);
  }
  const last = pieces.at(-1);
  if (!isEnd) {
    const run = last && runOf(last, any);
    if (run === 'none') return undefined;
    if (run) pieces[pieces.length - 1] = run;
    else pieces.push(any);
  }
  return pieces.map((piece, at) => glob(piece, pieces[at - 1], pieces[at + 1])).join('');
}

/**
 * Two pieces beside each other as one; `undefined` if they stay two, and `none` if no glob says both. Their wildcards must not touch:
 * `*` beside another is `**`, and `**` before a slash would also match no folder.
 */
function runOf(one: Piece, other: Piece): Piece | 'none' | undefined {
  if (one.kind === 'text' || other.kind === 'text') return undefined;
  const kinds = [one.kind, other.kind];
  const least = leastOf(one) + leastOf(other);
  if (kinds.includes('any')) {
    // Which character must be there is only known of a run without segments.
    if (least > 1 || (least === 1 && kinds.includes('segment'))) return 'none';
    return { kind: 'any', least: least === 0 ? 0 : 1 };
  }
  if (kinds.includes('one')) return undefined;
  return least > 1 ? 'none' : { kind: 'segment', least: least === 0 ? 0 : 1 };
}

function leastOf(piece: Piece): number {
  return piece.kind === 'any' || piece.kind === 'segment' ? piece.least : 1;
}

function glob(piece: Piece, before: Piece | undefined, after: Piece | undefined): string {
  switch (piece.kind) {
    case 'text':
      return piece.text.replaceAll(/[\\?*{}[\],!]/g, '\\$&');
    case 'one':
      return '{?,/}';
    case 'segment':
      return piece.least === 0 ? '*' : '?*';
    case 'any': {
      const isAfterSlash = before === undefined || (before.kind === 'text' && before.text.endsWith('/'));
      const isBeforeSlash = after?.kind === 'text' && after.text.startsWith('/');
      // `**/` would also match no folder. Between slashes there is something, which ends in no slash.
      if (isBeforeSlash) return isAfterSlash || piece.least === 1 ? '**?' : '{,**?}';
      if (piece.least === 0) return '**';
      return isAfterSlash && after === undefined ? '**' : '{?,/}**';
    }
  }
}
