/** Files that would exhaust, confuse or deceive a YAML reader, with the place and text of the first error. */
export const YAML_ATTACKS: readonly [
  name: string,
  text: string,
  place: `${number}:${number}`,
  diagnostic: RegExp,
][] = [
  ['a billion laughs in lists', laughs((value) => `[${value}]`), '2:8', /more than 20 aliases/],
  ['a billion laughs in mappings', laughs((value) => `{${keyed(value)}}`), '2:12', /more than 20 aliases/],
  ['10,000 uses of one alias', `name: &a x\nl:\n${'- *a\n'.repeat(10_000)}`, '23:3', /more than 20 aliases/],
  ['15,000 aliases of nothing', '- *z\n'.repeat(13_000), '1:3', /\*z has no anchor before it/],
  ['an anchor that holds itself', 'name: &a [*a]', '1:10', /nested more than 32 deep/],
  ['two anchors that hold each other', 'a: &a [*b]\nb: &b [*a]', '1:8', /\*b has no anchor before it/],
  ['a merge key', 'name: x\n<<: { trigger: 1 }', '2:1', /unknown key "<<"/],
  ['a tag for JavaScript', 'name: !!js/function "() => 1"', '1:7', /Unresolved tag/],
  ['a tag for Python', 'name: !!python/object/apply:os.system [ls]', '1:7', /Unresolved tag/],
  ['a tag of its own', '%TAG ! tag:x,2000:\n---\nname: !y z', '3:7', /Unresolved tag/],
  ['bytes as a tag', 'name: !!binary aGVsbG8=', '1:7', /Unresolved tag/],
  ['a set', 'name: !!set { a, b }', '1:7', /Unresolved tag/],
  ['6,000 tags', '- !a b\n'.repeat(6_000), '1:3', /Unresolved tag/],
  ['a key twice', 'name: a\nname: b', '2:1', /"name" is here twice/],
  ['a key twice, deep inside', 'name: a\nsteps: [{ with: { x: 1, x: 2 } }]', '2:26', /"x" is here twice/],
  ['a key that sets the prototype', '__proto__: { polluted: true }', '1:1', /"__proto__" is not allowed/],
  ['the same, in disguise', 'name: a\n"\\u005f_proto__": 1', '2:1', /"__proto__" is not allowed/],
  ['the same, in inputs', 'steps: [{ with: { __proto__: { a: 1 } } }]', '1:19', /"__proto__" is not allowed/],
  ['a key called constructor', 'constructor: { prototype: { a: 1 } }', '1:1', /unknown key "constructor"/],
  ['a NUL', 'name: x\nbad: a\0b', '2:7', /control character U\+0000/],
  ['UTF-16', 'n\0a\0m\0e\0', '1:2', /control character U\+0000/],
  ['an escape sequence of a terminal', 'name: \u001b[31mred', '1:7', /control character U\+001B/],
  ['the same in one character', 'name: \u009b31mred', '1:7', /control character U\+009B/],
  ['bytes that are not UTF-8', 'name: x\n# \ufffd\n', '2:3', /not UTF-8/],
  ['30,000 open brackets', '['.repeat(30_000), '1:1', /nested too deeply|Flow sequence/],
  ['open braces', '{a: '.repeat(15_000), '1:1', /nested too deeply|Flow map/],
  ['mappings as keys', '? '.repeat(30_000), '1:1', /nested too deeply/],
  ['lists in lists', '- '.repeat(30_000), '1:1', /nested too deeply/],
  ['300 indents', indented(300), '34:34', /nested more than 32 deep/],
  ['60,000 commas', `[${','.repeat(60_000)}`, '1:3', /Unexpected , in flow sequence/],
  ['60,000 colons', ':'.repeat(60_000), '1:1', /at most 1024 chars/],
  ['a text that never ends', `name: "${'x\n'.repeat(30_000)}`, '30001:1', /Missing closing/],
  ['15,000 directives', '%A b\n'.repeat(13_000), '13001:1', /Missing directives-end/],
  ['20,000 documents', '---\na\n'.repeat(10_000), '3:1', /one document/],
  ['a number of 60,000 digits', `name: ${'9'.repeat(60_000)}`, '1:7', /finite number/],
  ['a number beyond all numbers', 'name: 1e999999', '1:7', /finite number/],
  ['3,000 unknown keys', many((n) => `nam${n}: 1`, 3_000), '1:1', /is missing|unknown key/],
  ['10 MB of text', 'a'.repeat(10_000_000), '1:1', /larger than 64 KB/],
  ['10 MB of list', '- a\n'.repeat(2_500_000), '1:1', /larger than 64 KB/],
];

function laughs(wrap: (value: string) => string): string {
  const names = [...'abcdefghi'];
  const line = (name: string, before: string | undefined) =>
    `${name}: &${name} ${wrap(
      Array(9)
        .fill(before === undefined ? 'lol' : `*${before}`)
        .join(', '),
    )}`;
  return names.map((name, index) => line(name, names[index - 1])).join('\n');
}

function keyed(values: string): string {
  return values
    .split(', ')
    .map((value, index) => `k${index}: ${value}`)
    .join(', ');
}

function indented(levels: number): string {
  return Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
}

function many(line: (number: number) => string, count: number): string {
  return Array.from({ length: count }, (_, number) => line(number)).join('\n');
}
