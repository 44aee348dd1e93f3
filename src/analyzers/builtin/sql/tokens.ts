/** One token of SQL. `value` is in upper case for words, so that it can be compared; `text` is as written. */
export interface Token {
  kind: 'word' | 'name' | 'string' | 'number' | 'sign';
  text: string;
  value: string;
  /** From 1. */
  line: number;
}

export interface Tokens {
  tokens: Token[];
  /** The line where something begins that has no end, or different ends in different databases. */
  unreadable: number | undefined;
  /** Texts of comments, such as the markers of migration tools. */
  comments: string[];
}

const SPACE = /[\s\uFEFF]+/y;
const LINE_COMMENT = /--[^\n]*/y;
const WORD = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const NUMBER = /\d[\w.]*/y;
const DOLLAR = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;
const CONDITIONAL = /\/\*!\d*/y;

/**
 * Splits SQL of PostgreSQL, MySQL and SQLite into tokens, in linear time. Where they differ, as for a
 * backslash before a quote, it does not guess: a wrong guess would treat code as text.
 */
export function tokenize(sql: string, firstLine = 1): Tokens {
  const tokens: Token[] = [];
  const comments: string[] = [];
  let unreadable: number | undefined;
  let line = firstLine;
  let at = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(sql)?.[0];
  };
  const skip = (text: string) => {
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) line++;
    at += text.length;
  };
  const push = (kind: Token['kind'], text: string, value = text) => {
    tokens.push({ kind, text, value, line });
    skip(text);
  };
  const stop = () => {
    unreadable ??= line;
    at = sql.length;
  };

  while (at < sql.length) {
    const space = match(SPACE);
    if (space !== undefined) {
      skip(space);
      continue;
    }
    const comment = match(LINE_COMMENT);
    if (comment !== undefined) {
      comments.push(comment.slice(2).trim());
      skip(comment);
      continue;
    }
    // MySQL executes the content of such a comment.
    const conditional = match(CONDITIONAL);
    if (conditional !== undefined) {
      skip(conditional);
      continue;
    }
    if (sql.startsWith('*/', at)) {
      skip('*/');
      continue;
    }
    if (sql.startsWith('/*', at)) {
      const end = endOfComment(sql, at);
      if (end === undefined) stop();
      else {
        comments.push(sql.slice(at + 2, end - 2).trim());
        skip(sql.slice(at, end));
      }
      continue;
    }
    const dollar = match(DOLLAR);
    if (dollar !== undefined) {
      const end = sql.indexOf(dollar, at + dollar.length);
      if (end < 0) stop();
      else push('string', sql.slice(at, end + dollar.length), sql.slice(at + dollar.length, end));
      continue;
    }
    const quote = sql[at] ?? '';
    if (quote === "'" || quote === '"' || quote === '`') {
      const quoted = quotedAt(sql, at, quote);
      if (quoted === undefined) stop();
      else push(quote === "'" ? 'string' : 'name', quoted, quoted.slice(1, -1));
      continue;
    }
    const word = match(WORD);
    if (word !== undefined) {
      push('word', word, word.toUpperCase());
      continue;
    }
    push(
      match(NUMBER) === undefined ? 'sign' : 'number',
      match(NUMBER) ?? String.fromCodePoint(sql.codePointAt(at) ?? 0),
    );
  }
  return { tokens, unreadable, comments };
}

/** PostgreSQL nests comments and the others do not, so a comment inside another is unreadable. */
function endOfComment(sql: string, from: number): number | undefined {
  const end = sql.indexOf('*/', from + 2);
  const inner = sql.indexOf('/*', from + 2);
  return end < 0 || (inner >= 0 && inner < end) ? undefined : end + 2;
}

/** A doubled quote is part of the text. `undefined` if there is no end, or a backslash precedes a quote. */
function quotedAt(sql: string, from: number, quote: string): string | undefined {
  for (let at = sql.indexOf(quote, from + 1); at >= 0; at = sql.indexOf(quote, at + 2)) {
    if (quote !== '`' && sql[at - 1] === '\\') return undefined;
    if (sql[at + 1] !== quote) return sql.slice(from, at + 1);
  }
  return undefined;
}

export interface Statement {
  tokens: readonly Token[];
  line: number;
  endLine: number;
}

/** Splits at semicolons. */
export function statementsOf(tokens: readonly Token[]): Statement[] {
  const statements: Statement[] = [];
  let current: Token[] = [];
  const end = () => {
    const [first, last] = [current[0], current.at(-1)];
    if (first && last) statements.push({ tokens: current, line: first.line, endLine: last.line });
    current = [];
  };
  for (const token of tokens) {
    if (token.kind === 'sign' && token.value === ';') end();
    else current.push(token);
  }
  end();
  return statements;
}

/** Splits at commas outside of brackets. */
export function partsOf(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'sign' && token.value === '(') depth++;
    if (token.kind === 'sign' && token.value === ')') depth--;
    if (depth === 0 && token.kind === 'sign' && token.value === ',') parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.filter((part) => part.length > 0);
}

/**
 * The tokens as one line with single spaces. Names and strings become `?`, so that their content never looks
 * like a keyword.
 */
export function wordsOf(tokens: readonly Token[]): string {
  return tokens.map(({ kind, value }) => (kind === 'name' || kind === 'string' ? '?' : value)).join(' ');
}
