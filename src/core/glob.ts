/**
 * Whether the whole text matches a glob: `?` matches one character but not `/`, `*` any run without `/`, `**`
 * any run. A `**` between slashes (or at the start) also matches no folder, so `src/**` + `/*.ts` matches
 * `src/a.ts`.
 *
 * Follows all reachable positions in the pattern at once, so the time is text × wildcards for any input.
 * Rejected: a translation to RegExp. It backtracks, and file names come from the pull request.
 */
export function globMatches(pattern: string, text: string): boolean {
  return compileGlob(pattern)(text);
}

/** Compiles a glob once, to match many texts. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const tokens = tokenise([...pattern]);
  return (text) => tokensMatch(tokens, text);
}

/** Like `globMatches`, but a backslash escapes the next character. */
export function escapedGlobMatches(pattern: string, text: string): boolean {
  return tokensMatch(tokenise(pattern.match(/\\?./gsu) ?? []), text);
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

export function anyGlobMatches(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => globMatches(pattern, text));
}

/**
 * `folders` consumes nothing. It leads into the folders (`inside`, which ends after a slash) and past them.
 */
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
