/**
 * Whether the whole text matches a glob: `?` is one character but not `/`, `*` any run without `/`, `**` any run.
 * A `**` between slashes (or at the start) may also be no folder at all, so that `src/**` + `/*.ts` finds `src/a.ts`.
 *
 * All reachable places in the pattern are followed at once, so the time is text × wildcards whatever the input. A
 * translation to RegExp was rejected: it backtracks, and file names come from the pull request.
 */
export function globMatches(pattern: string, text: string): boolean {
  return compileGlob(pattern)(text);
}

/** The same for many texts. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const tokens = tokenise([...pattern]);
  return (text) => tokensMatch(tokens, text);
}

/** The same where a backslash takes the next character as it is. */
export function escapedGlobMatches(pattern: string, text: string): boolean {
  return tokensMatch(tokenise(pattern.match(/\\?./gsu) ?? []), text);
}

function tokensMatch(tokens: readonly Token[], text: string): boolean {
  let places = closure(tokens, [0]);
  for (const char of text) {
    const next: number[] = [];
    for (const place of places) {
      const token = tokens[place];
      if (token === undefined) continue;
      switch (token.kind) {
        case 'char':
          if (token.char === char) next.push(place + 1);
          break;
        case 'one':
          if (char !== '/') next.push(place + 1);
          break;
        case 'run':
          if (char !== '/') next.push(place);
          break;
        case 'any':
          next.push(place);
          break;
        case 'inside':
          next.push(place);
          if (char === '/') next.push(place + 1);
          break;
        case 'folders':
          break;
      }
    }
    if (next.length === 0) return false;
    places = closure(tokens, next);
  }
  return places.includes(tokens.length);
}

/** Whether any of the globs matches. */
export function anyGlobMatches(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => globMatches(pattern, text));
}

/** `folders` reads nothing: it offers a way into the folders (`inside`, which ends after a slash) and one past them. */
type Token = { kind: 'char'; char: string } | { kind: 'one' | 'run' | 'any' | 'folders' | 'inside' };

/** @param chars each with its backslash, if it has one */
function tokenise(chars: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? '';
    if (char === '?') tokens.push({ kind: 'one' });
    else if (char !== '*')
      tokens.push({ kind: 'char', char: char.length > 1 ? char.replace(/^\\/, '') : char });
    else if (chars[at + 1] !== '*') tokens.push({ kind: 'run' });
    else {
      const opensFolder = at === 0 || chars[at - 1] === '/';
      while (chars[at + 1] === '*') at++;
      if (opensFolder && chars[at + 1] === '/') {
        tokens.push({ kind: 'folders' }, { kind: 'inside' });
        at++;
      } else tokens.push({ kind: 'any' });
    }
  }
  return tokens;
}

/** The given places and those reached from them without reading a character. */
function closure(tokens: readonly Token[], places: number[]): number[] {
  const all = new Set<number>();
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    if (all.has(place)) continue;
    all.add(place);
    const kind = tokens[place]?.kind;
    if (kind === 'run' || kind === 'any' || kind === 'folders') places.push(place + 1);
    if (kind === 'folders') places.push(place + 2);
  }
  return [...all];
}
