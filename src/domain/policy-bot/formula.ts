/** A condition over facts of a pull request, as it is written in an expression. */
export type Formula =
  | { kind: 'constant'; value: boolean }
  /** An expression that can stand between `and` and `or`. */
  | { kind: 'atom'; text: string }
  | { kind: 'not'; of: Formula }
  | { kind: 'and' | 'or'; of: readonly Formula[] };

export const TRUE: Formula = { kind: 'constant', value: true };
export const FALSE: Formula = { kind: 'constant', value: false };

export function atom(text: string): Formula {
  return { kind: 'atom', text };
}

export function not(of: Formula): Formula {
  switch (of.kind) {
    case 'constant':
      return of.value ? FALSE : TRUE;
    case 'not':
      return of.of;
    case 'and':
    case 'or':
      return joined(of.kind === 'and' ? 'or' : 'and', of.of.map(not));
    case 'atom':
      return { kind: 'not', of };
  }
}

export function and(...of: readonly Formula[]): Formula {
  return joined('and', of);
}

export function or(...of: readonly Formula[]): Formula {
  return joined('or', of);
}

/**
 * Without what changes nothing: constants, repeated parts, what other parts imply, and all if two parts contradict each
 * other. Everything is said of `and`; `or` is its mirror image.
 */
function joined(kind: 'and' | 'or', of: readonly Formula[]): Formula {
  const neutral = kind === 'and' ? TRUE : FALSE;
  const opposite = not(neutral);
  let parts = of.flatMap((one) => (one.kind === kind ? one.of : [one]));
  for (let isNew = true; isNew; ) {
    isNew = false;
    const literals = new Set(parts.filter(isLiteral).map(textOf));
    parts = parts.flatMap((part) => {
      const found = within(part, kind, literals);
      if (found !== part) isNew = true;
      return found.kind === kind ? found.of : [found];
    });
  }
  const different = new Map(parts.map((part) => [textOf(part), part]));
  const all = [...different.values()].filter((part) => textOf(part) !== textOf(neutral));
  if (all.some((part) => textOf(part) === textOf(opposite) || different.has(textOf(not(part)))))
    return opposite;
  const [only] = all;
  if (only === undefined) return neutral;
  return all.length === 1 ? only : { kind, of: all };
}

/** A part of the other kind, beside literals that hold: of `a and (not a or b)`, it is `b`. */
function within(part: Formula, kind: 'and' | 'or', literals: ReadonlySet<string>): Formula {
  if ((part.kind !== 'and' && part.kind !== 'or') || part.kind === kind) return part;
  if (part.of.some((one) => literals.has(textOf(one)))) return kind === 'and' ? TRUE : FALSE;
  const left = part.of.filter((one) => !literals.has(textOf(not(one))));
  return left.length === part.of.length ? part : joined(part.kind, left);
}

function isLiteral(formula: Formula): boolean {
  return formula.kind === 'atom' || formula.kind === 'not';
}

/** The formula as an expression, without its braces. */
export function textOf(formula: Formula): string {
  switch (formula.kind) {
    case 'constant':
      return String(formula.value);
    case 'atom':
      return formula.text;
    case 'not':
      return `not ${nested(formula.of)}`;
    case 'and':
    case 'or':
      return formula.of.map(nested).join(` ${formula.kind} `);
  }
}

function nested(formula: Formula): string {
  const text = textOf(formula);
  return formula.kind === 'constant' ? text : `(${text})`;
}

/**
 * What is known of a condition that Countersign may not be able to judge exactly: `low` holds only if the condition holds, and
 * `up` holds whenever it does. They are equal if it can be judged exactly.
 */
export interface Range {
  low: Formula;
  up: Formula;
}

export const ALWAYS: Range = exactly(TRUE);
/** Nothing is known of it. */
export const UNKNOWN: Range = { low: FALSE, up: TRUE };

export function exactly(formula: Formula): Range {
  return { low: formula, up: formula };
}

export function isExact({ low, up }: Range): boolean {
  return textOf(low) === textOf(up);
}

export function notRange({ low, up }: Range): Range {
  return { low: not(up), up: not(low) };
}

export function allOf(ranges: readonly Range[]): Range {
  return capped({ low: and(...ranges.map(({ low }) => low)), up: and(...ranges.map(({ up }) => up)) });
}

export function anyOf(ranges: readonly Range[]): Range {
  return capped({ low: or(...ranges.map(({ low }) => low)), up: or(...ranges.map(({ up }) => up)) });
}

/** No expression can be so long. What is made of it stays short, too. */
const MAX_LENGTH = 8_000;

/** Forgets what is too long to be said. */
function capped({ low, up }: Range): Range {
  return {
    low: textOf(low).length > MAX_LENGTH ? FALSE : low,
    up: textOf(up).length > MAX_LENGTH ? TRUE : up,
  };
}
