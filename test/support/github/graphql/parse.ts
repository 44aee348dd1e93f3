import { ApiError } from '../api-error.ts';

/** A field that a query selects, with its alias. */
export interface Selection {
  readonly name: string;
  readonly alias: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly selections: readonly Selection[];
}

export interface Operation {
  readonly kind: 'query' | 'mutation';
  readonly selections: readonly Selection[];
}

const TOKEN = /\s*(?:,|#[^\n]*)*\s*(\.\.\.|[{}()[\]:!=$]|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|[A-Za-z_]\w*)/y;

/**
 * Reads the part of GraphQL that this app's queries use: one operation with variables, arguments, aliases and inline fragments.
 * The package `graphql` was rejected: it is 1 MB for what is a few dozen lines here, and only tests need it.
 */
export function parseQuery(text: string, variables: Readonly<Record<string, unknown>>): Operation {
  const tokens = tokensOf(text);
  let at = 0;
  const next = (): string => tokens[at++] ?? fail('the end of the query');
  const take = (wanted: string): boolean => tokens[at] === wanted && ++at > 0;
  const expect = (wanted: string): void => {
    if (!take(wanted)) fail(tokens[at] ?? 'the end of the query');
  };

  const value = (): unknown => {
    const token = next();
    if (token === '$') return variables[next()] ?? null;
    if (token === '[') {
      const list: unknown[] = [];
      while (!take(']')) list.push(value());
      return list;
    }
    if (token === '{') return members('}');
    if (token === 'true' || token === 'false') return token === 'true';
    if (token === 'null') return null;
    return /^["\d-]/.test(token) ? JSON.parse(token) : token;
  };
  const members = (end: string): Record<string, unknown> => {
    const read: Record<string, unknown> = {};
    while (!take(end)) {
      const name = next();
      expect(':');
      read[name] = value();
    }
    return read;
  };
  const selections = (): Selection[] => {
    const read: Selection[] = [];
    expect('{');
    while (!take('}')) {
      if (take('...')) {
        expect('on');
        next();
        read.push(...selections());
        continue;
      }
      const first = next();
      const name = take(':') ? next() : first;
      const args = take('(') ? members(')') : {};
      read.push({ name, alias: first, args, selections: tokens[at] === '{' ? selections() : [] });
    }
    return read;
  };

  const kind = tokens[0] === 'mutation' ? 'mutation' : 'query';
  while (tokens[at] !== '{' && at < tokens.length) {
    // The types of variables add nothing to their values.
    if (take('(')) while (!take(')')) next();
    else next();
  }
  return { kind, selections: selections() };
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const pattern = new RegExp(TOKEN);
  for (let at = 0; at < text.trimEnd().length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const token = pattern.exec(text)?.[1];
    if (token === undefined) fail(text.slice(at, at + 10));
    else tokens.push(token);
  }
  return tokens;
}

function fail(what: string): never {
  throw new ApiError(400, `Parse error on ${JSON.stringify(what)}`);
}
