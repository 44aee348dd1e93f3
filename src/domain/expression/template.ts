import type { Json } from '../../core/canonical.ts';
import { type CompiledExpression, compileParsed } from './expression.ts';
import { type Expression, parseSegments } from './syntax.ts';

/** Compiled text with `{{ … }}` in it; evaluates to text, or to the native value when it is one expression alone. */
export type CompiledTemplate = CompiledExpression;

/**
 * Compiles a value of `with:` or of a filter. Text that is one `{{ … }}` alone keeps the value's own type, so that
 * `pr: "{{ trigger.pr_number }}"` hands over a number. Text without marks is itself, of any length.
 * @throws ExpressionError, and nothing else.
 */
export function compileTemplate(source: string): CompiledTemplate {
  if (!/\{[{%#]/.test(source)) return { source, references: [], evaluate: () => source };
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
 * A text whose own words stay as written and whose filled-in values pass an encoder: for places such as a comment, where
 * the chain's author may write Markdown and a pull request's title may not. Values side by side are encoded as one: two harmless
 * halves, `@` and `octo/owners`, must not make a whole.
 * @throws ExpressionError for a text that the parser would have refused.
 */
export function renderText(source: string, context: object, encode: (value: string) => string): string {
  if (!/\{[{%#]/.test(source)) return source;
  let done = '';
  let values = '';
  for (const segment of parseSegments(source)) {
    if (segment.kind === 'expression') {
      const value = compileParsed(segment.expression).evaluate(context);
      values += typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);
    } else if (segment.text !== '') {
      done += encode(values) + segment.text;
      values = '';
    }
  }
  return done + encode(values);
}

/**
 * The values with every text in them rendered, at any depth; keys are left alone. What a context does not hold becomes
 * `null` rather than a missing key: an action then refuses the value instead of falling back to a default by accident.
 * @throws ExpressionError for a text that the parser would have refused.
 */
export function renderWith(values: Readonly<Record<string, Json>>, context: object): Record<string, Json> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, renderValue(value, context)]));
}

function renderValue(value: Json, context: object): Json {
  if (typeof value === 'string') return compileTemplate(value).evaluate(context) ?? null;
  if (Array.isArray(value)) return value.map((item) => renderValue(item, context));
  return typeof value === 'object' && value !== null ? renderWith(value, context) : value;
}
