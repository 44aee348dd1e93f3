import type * as ES from 'estree';
import type { FlowNode } from './flow-graph.ts';
import type { Flows } from './flows.ts';
import type { Binding } from './scopes.ts';
import { bare, type FunctionNode, memberName, type Node, textOf } from './syntax.ts';

/** What the checks of a file say, found once for each file. */
interface Checks {
  /** Variables that are compared with a list, or with a pattern from its first character to its last. */
  bindings: ReadonlySet<Binding>;
  /** The lines that read such a member, by its text: `opts.name`. */
  members: ReadonlySet<string>;
}

const checks = new WeakMap<Flows, Checks>();

/** Whether a value is checked against a list or a whole pattern before it is used. */
export function isGuarded(value: Node, _way: readonly FlowNode[], flows: Flows): boolean {
  const { bindings, members } = checksOf(flows);
  if (bindings.size === 0 && members.size === 0) return false;
  const used: Node[] = [];
  collect(value, used, flows, 0);
  const tainted = used.filter((node) => {
    const flow = flows.placeOf(node);
    return flow !== undefined && (flow.masks[0] | flow.masks[1] | flow.masks[2]) !== 0;
  });
  return (
    tainted.length > 0 &&
    tainted.every((node) =>
      node.type === 'Identifier'
        ? bindings.has(flows.file.bindingOf(node) as Binding)
        : members.has(flows.calleeName(node)),
    )
  );
}

/** The names and members that make up a value, variables resolved one level down. */
function collect(given: Node, used: Node[], flows: Flows, depth: number): void {
  const node = bare(given);
  if (used.length > 50) return;
  switch (node.type) {
    case 'Identifier': {
      const binding = flows.file.bindingOf(node);
      const isChecked = binding && checksOf(flows).bindings.has(binding);
      if (binding?.kind === 'variable' && binding.values.length > 0 && depth < 3 && !isChecked)
        for (const value of binding.values) collect(value, used, flows, depth + 1);
      else used.push(node);
      return;
    }
    case 'MemberExpression':
      used.push(node);
      return;
    case 'BinaryExpression':
      collect(node.left, used, flows, depth);
      collect(node.right, used, flows, depth);
      return;
    case 'TemplateLiteral':
      for (const one of node.expressions) collect(one, used, flows, depth);
      return;
    case 'AssignmentExpression':
      collect(node.right, used, flows, depth);
      return;
    case 'CallExpression':
      for (const one of node.arguments) collect(one, used, flows, depth);
      return;
    default:
      return;
  }
}

function checksOf(flows: Flows): Checks {
  const known = checks.get(flows);
  if (known) return known;
  const bindings = new Set<Binding>();
  const members = new Set<string>();
  const add = (given: Node | undefined) => {
    if (!given) return;
    const node = bare(given);
    if (node.type === 'Identifier') {
      const binding = flows.file.bindingOf(node);
      if (binding) bindings.add(binding);
    } else if (node.type === 'MemberExpression') {
      members.add(flows.calleeName(node));
      if (/^(?:host|hostname|origin)$/.test(memberName(node) ?? '')) addAddress(bare(node.object));
    }
  };
  /** Who checks the host of an address, checks the address. */
  const addAddress = (node: Node) => {
    if (node.type === 'NewExpression') {
      add(node.arguments[0]);
      return;
    }
    const binding = node.type === 'Identifier' ? flows.file.bindingOf(node) : undefined;
    if (!binding) return;
    bindings.add(binding);
    for (const value of binding.values) if (value.type === 'NewExpression') add(value.arguments[0]);
  };
  for (const node of flows.file.nodes) {
    if (node.type === 'BinaryExpression' && /^[!=]==?$/.test(node.operator)) {
      const [left, right] = [bare(node.left as Node), bare(node.right)];
      if (isHostOf(left) && right.type === 'Literal') add(left);
      if (isHostOf(right) && left.type === 'Literal') add(right);
    }
    if (node.type === 'AssignmentExpression' && isMadeNumber(node, flows)) add(node.left);
    if (node.type !== 'CallExpression') continue;
    const callee = bare(node.callee);
    if (callee.type !== 'MemberExpression') continue;
    const name = memberName(callee);
    if (name === 'endsWith' && isHostOf(bare(callee.object)) && /^\./.test(textOf(node.arguments[0]) ?? ''))
      add(callee.object);
    if (name === 'test' && isWholePattern(bare(callee.object), flows)) add(node.arguments[0]);
    else if (name === 'match' && node.arguments[0] && isWholePattern(bare(node.arguments[0]), flows))
      add(callee.object);
    else if (/^(?:has|includes|indexOf|hasOwn)$/.test(name ?? '') && isList(bare(callee.object), flows))
      add(node.arguments.at(-1));
  }
  const made = { bindings, members };
  checks.set(flows, made);
  return made;
}

/** `port = Number.parseInt(port)` in every run of a function. */
function isMadeNumber(node: ES.AssignmentExpression, flows: Flows): boolean {
  const { operator, left } = node;
  const made = bare(node.right);
  if (operator !== '=' || left.type !== 'Identifier' || made.type !== 'CallExpression') return false;
  const [from] = made.arguments;
  if (from?.type !== 'Identifier' || from.name !== left.name) return false;
  const statement = flows.file.parentOf(node);
  const block = statement && flows.file.parentOf(statement);
  const isAlways = block !== undefined && flows.file.parentOf(block) === flows.file.functionOf(node);
  return isAlways && /^(?:(?:Number\.)?parse(?:Int|Float)|Number)$/.test(flows.calleeName(made.callee));
}

function isHostOf(node: Node): boolean {
  return node.type === 'MemberExpression' && /^(?:host|hostname|origin)$/.test(memberName(node) ?? '');
}

function isWholePattern(node: Node, flows: Flows): boolean {
  if (node.type === 'Literal' && 'regex' in node) {
    const { pattern } = node.regex;
    return (
      (/^\^/.test(pattern) && /\$$/.test(pattern) && !/\.[*+]/.test(pattern)) ||
      /^\[\^?[^\]]*\]$/.test(pattern)
    );
  }
  if (node.type !== 'Identifier') return false;
  return (
    flows.file.bindingOf(node)?.values.some((one) => one.type === 'Literal' && isWholePattern(one, flows)) ??
    false
  );
}

/** A list of fixed values. */
function isList(node: Node, flows: Flows): boolean {
  if (node.type === 'ArrayExpression') return node.elements.every((one) => one?.type === 'Literal');
  if (node.type === 'NewExpression')
    return node.callee.type === 'Identifier' && /^(?:Set|Map)$/.test(node.callee.name);
  if (node.type !== 'Identifier') return false;
  return (
    flows.file.bindingOf(node)?.values.some((one) => one.type !== 'Identifier' && isList(one, flows)) ?? false
  );
}

const PATH_CHECK =
  /^(?:startsWith|relative|isAbsolute|isPathInside|is-path-inside|pathIsInside|path-is-inside|contains|realpath|realpathSync)$/i;

/**
 * Whether the function of a sink, or one around it, checks that a path stays where it should: it looks for `..` or compares
 * the beginning with a folder.
 */
export function isPathGuarded(node: Node, way: readonly FlowNode[], flows: Flows): boolean {
  const lines = new Set(way.map(({ line }) => line));
  const around: FunctionNode[] = [];
  for (let at = flows.file.functionOf(node); at; at = flows.file.functionOf(at)) around.push(at);
  const [outermost] = around.slice(-1);
  const helpers = outermost ? helpersOf(outermost, flows) : new Set<FunctionNode>();
  for (const one of flows.file.nodes) {
    if (!isPathCheck(one, flows)) continue;
    // In a function around the sink, or in one that the value passes.
    if (outermost === undefined || isWithin(one, outermost)) return true;
    const owner = flows.file.functionOf(one);
    if (owner && helpers.has(owner)) return true;
    if (
      owner &&
      [...lines].some((line) => line >= (owner.loc?.start.line ?? 0) && line <= (owner.loc?.end.line ?? 0))
    )
      return true;
  }
  return false;
}

/** In lines. A longer function does more than to check what it is given. */
const LONGEST_HELPER = 15;

/** Short functions that this one calls, such as `isSafeName(name)`. */
function helpersOf(outer: FunctionNode, flows: Flows): Set<FunctionNode> {
  const helpers = new Set<FunctionNode>();
  for (const one of flows.file.nodes) {
    if (one.type !== 'CallExpression' || !isWithin(one, outer)) continue;
    for (const target of flows.targetsOf(one.callee)) {
      const { start, end } = target.loc ?? { start: { line: 0 }, end: { line: LONGEST_HELPER } };
      if (end.line - start.line < LONGEST_HELPER) helpers.add(target);
    }
  }
  return helpers;
}

/** `^[^/]*$`: no separator at all. */
const NO_SEPARATOR = /^\^\[\^[^\]/]*\/[^\]]*\][*+]\$$/;

function isPathCheck(node: Node, flows: Flows): boolean {
  if (node.type === 'Literal') {
    const pattern = 'regex' in node ? node.regex.pattern : node.value;
    if (typeof pattern === 'string' && NO_SEPARATOR.test(pattern)) return true;
    if ('regex' in node)
      return /\\\.\\\.|\\\.\{2|\[\^/.test(node.regex.pattern) && /\\\./.test(node.regex.pattern);
    return (
      typeof node.value === 'string' &&
      /^\.\.(?:[\\/]|$)|^[\\/]?\.\.[\\/]$/.test(node.value) &&
      isCompared(node, flows)
    );
  }
  if (node.type !== 'CallExpression') return false;
  const callee = bare(node.callee);
  const name = flows.calleeName(callee);
  const short = name.slice(name.lastIndexOf('.') + 1);
  if (PATH_CHECK.test(short)) return textOf(node.arguments[0]) === undefined || short !== 'startsWith';
  if (short !== 'indexOf') return false;
  // `full.indexOf(root) === 0`
  const parent = flows.file.parentOf(node);
  return parent?.type === 'BinaryExpression' && node.arguments[0]?.type !== 'Literal';
}

/** `x.includes('..')`, `part === '..'` */
function isCompared(node: Node, flows: Flows): boolean {
  const parent = flows.file.parentOf(node);
  if (parent?.type === 'BinaryExpression') return /^[!=]==?$/.test(parent.operator);
  if (parent?.type !== 'CallExpression') return false;
  const name = flows.calleeName(parent.callee);
  return /(?:includes|indexOf|startsWith|contains|search|split)$/.test(name);
}

/**
 * Whether a function around a redirect, or one of the file by its name, cares for an address that begins with two slashes, which
 * is the address of another host.
 */
export function isRedirectGuarded(node: Node, flows: Flows): boolean {
  let outermost = flows.file.functionOf(node);
  for (let at = outermost; at; at = flows.file.functionOf(at)) outermost = at;
  return flows.file.nodes.some((one) => {
    if (outermost && !isWithin(one, outermost)) return false;
    if (one.type === 'Literal')
      return 'regex' in one
        ? /^\^(?:\\\/|\[\\\/\\?\\?\])(?:\+|\{2|\\\/|\(\?!)/.test(one.regex.pattern)
        : one.value === '//' && isCompared(one, flows);
    return one.type === 'CallExpression' && /slashes$/i.test(flows.calleeName(one.callee));
  });
}

function isWithin(node: Node, outer: Node): boolean {
  const start = offsetOf(node, 'start');
  return start >= offsetOf(outer, 'start') && start <= offsetOf(outer, 'end');
}

function offsetOf(node: Node, which: 'start' | 'end'): number {
  return Number(Reflect.get(node, which));
}
