/** A name that a template uses and no value has, with those that are there in its place. */
export interface MissingName {
  /** As written: `pr.titel`. */
  name: string;
  /** The names beside it: those of `pr`, or of the whole context. */
  known: string[];
}

/** Names with their members, unless they are a filter's (after `|`), a test's (after `is`), a keyword argument or within a string. */
const NAMES =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\|\s*\w+|\bis\s+(?:not\s+)?\w+|\b\w+\s*=(?!=)|([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)/g;
const WORDS = new Set(
  'and or not in is if elif else for endfor endif set endset with endwith macro endmacro true false none True False None loop range dict namespace debug raw endraw filter endfilter recursive'.split(
    ' ',
  ),
);

/**
 * Which name a line of a template means that is not there. The engine says the line of an undefined value and not its name, so the
 * line's own blocks are looked at: the first name in them that the context does not have, and that the template does not make itself.
 * @returns `undefined` when none is found, as where a value is reached by `[…]`.
 */
export function missingName(template: string, line: number, context: object): MissingName | undefined {
  const own = new Set(
    [...template.matchAll(/\{%-?\s*(?:for|set|with|macro)\b([^%]*)/g)].flatMap(([, text = '']) =>
      (text.split(/\bin\b/)[0] ?? '').match(/[A-Za-z_]\w*/g),
    ),
  );
  const blocks = (template.split('\n')[line - 1] ?? '').match(/\{\{.*?(\}\}|$)|\{%.*?(%\}|$)/g) ?? [];
  for (const block of blocks) {
    for (const [, name] of block.matchAll(NAMES)) {
      const [root = ''] = name?.split('.') ?? [];
      if (!name || WORDS.has(root) || own.has(root)) continue;
      const missing = missingIn(context, name);
      if (missing) return missing;
    }
  }
  return undefined;
}

function missingIn(context: object, name: string): MissingName | undefined {
  let at: unknown = context;
  for (const member of name.split('.')) {
    // A member of a text or a list is a method, or none of our business.
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return undefined;
    if (!Object.hasOwn(at, member)) return { name, known: Object.keys(at) };
    at = Reflect.get(at, member);
  }
  return undefined;
}
