/**
 * Whether the whole text matches a glob: `?` matches one character but not `/`, `*` any run without `/`, `**`
 * any run. A `**` between slashes (or at the start) also matches no folder, so `src/**` + `/*.ts` matches
 * `src/a.ts`. `{a,b}` matches either, `[ab]` and `[a-c]` one of these characters, `[!ab]` one other character, and a
 * backslash makes the next character plain.
 *
 * Follows all reachable positions in the pattern at once, so the time is text × wildcards for any input.
 * Rejected: a translation to RegExp. It backtracks, and file names come from the pull request.
 */
export function globMatches(pattern: string, text: string): boolean {
  // Most entries of filters are plain names, and thousands of chains can wait for the same event.
  if (!/[\\?*{[]/.test(pattern)) return pattern === text;
  return compileGlob(pattern)(text);
}

/** Compiles a glob once, to match many texts. One that `globProblem` refuses matches nothing. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const read = readGlob(pattern);
  if (typeof read === 'string') return () => false;
  const alternatives = read.map(tokenise);
  return (text) => alternatives.some((tokens) => tokensMatch(tokens, text));
}

/** Why a text is no glob; `undefined` if it is one. */
export function globProblem(pattern: string): string | undefined {
  const read = readGlob(pattern);
  return typeof read === 'string' ? read : undefined;
}

/** Like `globMatches` without braces and brackets: those of CODEOWNERS and of logins stand for themselves. */
export function plainGlobMatches(pattern: string, text: string): boolean {
  if (!/[\\?*]/.test(pattern)) return pattern === text;
  return tokensMatch(tokenise((pattern.match(/\\?./gsu) ?? []).map(plainChar)), text);
}

/**
 * Whether a list of globs matches a text: an entry does, and no entry behind a `!` does. A list of such entries only
 * matches everything else.
 */
export function anyGlobMatches(
  patterns: readonly string[],
  text: string,
  matches: (pattern: string, text: string) => boolean = globMatches,
): boolean {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const refused = patterns.filter((pattern) => pattern.startsWith('!'));
  if (refused.some((pattern) => matches(pattern.slice(1), text))) return false;
  return wanted.length === 0 ? refused.length > 0 : wanted.some((pattern) => matches(pattern, text));
}

/** The most alternatives that the braces of one glob may stand for. */
const MAX_ALTERNATIVES = 64;

/** One character of a pattern, or a set of them in brackets. */
interface Char {
  char: string;
  /** It stands for itself, whatever it means elsewhere. */
  plain?: true;
  set?: { negated: boolean; ranges: readonly (readonly [string, string])[] };
}

function plainChar(char: string): Char {
  return char.length > 1 && char.startsWith('\\') ? { char: char.slice(1), plain: true } : { char };
}

/** The alternatives of a glob, or why it is none. */
function readGlob(pattern: string): Char[][] | string {
  const chars: readonly string[] = pattern.match(/\\?./gsu) ?? [];
  let at = 0;

  /** Up to the end, or to a `,` or `}` that belongs to the braces around it. */
  function sequence(depth: number): Char[][] | string {
    let found: Char[][] = [[]];
    for (; at < chars.length; at++) {
      const char = chars[at] ?? '';
      if (depth > 0 && (char === ',' || char === '}')) break;
      const next = char === '{' ? braces(depth + 1) : char === '[' ? brackets() : [[plainChar(char)]];
      if (typeof next === 'string') return next;
      found = found.flatMap((before) => next.map((after) => [...before, ...after]));
      if (found.length > MAX_ALTERNATIVES)
        return `its braces stand for more than ${MAX_ALTERNATIVES} alternatives`;
    }
    return found;
  }

  function braces(depth: number): Char[][] | string {
    const found: Char[][] = [];
    if (depth > 4) return 'its braces are nested too deeply';
    do {
      at++;
      const next = sequence(depth);
      if (typeof next === 'string') return next;
      found.push(...next);
    } while (chars[at] === ',');
    return chars[at] === '}' ? found : 'a "{" has no "}"; write \\{ for the character itself';
  }

  function brackets(): Char[][] | string {
    const end = chars.indexOf(']', at + 2);
    if (end < 0) return 'a "[" has no "]"; write \\[ for the character itself';
    const inside = chars.slice(at + 1, end).map((char) => plainChar(char));
    const negated = inside.length > 1 && !inside[0]?.plain && ['!', '^'].includes(inside[0]?.char ?? '');
    const ranges: [string, string][] = [];
    const members = negated ? inside.slice(1) : inside;
    for (let index = 0; index < members.length; index++) {
      const from = members[index]?.char ?? '';
      const isRange = members[index + 1]?.char === '-' && !members[index + 1]?.plain && members[index + 2];
      const to = isRange ? (members[index + 2]?.char ?? from) : from;
      if (to < from) return `the range ${from}-${to} is backwards`;
      ranges.push([from, to]);
      if (isRange) index += 2;
    }
    at = end;
    return [[{ char: '', set: { negated, ranges } }]];
  }

  return sequence(0);
}

function tokensMatch(tokens: readonly Token[], text: string): boolean {
  let positions = closure(tokens, [0]);
  for (const char of text) {
    const next: number[] = [];
    for (const position of positions) {
      const token = tokens[position];
      if (token === undefined) continue;
      switch (token.kind) {
        case 'char':
          if (token.char === char) next.push(position + 1);
          break;
        case 'set':
          if (char !== '/' && inSet(token, char)) next.push(position + 1);
          break;
        case 'one':
          if (char !== '/') next.push(position + 1);
          break;
        case 'run':
          if (char !== '/') next.push(position);
          break;
        case 'any':
          next.push(position);
          break;
        case 'inside':
          next.push(position);
          if (char === '/') next.push(position + 1);
          break;
        case 'folders':
          break;
      }
    }
    if (next.length === 0) return false;
    positions = closure(tokens, next);
  }
  return positions.includes(tokens.length);
}

/**
 * `folders` consumes nothing. It leads into the folders (`inside`, which ends after a slash) and past them.
 */
type Token =
  | { kind: 'char'; char: string }
  | ({ kind: 'set' } & NonNullable<Char['set']>)
  | { kind: 'one' | 'run' | 'any' | 'folders' | 'inside' };

function tokenise(chars: readonly Char[]): Token[] {
  const tokens: Token[] = [];
  const isStar = (at: number) => chars[at]?.char === '*' && !chars[at]?.plain;
  for (let at = 0; at < chars.length; at++) {
    const { char, plain, set } = chars[at] as Char;
    if (set) tokens.push({ kind: 'set', ...set });
    else if (plain || (char !== '?' && char !== '*')) tokens.push({ kind: 'char', char });
    else if (char === '?') tokens.push({ kind: 'one' });
    else if (!isStar(at + 1)) tokens.push({ kind: 'run' });
    else {
      const opensFolder = at === 0 || chars[at - 1]?.char === '/';
      while (isStar(at + 1)) at++;
      if (opensFolder && chars[at + 1]?.char === '/') {
        tokens.push({ kind: 'folders' }, { kind: 'inside' });
        at++;
      } else tokens.push({ kind: 'any' });
    }
  }
  return tokens;
}

function inSet({ negated, ranges }: NonNullable<Char['set']>, char: string): boolean {
  return ranges.some(([from, to]) => char >= from && char <= to) !== negated;
}

/** The given positions, and those that are reachable from them without reading a character. */
function closure(tokens: readonly Token[], positions: number[]): number[] {
  const all = new Set<number>();
  for (let position = positions.pop(); position !== undefined; position = positions.pop()) {
    if (all.has(position)) continue;
    all.add(position);
    const kind = tokens[position]?.kind;
    if (kind === 'run' || kind === 'any' || kind === 'folders') positions.push(position + 1);
    if (kind === 'folders') positions.push(position + 2);
  }
  return [...all];
}
