import type * as ES from 'estree';
import { comesFrom, type FlowNode, KIND, ORIGINS, wayTo } from './flow-graph.ts';
import type { Flows } from './flows.ts';
import type { Weakness } from './found.ts';
import { weakness } from './sinks.ts';
import { bare, childrenOf, type FunctionNode, isFunction, lineOf, type Node } from './syntax.ts';

/**
 * Finds assignments `object[key] = value` where the object was itself found under a key from outside, so that it can be
 * `Object.prototype`: a recursive merge, a walk along the parts of a path, or two keys in a row.
 */
export function findPrototypePollution(flows: Flows): Weakness[] {
  const found: Weakness[] = [];
  const seen = new Set<FunctionNode | undefined>();
  for (const node of flows.file.nodes) {
    if (node.type !== 'AssignmentExpression') continue;
    const target = bare(node.left);
    if (
      target.type !== 'MemberExpression' ||
      !target.computed ||
      target.property.type === 'PrivateIdentifier'
    )
      continue;
    const around = flows.file.functionOf(node);
    if (seen.has(around)) continue;
    const way = pollutes(target, node, flows);
    if (!way || isGuarded(target, around, flows)) continue;
    seen.add(around);
    found.push(weakness('prototype-pollution', node, way, 'this assignment'));
  }
  return found;
}

function pollutes(
  target: ES.MemberExpression,
  node: ES.AssignmentExpression,
  flows: Flows,
): FlowNode[] | undefined {
  const object = flows.placeOf(target.object);
  const key = flows.placeOf(target.property);
  if (!object || !key || !comesFrom(object, 'reached', KIND.key)) return undefined;
  const origin = ORIGINS.slice(0, 3).find((one) => comesFrom(key, one, KIND.key));
  if (origin === undefined) return undefined;
  if (isCounter(target.property, flows)) return undefined;
  const way = wayTo(object, 'reached');
  const direct = bare(target.object);
  // `table[row][column] = value`: a grid or a table of tables, as long as nobody outside chooses both keys.
  if (direct.type === 'MemberExpression' && !isWalked(target, flows)) {
    const value = flows.placeOf(node.right);
    const isRemote = comesFrom(key, 'remote', KIND.key);
    const isStored =
      value !== undefined && ORIGINS.slice(0, 3).some((one) => comesFrom(value, one, KIND.key));
    if (!isRemote && !isStored) return undefined;
    if (isFunction(bare(node.right))) return undefined;
  }
  return [...way, ...wayTo(key, origin).slice(-1)];
}

/** The object comes out of a loop or a call, and not of an expression that one can read at once. */
function isWalked(target: ES.MemberExpression, flows: Flows): boolean {
  const inner = bare(target.object);
  return inner.type === 'MemberExpression' && inner.computed && isLoopKey(inner.property, flows);
}

function isLoopKey(node: Node, flows: Flows): boolean {
  if (node.type !== 'Identifier') return false;
  const binding = flows.file.bindingOf(node);
  return binding?.values.some(({ type }) => type === 'MemberExpression') ?? false;
}

/** A number that counts, which is no name of a member. */
function isCounter(node: Node, flows: Flows): boolean {
  const key = bare(node);
  if (key.type === 'UpdateExpression') return true;
  if (key.type === 'BinaryExpression') return key.operator !== '+';
  if (key.type !== 'Identifier') return false;
  const binding = flows.file.bindingOf(key);
  return (
    binding?.references.some((one) => {
      const parent = flows.file.parentOf(one);
      return (
        parent?.type === 'UpdateExpression' ||
        (parent?.type === 'BinaryExpression' && /^[-*/%<>]=?$/.test(parent.operator)) ||
        (parent?.type === 'AssignmentExpression' && parent.left === one && /^[-*/]=$/.test(parent.operator))
      );
    }) ?? false
  );
}

/** The names under which an object reaches a prototype that others share. */
interface Blocked {
  proto: boolean;
  constructor: boolean;
  /** It asks whether the key is the target's own. */
  own: boolean;
  /** The types that it compares with. Where only objects are entered, the function `constructor` is not. */
  types: Set<string>;
}

/**
 * Whether the function, one around it, one that it calls or one that calls it refuses the keys that reach a prototype, or
 * asks whether the key is the target's own. `__proto__` alone is not
 * enough if functions are entered too: `constructor.prototype` is the same object.
 */
function isGuarded(target: ES.MemberExpression, around: FunctionNode | undefined, flows: Flows): boolean {
  if (!around) return false;
  const functions = new Set<Node>([around]);
  // Functions that are not much larger than what they hold, such as one whose loop has a callback.
  for (
    let at = flows.file.functionOf(around), depth = 0;
    at && depth < 2;
    at = flows.file.functionOf(at), depth++
  )
    if (linesOf(at) <= 2 * linesOf(around) + 40) functions.add(at);
  for (const one of [...functions]) for (const called of calledIn(one, flows)) functions.add(called);
  for (const one of callersOf(around, flows)) functions.add(one);
  const blocked: Blocked = { proto: false, constructor: false, own: false, types: new Set() };
  const objects = namesOf(target.object, flows);
  for (const one of functions) collectBlocked(one, flows, objects, blocked);
  const entersObjectsOnly = blocked.types.has('object') && !blocked.types.has('function');
  return blocked.own || (blocked.proto && (blocked.constructor || entersObjectsOnly));
}

function linesOf(node: Node): number {
  return (node.loc?.end.line ?? 0) - lineOf(node) + 1;
}

function calledIn(node: Node, flows: Flows): readonly FunctionNode[] {
  const found: FunctionNode[] = [];
  walk(node, (one) => {
    if (one.type === 'CallExpression') found.push(...flows.targetsOf(one.callee));
  });
  return found;
}

/** The functions that call this one, such as one that checks the key first. */
function callersOf(node: FunctionNode, flows: Flows): FunctionNode[] {
  const found: FunctionNode[] = [];
  for (const one of flows.file.nodes) {
    if (one.type !== 'CallExpression' || !flows.targetsOf(one.callee).includes(node)) continue;
    const caller = flows.file.functionOf(one);
    if (caller && caller !== node && linesOf(caller) < 80) found.push(caller);
  }
  return found;
}

function collectBlocked(node: Node, flows: Flows, objects: ReadonlySet<string>, blocked: Blocked): void {
  walk(node, (one) => {
    if (one.type === 'Literal') {
      if (!asksForMethod(one, flows)) collectNames(one, blocked);
    } else if (one.type === 'TemplateElement') blocked.proto ||= one.value.raw.includes('__proto__');
    else if (one.type === 'CallExpression') blocked.own ||= asksForOwn(one, flows, objects);
    else if (one.type === 'Identifier') {
      for (const value of flows.file.bindingOf(one)?.values ?? [])
        if (/^(?:ArrayExpression|NewExpression|ObjectExpression|Literal)$/.test(value.type))
          walk(value, (part) => collectNames(part, blocked));
    }
  });
}

function collectNames(node: Node, blocked: Blocked): void {
  if (node.type === 'Property' && node.key.type === 'Identifier') {
    blocked.proto ||= node.key.name === '__proto__';
    return;
  }
  if (node.type !== 'Literal') return;
  if ('regex' in node) {
    blocked.proto ||= node.regex.pattern.includes('__proto__');
    blocked.constructor ||= /constructor|prototype/.test(node.regex.pattern);
  } else if (typeof node.value === 'string') {
    blocked.proto ||= node.value.includes('__proto__');
    blocked.constructor ||= node.value === 'constructor' || node.value === 'prototype';
    if (/^(?:\[object Object\]|object|Object)$/.test(node.value)) blocked.types.add('object');
    if (node.value === 'function') blocked.types.add('function');
  }
}

/** `typeof value.then === 'function'` says nothing about whether functions are entered. */
function asksForMethod(node: Node, flows: Flows): boolean {
  const parent = flows.file.parentOf(node);
  return (
    parent?.type === 'BinaryExpression' &&
    parent.left.type === 'UnaryExpression' &&
    parent.left.operator === 'typeof' &&
    bare(parent.left.argument).type === 'MemberExpression' &&
    !Reflect.get(bare(parent.left.argument), 'computed')
  );
}

/**
 * `Object.hasOwn(target, key)`, `hasOwnProperty.call(target, key)`, `target.hasOwnProperty(key)`,
 * `Object.keys(target).includes(key)`, of the target.
 */
function asksForOwn(node: ES.SimpleCallExpression, flows: Flows, objects: ReadonlySet<string>): boolean {
  const callee = bare(node.callee);
  const name = flows.calleeName(callee);
  if (/^Object\.(?:keys|getOwnPropertyNames)\(\)\.(?:includes|indexOf)$/.test(name)) {
    const list = callee.type === 'MemberExpression' ? bare(callee.object) : undefined;
    const [of] = list?.type === 'CallExpression' ? list.arguments : [];
    return of !== undefined && [...namesIn(of)].some((one) => objects.has(one));
  }
  if (!/has_?own(?:property)?(?:\.call)?$|^has$/i.test(name)) return false;
  const isMethod =
    callee.type === 'MemberExpression' && /hasOwnProperty$/.test(name) && node.arguments.length === 1;
  const asked = isMethod ? callee.object : node.arguments[0];
  if (!asked) return false;
  return [...namesIn(asked)].some((one) => objects.has(one));
}

/** The names of an object, and those under which it was known before. */
function namesOf(node: Node, flows: Flows): Set<string> {
  const names = namesIn(node);
  const at = bare(node);
  for (const value of at.type === 'Identifier' ? (flows.file.bindingOf(at)?.values ?? []) : [])
    if (value.type === 'Identifier') names.add(value.name);
  return names;
}

function namesIn(node: Node): Set<string> {
  const names = new Set<string>();
  walk(bare(node), (one) => {
    if (one.type === 'Identifier') names.add(one.name);
  });
  return names;
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of childrenOf(node)) walk(child, visit);
}
