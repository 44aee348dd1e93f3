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

const PROTO = /__proto__|^prototype$|^constructor$/;

/**
 * Whether the function, one around it or one that it calls looks for `__proto__`, or asks whether the key is the target's
 * own.
 */
function isGuarded(target: ES.MemberExpression, around: FunctionNode | undefined, flows: Flows): boolean {
  if (!around) return false;
  const owners: Node[] = [];
  for (let at: FunctionNode | undefined = around; at; at = flows.file.functionOf(at)) owners.push(at);
  const functions = new Set<Node>([around]);
  // Functions that are not much larger than what they hold, such as a wrapper of a loop's body.
  for (const one of owners.slice(1, 3)) if (linesOf(one) <= 2 * linesOf(around) + 40) functions.add(one);
  for (const one of [...functions]) for (const called of calledIn(one, flows)) functions.add(called);
  const objects = namesIn(target.object);
  for (const one of functions) if (looksForProto(one, flows, objects)) return true;
  return callersOf(around, flows).some((caller) => looksForProto(caller, flows, new Set()));
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

function looksForProto(node: Node, flows: Flows, objects: ReadonlySet<string>): boolean {
  let found = false;
  walk(node, (one) => {
    if (found) return;
    if (one.type === 'Literal') {
      if (typeof one.value === 'string' && PROTO.test(one.value)) found = isComparison(one, flows);
      else if ('regex' in one) found = /__proto__/.test(one.regex.pattern);
    } else if (one.type === 'Identifier') {
      const binding = flows.file.bindingOf(one);
      found = binding?.values.some((value) => !isFunction(value) && mentionsProto(value)) ?? false;
    } else if (one.type === 'CallExpression' && asksForOwn(one, flows, objects)) found = true;
    else if (one.type === 'TemplateElement') found = /__proto__/.test(one.value.raw);
  });
  return found;
}

function isComparison(node: Node, flows: Flows): boolean {
  const parent = flows.file.parentOf(node);
  if (node.type === 'Literal' && node.value === 'constructor') return parent?.type !== 'MemberExpression';
  return parent?.type !== 'MemberExpression' || parent.property !== node;
}

function mentionsProto(value: Node): boolean {
  if (!/^(?:ArrayExpression|NewExpression|ObjectExpression|Literal)$/.test(value.type)) return false;
  let found = false;
  walk(value, (one) => {
    if (one.type === 'Literal' && 'regex' in one) found ||= /__proto__/.test(one.regex.pattern);
    else if (one.type === 'Literal') found ||= one.value === '__proto__';
    else if (one.type === 'Property' && one.key.type === 'Identifier') found ||= one.key.name === '__proto__';
  });
  return found;
}

/** `Object.hasOwn(target, key)`, `hasOwnProperty.call(target, key)`, `target.hasOwnProperty(key)`, of the target. */
function asksForOwn(node: ES.SimpleCallExpression, flows: Flows, objects: ReadonlySet<string>): boolean {
  const callee = bare(node.callee);
  const name = flows.calleeName(callee);
  if (!/has_?own(?:property)?(?:\.call)?$|^has$/i.test(name)) return false;
  const isMethod =
    callee.type === 'MemberExpression' && /hasOwnProperty$/.test(name) && node.arguments.length === 1;
  const asked = isMethod ? callee.object : node.arguments[0];
  if (!asked) return false;
  return [...namesIn(asked)].some((one) => objects.has(one));
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
