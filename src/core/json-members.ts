/**
 * A diagnostic for JSON that two readers could understand differently. Such JSON has an object with the same
 * key twice, of which `JSON.parse` silently keeps the last, or a key `__proto__`, which is lost when objects
 * are copied. `undefined` if there is no such key. Rejected: a reviver for `JSON.parse`, which sees only the
 * last of two equal keys.
 * @param json a document that `JSON.parse` accepts.
 */
export function memberDiagnostic(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '{') open.push(new Set());
    if (json[at] === '}') open.pop();
    if (json[at] !== '"') continue;
    const end = endOfString(json, at);
    if (isKey(json, end)) {
      const key: string = JSON.parse(json.slice(at, end));
      const known = open.at(-1);
      if (key === '__proto__') return 'the key "__proto__" is not allowed';
      if (known?.has(key)) return `the key ${JSON.stringify(key)} is here twice`;
      known?.add(key);
    }
    at = end - 1;
  }
  return undefined;
}

/**
 * The index after the closing quote. Rejected: a regular expression, whose stack overflows on millions of
 * escapes.
 */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isKey(json: string, end: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = end;
  return colon.test(json);
}
