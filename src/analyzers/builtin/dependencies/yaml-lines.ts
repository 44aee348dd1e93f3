import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { JsonNode } from './json-lines.ts';

const MAX_DEPTH = 32;

/**
 * Reads YAML as package managers write it: without aliases, custom tags or duplicate keys.
 * @throws SyntaxError for other YAML
 */
export function parseYamlWithLines(text: string): JsonNode {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    schema: 'failsafe',
    stringKeys: true,
    prettyErrors: false,
  });
  const [error] = document.errors;
  if (error) throw new SyntaxError(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
  const lineAt = (offset: number) => lines.linePos(offset).line;

  const place = (node: unknown, depth: number): JsonNode => {
    if (depth > MAX_DEPTH) throw new SyntaxError(`it is nested more than ${MAX_DEPTH} deep`);
    const [from = 0, to = from] = (node as Node | null)?.range ?? [];
    const at = { line: lineAt(from), endLine: lineAt(Math.max(from, to - 1)) };
    if (isMap(node)) {
      const members = node.items.map(({ key, value }) => {
        const keyLine = lineAt((key as Node).range?.[0] ?? 0);
        return [
          isScalar(key) ? String(key.value) : '',
          { ...place(value, depth + 1), line: keyLine },
        ] as const;
      });
      return { kind: 'object', members: new Map(members), ...at };
    }
    if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => place(item, depth + 1)), ...at };
    if (isScalar(node)) return { kind: 'value', value: String(node.value ?? ''), ...at };
    if (node === null) return { kind: 'value', value: null, ...at };
    throw new SyntaxError(`line ${at.line}: this is not how package managers write YAML`);
  };
  return place(document.contents, 0);
}
