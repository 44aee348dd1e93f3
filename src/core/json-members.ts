/**
 * What readers of JSON understand differently, as a part of a sentence: a member that one object has twice, of which `JSON.parse` keeps
 * the last without a word, or one called `__proto__`, which gets lost on the way through other objects. `undefined` for a document
 * without such. Rejected: a reviver for `JSON.parse`, which is told of the last of two members only.
 * @param json a document that `JSON.parse` reads.
 */
export function memberDiagnostic(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '{') open.push(new Set());
    if (json[at] === '}') open.pop();
    if (json[at] !== '"') continue;
    const end = endOfText(json, at);
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

/** Behind the closing quote. Not by a regular expression: on a text of some millions of escapes, its stack overflows. */
function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isKey(json: string, end: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = end;
  return colon.test(json);
}
