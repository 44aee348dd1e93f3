import { LRUCache } from 'lru-cache';
import type { Json } from '../../core/canonical.ts';
import { type CompiledExpression, compileParsed } from './expression.ts';
import { type Expression, parseSegments } from './syntax.ts';

/**
 * Compiled text with `{{ … }}`. Evaluates to a string, or to the native value if it is a single expression.
 */
export type CompiledTemplate = CompiledExpression;

/** Whether a text holds expressions, or tags and comments that the parser refuses. */
export function holdsExpression(text: string): boolean {
  return /\{[{%#]/.test(text);
}

/** An expression as it stands inside its braces. */
export function withoutBraces(source: string): string {
  return source.replace(/^\s*\{\{\s*|\s*\}\}\s*$/g, '');
}

const compiledOf = new LRUCache<string, CompiledTemplate>({ max: 500 });

/**
 * Compiles a value of `with:` or of a filter. Text that is a single `{{ … }}` keeps the value's type, so that
 * `pr: "{{ trigger.pr_number }}"` passes a number. Text without `{{ … }}` evaluates to itself and can have
 * any length.
 * @throws ExpressionError, and no other error
 */
export function compileTemplate(source: string): CompiledTemplate {
  if (!holdsExpression(source))
    return { source, references: [], attributes: [], equated: [], evaluate: () => source };
  const known = compiledOf.get(source);
  if (known) return known;
  const compiled = compiledNow(source);
  compiledOf.set(source, compiled);
  return compiled;
}

function compiledNow(source: string): CompiledTemplate {
  const segments = parseSegments(source);
  const filled = segments.filter((segment) => segment.kind === 'expression' || segment.text.trim() !== '');
  const only = filled.length === 1 ? filled[0] : undefined;
  const expression: Expression =
    only?.kind === 'expression'
      ? only.expression
      : {
          offset: 0,
          kind: 'concat',
          parts: segments.map((segment) =>
            segment.kind === 'expression'
              ? segment.expression
              : { offset: 0, kind: 'literal', value: segment.text },
          ),
        };
  return { source, ...compileParsed(expression) };
}

/**
 * Renders a text and encodes only its expressions' values, for example for a comment: the chain's author may
 * write Markdown, a pull request's title may not. Adjacent values are encoded as one, because two harmless
 * halves such as `@` and `octo/owners` must not combine to a mention.
 * @throws ExpressionError for a text that the parser refuses
 */
export function renderText(source: string, context: object, encode: (value: string) => string): string {
  if (!holdsExpression(source)) return source;
  let rendered = '';
  let values = '';
  for (const segment of parseSegments(source)) {
    if (segment.kind === 'expression') {
      const value = compileParsed(segment.expression).evaluate(context);
      values += typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);
    } else if (segment.text !== '') {
      rendered += encode(values) + segment.text;
      values = '';
    }
  }
  return rendered + encode(values);
}

/**
 * Renders every string in the values, at any depth, but not the keys. A value that the context lacks becomes
 * `null` rather than a missing key: an action then refuses it instead of silently using a default.
 * @throws ExpressionError for a text that the parser refuses
 */
export function renderWith(values: Readonly<Record<string, Json>>, context: object): Record<string, Json> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, renderValue(value, context)]));
}

function renderValue(value: Json, context: object): Json {
  if (typeof value === 'string') return compileTemplate(value).evaluate(context) ?? null;
  if (Array.isArray(value)) return value.map((item) => renderValue(item, context));
  return typeof value === 'object' && value !== null ? renderWith(value, context) : value;
}
