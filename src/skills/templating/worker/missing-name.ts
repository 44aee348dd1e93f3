/** A name in a template that has no value, with the names that exist instead. */
export interface MissingName {
  /** As written: `pr.titel`. */
  name: string;
  /** The names at the same level: those of `pr`, or of the whole context. */
  known: string[];
}

/**
 * Names with their members, except filters (after `|`), tests (after `is`), keyword arguments and text in
 * strings.
 */
const NAMES =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\|\s*\w+|\bis\s+(?:not\s+)?\w+|\b\w+\s*=(?!=)|([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)/g;
const WORDS = new Set(
  'and or not in is if elif else for endfor endif set endset with endwith macro endmacro true false none True False None loop range dict namespace debug raw endraw filter endfilter recursive'.split(
    ' ',
  ),
);

/**
 * Finds the missing name in a line of a template. The engine reports only the line of an undefined value, so
 * this searches the line's blocks for the first name that neither the context has nor the template defines.
 * @returns `undefined` if none is found, for example because the value is accessed by `[…]`
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
    // A member of a text or list is a method, which is not checked.
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return undefined;
    if (!Object.hasOwn(at, member)) return { name, known: Object.keys(at) };
    at = Reflect.get(at, member);
  }
  return undefined;
}
