import nunjucks from 'nunjucks';
import { notAllowed } from '../../core/diagnostic.ts';
import { CountersignError, unreachable } from '../../core/errors.ts';

/** An expression that does not parse. `offset` is the position in its source, in characters from 0. */
export class ExpressionError extends CountersignError {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super('bad_expression', message);
    this.offset = offset;
  }
}

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type Arithmetic = '+' | '-' | '*' | '/' | '//' | '%' | '**';

/** What can follow `is`. */
const TEST_NAMES = ['defined', 'none', 'string', 'number'] as const;
export type TestName = (typeof TEST_NAMES)[number];

/** `attribute='file'` in `map(attribute='file')`. */
interface NamedArgument {
  name: string;
  value: Expression;
  offset: number;
}

/** Everything that an expression can be. `admit` refuses every other node of nunjucks. */
export type Expression = { offset: number } & (
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'name'; name: string }
  | { kind: 'member'; target: Expression; key: Expression }
  | { kind: 'list'; items: Expression[] }
  | { kind: 'dict'; entries: { key: string; value: Expression }[] }
  | { kind: 'not' | 'negative' | 'positive'; operand: Expression }
  | { kind: 'and' | 'or' | 'in'; left: Expression; right: Expression }
  | { kind: 'concat'; parts: Expression[] }
  | { kind: 'compare'; operator: Comparison; left: Expression; right: Expression }
  | { kind: 'arithmetic'; operator: Arithmetic; left: Expression; right: Expression }
  | { kind: 'test'; name: TestName; operand: Expression }
  | { kind: 'choice'; condition: Expression; yes: Expression; no: Expression | undefined }
  | { kind: 'filter'; name: string; operand: Expression; args: Expression[]; named: NamedArgument[] }
);

export type Segment = { kind: 'text'; text: string } | { kind: 'expression'; expression: Expression };

const MAX_SOURCE = 2_000;
const MAX_NODES = 200;
const MAX_NESTING = 50;

/**
 * A nunjucks node, as in `nunjucks/src/nodes.js`. Positions count from 0; other members depend on `typename`.
 */
interface ParsedNode {
  typename: string;
  lineno: number;
  colno: number;
  [field: string]: unknown;
}

// The published types do not include the parser.
const { parser } = nunjucks as unknown as { parser: { parse(source: string): { children: ParsedNode[] } } };

/**
 * Parses text with `{{ … }}` by nunjucks' parser and accepts only nodes on our list. nunjucks never runs any
 * of it: its renderer compiles templates to JavaScript, which for text from a repository is remote code
 * execution.
 * @throws ExpressionError, and no other error
 */
export function parseSegments(source: string): Segment[] {
  if (source.length > MAX_SOURCE) {
    throw new ExpressionError(
      `this is ${source.length} characters long; at most ${MAX_SOURCE} are allowed`,
      0,
    );
  }
  refuse(
    source,
    '{%',
    'tags such as {% if %} are not available here; write a {{ … if … else … }} expression',
  );
  refuse(source, '{#', 'template comments are not available here; use a YAML comment');
  const offsetOf = offsets(source);
  const admit = admission(offsetOf);
  return parsed(source, offsetOf).flatMap((output) =>
    childrenOf(output).map(
      (child): Segment =>
        child.typename === 'TemplateData'
          ? { kind: 'text', text: String(child.value) }
          : { kind: 'expression', expression: admit(child) },
    ),
  );
}

/**
 * Parses one expression, bare or as exactly one `{{ … }}`. A bare one has its offsets three too high, because
 * it is parsed with braces.
 * @throws ExpressionError
 */
export function parseExpression(source: string): Expression {
  const bare = !source.includes('{{');
  const filled = parseSegments(bare ? `{{ ${source} }}` : source).filter(
    (segment) => segment.kind === 'expression' || segment.text.trim() !== '',
  );
  const only = filled[0];
  if (only?.kind === 'expression' && filled.length === 1) return only.expression;
  const message = 'a condition is exactly one expression, with nothing around its {{ }}';
  throw new ExpressionError(message, bare ? 3 : 0);
}

/** The expressions directly inside an expression. */
export function partsOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'name':
      return [];
    case 'member':
      return [expression.target, expression.key];
    case 'list':
      return expression.items;
    case 'dict':
      return expression.entries.map(({ value }) => value);
    case 'not':
    case 'negative':
    case 'positive':
    case 'test':
      return [expression.operand];
    case 'concat':
      return expression.parts;
    case 'and':
    case 'or':
    case 'in':
    case 'compare':
    case 'arithmetic':
      return [expression.left, expression.right];
    case 'choice':
      return [expression.condition, expression.yes, expression.no].flatMap((part) => part ?? []);
    case 'filter':
      return [expression.operand, ...expression.args, ...expression.named.map(({ value }) => value)];
    default:
      return unreachable(expression);
  }
}

function refuse(source: string, mark: string, message: string): void {
  const offset = source.indexOf(mark);
  if (offset >= 0) throw new ExpressionError(message, offset);
}

function parsed(source: string, offsetOf: OffsetOf): ParsedNode[] {
  try {
    return parser.parse(source).children;
  } catch (error) {
    throw readable(error, source, offsetOf);
  }
}

type OffsetOf = (line: number, column: number) => number;

function offsets(source: string): OffsetOf {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return (line, column) => Math.min((starts[line] ?? 0) + column, source.length);
}

/**
 * nunjucks fails in four ways: a TemplateError with a position, a TypeError at the end of the text, a
 * RangeError from its stack, and the JavaScript engine's SyntaxError for an invalid regular expression.
 */
function readable(error: unknown, source: string, offsetOf: OffsetOf): ExpressionError {
  const opening = Math.max(source.indexOf('{{'), 0);
  if (error instanceof RangeError) return new ExpressionError('the expression is nested too deeply', opening);
  if (error instanceof TypeError) return new ExpressionError('the expression ends too early', source.length);
  if (error instanceof SyntaxError) {
    return new ExpressionError('regular expressions are not available here', opening);
  }
  const { message, lineno, colno } = error as { message: string; lineno?: number; colno?: number };
  const offset = lineno === undefined || colno === undefined ? opening : offsetOf(lineno - 1, colno - 1);
  return new ExpressionError(plainWords(message), offset);
}

function plainWords(message: string): string {
  if (message === 'expected variable end') {
    return 'the expression does not go on like this; an operator, a closing quote or a closing }} may be missing';
  }
  if (message === 'unexpected token: }}') return 'an expression is missing before }}';
  return message.replace(/^parse\w+: /, '');
}

function childrenOf(node: ParsedNode): ParsedNode[] {
  return node.children as ParsedNode[];
}

const COMPARISONS: ReadonlyMap<unknown, Comparison> = new Map([
  ['==', '=='],
  ['===', '=='],
  ['!=', '!='],
  ['!==', '!='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
] as const);

const ARITHMETIC: ReadonlyMap<string, Arithmetic> = new Map([
  ['Add', '+'],
  ['Sub', '-'],
  ['Mul', '*'],
  ['Div', '/'],
  ['FloorDiv', '//'],
  ['Mod', '%'],
  ['Pow', '**'],
] as const);

const BINARY = new Map([
  ['And', 'and'],
  ['Or', 'or'],
  ['In', 'in'],
] as const) as ReadonlyMap<string, 'and' | 'or' | 'in'>;

const UNARY = new Map([
  ['Not', 'not'],
  ['Neg', 'negative'],
  ['Pos', 'positive'],
] as const) as ReadonlyMap<string, 'not' | 'negative' | 'positive'>;

/** Converts nunjucks nodes, kind by kind. Refuses every kind that is not listed here. */
function admission(offsetOf: OffsetOf): (node: ParsedNode) => Expression {
  let nodes = 0;

  const admit = (value: unknown, depth: number): Expression => {
    const node = value as ParsedNode | null | undefined;
    if (!node) throw new ExpressionError('an index is missing between [ and ]', 0);
    const offset = offsetOf(node.lineno, node.colno);
    if (++nodes > MAX_NODES)
      throw new ExpressionError(`the expression has more than ${MAX_NODES} parts`, offset);
    if (depth > MAX_NESTING) {
      throw new ExpressionError(`the expression is nested more than ${MAX_NESTING} deep`, offset);
    }
    const inner = (field: string) => admit(node[field], depth + 1);
    const all = (list: ParsedNode[]) => list.map((item) => admit(item, depth + 1));

    const binary = BINARY.get(node.typename);
    if (binary) return { offset, kind: binary, left: inner('left'), right: inner('right') };
    const unary = UNARY.get(node.typename);
    if (unary) return { offset, kind: unary, operand: inner('target') };
    const operator = ARITHMETIC.get(node.typename);
    if (operator) return { offset, kind: 'arithmetic', operator, left: inner('left'), right: inner('right') };

    switch (node.typename) {
      case 'Literal':
        return { offset, kind: 'literal', value: literal(node.value, offset) };
      case 'Symbol':
        return { offset, kind: 'name', name: String(node.value) };
      case 'LookupVal':
        return { offset, kind: 'member', target: inner('target'), key: inner('val') };
      case 'Group': {
        const [only, ...more] = childrenOf(node);
        if (!only || more.length > 0) throw new ExpressionError('brackets must hold one expression', offset);
        return admit(only, depth + 1);
      }
      case 'Array':
        return { offset, kind: 'list', items: all(childrenOf(node)) };
      case 'Dict':
        return {
          offset,
          kind: 'dict',
          entries: childrenOf(node).map((pair) => ({
            key: dictKey(pair.key as ParsedNode, offset),
            value: admit(pair.value, depth + 1),
          })),
        };
      case 'Concat':
        return { offset, kind: 'concat', parts: [inner('left'), inner('right')] };
      case 'Compare': {
        const [operand, ...more] = node.ops as ParsedNode[];
        const comparison = COMPARISONS.get(operand?.type);
        if (!operand || !comparison || more.length > 0) {
          throw new ExpressionError('compare two values at a time and join comparisons with `and`', offset);
        }
        const right = admit(operand.expr, depth + 1);
        return { offset, kind: 'compare', operator: comparison, left: inner('expr'), right };
      }
      case 'Is':
        return {
          offset,
          kind: 'test',
          name: testName(node.right as ParsedNode, offset),
          operand: inner('left'),
        };
      case 'InlineIf':
        return {
          offset,
          kind: 'choice',
          condition: inner('cond'),
          yes: inner('body'),
          no: node.else_ ? inner('else_') : undefined,
        };
      case 'Filter': {
        const [operand, ...args] = childrenOf(node.args as ParsedNode);
        const name = String((node.name as ParsedNode).value);
        // The parser puts all arguments with names into one node at the end.
        const pairs = args.flatMap((arg) => (arg.typename === 'KeywordArgs' ? childrenOf(arg) : []));
        return {
          offset,
          kind: 'filter',
          name,
          operand: admit(operand, depth + 1),
          args: all(args.filter(({ typename }) => typename !== 'KeywordArgs')),
          named: pairs.map((pair) => ({
            name: dictKey(pair.key as ParsedNode, offset),
            value: admit(pair.value, depth + 1),
            offset: offsetOf(pair.lineno, pair.colno),
          })),
        };
      }
      case 'FunCall':
      case 'Caller':
        throw new ExpressionError('functions cannot be called in expressions', offset);
      default:
        throw new ExpressionError(`${node.typename} is not available in expressions`, offset);
    }
  };

  return (node) => admit(node, 1);
}

function literal(value: unknown, offset: number): string | number | boolean | null {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value !== 'number') {
    throw new ExpressionError('regular expressions are not available here', offset);
  }
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new ExpressionError('this number is too large', offset);
  return value;
}

function dictKey(node: ParsedNode, offset: number): string {
  const value = node.value;
  if (node.typename === 'Symbol' || (node.typename === 'Literal' && typeof value === 'string')) {
    return String(value);
  }
  throw new ExpressionError('the keys of a mapping must be names or texts', offset);
}

/** `is none` arrives as the literal null, because nunjucks' lexer makes `none` a value. */
function testName(node: ParsedNode, offset: number): TestName {
  const given = node.typename === 'Literal' && node.value === null ? 'none' : node.value;
  const known = TEST_NAMES.find((name) => name === given);
  if (known && (node.typename === 'Symbol' || known === 'none')) return known;
  const message = 'after `is`, this is not known';
  throw new ExpressionError(notAllowed(message, TEST_NAMES, typeof given === 'string' ? given : ''), offset);
}
