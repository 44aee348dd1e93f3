import { type ParserPlugin, parse } from '@babel/parser';
import type * as ES from 'estree';

export type Node = ES.Node;
export type FunctionNode = ES.FunctionDeclaration | ES.FunctionExpression | ES.ArrowFunctionExpression;

/** Parts of a tree that hold types or comments: they do nothing when the program runs. */
const NO_CODE: ReadonlySet<string> = new Set([
  'type',
  'loc',
  'start',
  'end',
  'extra',
  'parent',
  'comments',
  'leadingComments',
  'trailingComments',
  'innerComments',
  'typeAnnotation',
  'returnType',
  'typeParameters',
  'typeArguments',
  'superTypeParameters',
  'superTypeArguments',
  'implements',
  'predicate',
]);

const TYPES_ONLY =
  /^(?:TS(?:Interface|TypeAlias|DeclareFunction|AbstractMethod)|(?:Interface|TypeAlias|Declare|Opaque)\w*)/;

/**
 * Parses a file as ESTree. The parser is written in JavaScript, so a text made to exhaust it causes an exception and does
 * not end the process.
 * @throws SyntaxError or RangeError
 */
export function parseSource(text: string, language: 'javascript' | 'typescript' | 'tsx'): Node {
  const plugins: ParserPlugin[] =
    language === 'javascript'
      ? ['estree', 'jsx', 'flow', 'decorators']
      : ['estree', 'typescript', 'decorators'];
  if (language === 'tsx') plugins.push('jsx');
  const { program } = parse(text, {
    sourceType: 'unambiguous',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    allowSuperOutsideMethod: true,
    allowUndeclaredExports: true,
    allowNewTargetOutsideFunction: true,
    errorRecovery: true,
    attachComment: false,
    plugins,
  });
  return program as unknown as Node;
}

/** The nodes directly inside, in the order of the text. Each node of a file comes here more than once, so it makes no entries of members. */
export function childrenOf(node: Node): Node[] {
  const found: Node[] = [];
  for (const key of Object.keys(node)) {
    const value = Reflect.get(node, key) as unknown;
    if (typeof value !== 'object' || value === null || NO_CODE.has(key)) continue;
    if (Array.isArray(value)) {
      for (const one of value) if (isNode(one)) found.push(one);
    } else if (isNode(value)) found.push(value);
  }
  return found;
}

const codeTypes = new Map<string, boolean>();

function isNode(value: unknown): value is Node {
  if (typeof value !== 'object' || value === null) return false;
  const type: unknown = Reflect.get(value, 'type');
  if (typeof type !== 'string') return false;
  const known = codeTypes.get(type);
  if (known !== undefined) return known;
  const isCode = !TYPES_ONLY.test(type);
  codeTypes.set(type, isCode);
  return isCode;
}

export function isFunction(node: Node | undefined): node is FunctionNode {
  return (
    node?.type === 'FunctionExpression' ||
    node?.type === 'ArrowFunctionExpression' ||
    node?.type === 'FunctionDeclaration'
  );
}

/** The expression without what only types or groups it: `(x as T)!`, `a?.b`, `await x`. */
export function bare(node: Node): Node {
  let at = node;
  for (;;) {
    const type: string = at.type;
    if (
      type === 'ChainExpression' ||
      type === 'TSAsExpression' ||
      type === 'TSNonNullExpression' ||
      type === 'TSSatisfiesExpression' ||
      type === 'TSTypeAssertion' ||
      type === 'TypeCastExpression' ||
      type === 'ParenthesizedExpression' ||
      type === 'TSInstantiationExpression'
    )
      at = Reflect.get(at, 'expression') as Node;
    else return at;
  }
}

export function lineOf(node: Node): number {
  return node.loc?.start.line ?? 1;
}

export function endLineOf(node: Node): number {
  return node.loc?.end.line ?? lineOf(node);
}

/** The text of a string literal or of a template without values. */
export function textOf(node: Node | undefined | null): string | undefined {
  if (!node) return undefined;
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

/** The name of a member that is not computed, or computed from a literal. */
export function memberName(node: ES.MemberExpression): string | undefined {
  if (!node.computed) {
    if (node.property.type === 'Identifier') return node.property.name;
    return node.property.type === 'PrivateIdentifier' ? `#${node.property.name}` : undefined;
  }
  return textOf(node.property);
}

/** The name of a key in an object or class. */
export function keyName(node: { key: Node; computed: boolean }): string | undefined {
  if (!node.computed && node.key.type === 'Identifier') return node.key.name;
  if (node.key.type === 'PrivateIdentifier') return `#${node.key.name}`;
  return textOf(node.key);
}
