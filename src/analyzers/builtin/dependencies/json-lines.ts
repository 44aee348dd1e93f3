/** A value in a JSON text with its lines, from 1. */
export type JsonNode = { line: number; endLine: number } & (
  | { kind: 'object'; members: ReadonlyMap<string, JsonNode> }
  | { kind: 'list'; items: readonly JsonNode[] }
  | { kind: 'value'; value: string | number | boolean | null }
);

const MAX_DEPTH = 64;
const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const PLAIN = /-?\d[\d.eE+-]*|true|false|null/y;

/**
 * Parses JSON with the position of each value. Stricter than `JSON.parse`: a duplicate key is an error,
 * because tools differ in which of the two they use.
 * @throws SyntaxError
 */
export function parseJsonWithLines(text: string): JsonNode {
  let at = 0;
  let line = 1;
  const skip = (length: number) => {
    for (let end = at + length; at < end; at++) if (text[at] === '\n') line++;
  };
  const space = () => {
    SPACE.lastIndex = at;
    skip(SPACE.exec(text)?.[0].length ?? 0);
  };
  const take = (sign: string): boolean => {
    space();
    if (text[at] !== sign) return false;
    at++;
    return true;
  };
  const expect = (sign: string) => {
    if (!take(sign)) throw new SyntaxError(`line ${line}: "${sign}" is missing`);
  };
  const read = (pattern: RegExp, what: string): unknown => {
    space();
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) throw new SyntaxError(`line ${line}: ${what} is missing`);
    at += found.length;
    return JSON.parse(found);
  };

  const value = (depth: number): JsonNode => {
    if (depth > MAX_DEPTH) throw new SyntaxError(`line ${line}: nested more than ${MAX_DEPTH} deep`);
    space();
    const start = line;
    if (take('{')) return object(start, depth);
    if (take('[')) return list(start, depth);
    const plain = read(text[at] === '"' ? STRING : PLAIN, 'a value') as string | number | boolean | null;
    return { kind: 'value', value: plain, line: start, endLine: line };
  };
  const object = (start: number, depth: number): JsonNode => {
    const members = new Map<string, JsonNode>();
    if (!take('}')) {
      do {
        space();
        const keyLine = line;
        const key = read(STRING, 'a key') as string;
        if (members.has(key))
          throw new SyntaxError(`line ${keyLine}: the key ${JSON.stringify(key)} is here twice`);
        expect(':');
        members.set(key, { ...value(depth + 1), line: keyLine });
      } while (take(','));
      expect('}');
    }
    return { kind: 'object', members, line: start, endLine: line };
  };
  const list = (start: number, depth: number): JsonNode => {
    const items: JsonNode[] = [];
    if (!take(']')) {
      do items.push(value(depth + 1));
      while (take(','));
      expect(']');
    }
    return { kind: 'list', items, line: start, endLine: line };
  };

  const whole = value(0);
  space();
  if (at < text.length) throw new SyntaxError(`line ${line}: there is more after the end`);
  return whole;
}

export function memberAt(node: JsonNode | undefined, ...keys: readonly string[]): JsonNode | undefined {
  return keys.reduce<JsonNode | undefined>(
    (at, key) => (at?.kind === 'object' ? at.members.get(key) : undefined),
    node,
  );
}

export function textAt(node: JsonNode | undefined, ...keys: readonly string[]): string | undefined {
  const found = memberAt(node, ...keys);
  return found?.kind === 'value' && typeof found.value === 'string' ? found.value : undefined;
}

/** The members of an object; empty for any other value. */
export function membersOf(node: JsonNode | undefined): ReadonlyMap<string, JsonNode> {
  return node?.kind === 'object' ? node.members : new Map();
}
