import type * as ES from 'estree';
import { EVERY_KIND, FlowGraph, type FlowNode, KIND } from './flow-graph.ts';
import {
  EACH_METHODS,
  HARMLESS_MEMBERS,
  HARMLESS_METHODS,
  JOINING_CALLS,
  keptByCall,
  keptByReplace,
  moduleName,
  PASSING_CALLS,
} from './known-calls.ts';
import type { Binding, ScopedFile } from './scopes.ts';
import { pageSource, remoteSource } from './sources.ts';
import {
  bare,
  childrenOf,
  type FunctionNode,
  isFunction,
  keyName,
  lineOf,
  memberName,
  type Node,
  textOf,
} from './syntax.ts';

/** How the values of a file flow. */
export interface Flows {
  file: ScopedFile;
  graph: FlowGraph;
  /** The place of an expression's value; `undefined` if it is fixed. */
  placeOf(node: Node | null | undefined): FlowNode | undefined;
  /** `fs.readFile`, `child_process.exec`, `res.send`: the function that a call means, by its module where known. */
  calleeName(node: Node): string;
  /** The functions of this file that a call can mean. */
  targetsOf(callee: Node): readonly FunctionNode[];
}

interface FunctionFlow {
  parameters: (FlowNode | undefined)[];
  rest: number;
  all: FlowNode;
  result: FlowNode;
  /** What `this` is, where a call says so. */
  self: FlowNode;
}

/** More functions of one name mean that the name says little. */
const MOST_TARGETS = 4;
/** Names that many objects have. A call of them means no particular function of the file. */
const COMMON_METHODS = new Set([
  'push',
  'pop',
  'shift',
  'slice',
  'splice',
  'concat',
  'join',
  'map',
  'filter',
  'forEach',
  'reduce',
  'replace',
  'match',
  'split',
  'test',
  'exec',
  'call',
  'apply',
  'bind',
  'then',
  'catch',
  'toString',
  'valueOf',
  'on',
  'once',
  'emit',
  'keys',
  'values',
  'entries',
  'has',
  'delete',
  'add',
  'trim',
  'indexOf',
  'length',
  'end',
  'pipe',
  'write',
  'constructor',
]);

/** Follows assignments, calls, returns, closures and members through a file. Pure. */
export function flowsOf(file: ScopedFile): Flows {
  const graph = new FlowGraph();
  const values = new Map<Node, FlowNode | null>();
  const ofBinding = new Map<Binding, FlowNode>();
  const fields = new Map<string, FlowNode>();
  const members = new Map<Binding, Map<string, FlowNode>>();
  const functions = new Map<FunctionNode, FunctionFlow>();
  const byMember = new Map<string, FunctionNode[]>();

  const bindingNode = (binding: Binding, line: number): FlowNode => {
    const known = ofBinding.get(binding) ?? graph.node(line);
    ofBinding.set(binding, known);
    return known;
  };
  const bindingOf = (node: Node): Binding | undefined =>
    node.type === 'Identifier' ? file.bindingOf(node) : undefined;

  function field(name: string, line: number): FlowNode {
    const known = fields.get(name) ?? graph.node(line);
    fields.set(name, known);
    return known;
  }

  function member(binding: Binding, name: string, line: number): FlowNode {
    const all = members.get(binding) ?? new Map<string, FlowNode>();
    members.set(binding, all);
    const known = all.get(name) ?? graph.node(line);
    all.set(name, known);
    return known;
  }

  /** `this`, and the names under which older code keeps it. */
  function isSelf(node: Node): boolean {
    if (node.type === 'ThisExpression') return true;
    const binding = bindingOf(node);
    return binding?.values.some((value) => value.type === 'ThisExpression') ?? false;
  }

  // --- Modules and the names of functions -------------------------------------------------------------------------

  /** The module that an expression stands for, such as `require('fs').promises`. */
  function moduleOf(given: Node, depth = 0): string | undefined {
    const node = bare(given);
    if (depth > 6) return undefined;
    if (node.type === 'CallExpression') {
      const argument = textOf(node.arguments[0]);
      if (
        node.callee.type === 'Identifier' &&
        argument !== undefined &&
        /^(?:require|__importStar|_interopRequire\w*)$/.test(node.callee.name)
      )
        return moduleName(argument);
      const callee = bare(node.callee);
      if (
        callee.type === 'Identifier' &&
        /promisify|__import|_interop/i.test(callee.name) &&
        node.arguments[0]
      )
        return moduleOf(node.arguments[0], depth + 1);
      if (
        callee.type === 'MemberExpression' &&
        /^promisif/.test(memberName(callee) ?? '') &&
        node.arguments[0]
      )
        return moduleOf(node.arguments[0], depth + 1);
      return undefined;
    }
    if (node.type === 'MemberExpression') {
      const inner = moduleOf(node.object, depth + 1);
      const name = memberName(node);
      if (inner === undefined || name === undefined) return undefined;
      return name === 'promises' || name === 'default' ? inner : `${inner}.${name}`;
    }
    if (node.type === 'AwaitExpression') return moduleOf(node.argument, depth + 1);
    if (node.type === 'ImportExpression') {
      const module = textOf(node.source);
      return module === undefined ? undefined : moduleName(module);
    }
    if (node.type === 'LogicalExpression')
      return moduleOf(node.left, depth + 1) ?? moduleOf(node.right, depth + 1);
    const binding = bindingOf(node);
    if (!binding) return undefined;
    if (binding.imported) {
      const { module, name } = binding.imported;
      return name === '*' || name === 'default' ? moduleName(module) : `${moduleName(module)}.${name}`;
    }
    for (const value of binding.values) {
      const module = value === node ? undefined : moduleOf(value, depth + 1);
      if (module !== undefined) return module;
    }
    return destructured.get(binding);
  }

  /** Names taken from a module by a pattern: `const { exec: run } = require('child_process')`. */
  const destructured = new Map<Binding, string>();

  const names = new Map<Node, string>();
  function calleeName(given: Node): string {
    const node = bare(given);
    const known = names.get(node);
    if (known !== undefined) return known;
    const name = moduleOf(node) ?? plainName(node);
    names.set(node, name);
    return name;
  }

  function plainName(node: Node): string {
    if (node.type === 'Identifier') return node.name;
    if (node.type === 'ThisExpression') return 'this';
    if (node.type === 'MemberExpression') {
      const name = memberName(node) ?? '[]';
      return `${plainName(bare(node.object))}.${name}`;
    }
    if (node.type === 'CallExpression') return `${plainName(bare(node.callee))}()`;
    return '';
  }

  // --- Functions --------------------------------------------------------------------------------------------------

  function functionFlow(node: FunctionNode): FunctionFlow {
    const known = functions.get(node);
    if (known) return known;
    const line = lineOf(node);
    const rest = node.params.findIndex(({ type }) => type === 'RestElement');
    const flow: FunctionFlow = {
      parameters: node.params.map((parameter) => {
        const value = graph.node(lineOf(parameter));
        assignPattern(parameter, value);
        return value;
      }),
      rest,
      all: graph.node(line),
      result: graph.node(line),
      self: graph.node(line),
    };
    functions.set(node, flow);
    for (const parameter of flow.parameters) graph.edge(parameter, flow.all);
    if (node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement')
      graph.edge(placeOf(node.body), flow.result, { same: true });
    return flow;
  }

  function functionsIn(value: Node, depth = 0): FunctionNode[] {
    const node = bare(value);
    if (isFunction(node)) return [node];
    if (depth > 3) return [];
    switch (node.type) {
      case 'LogicalExpression':
        return [...functionsIn(node.left, depth + 1), ...functionsIn(node.right, depth + 1)];
      case 'ConditionalExpression':
        return [...functionsIn(node.consequent, depth + 1), ...functionsIn(node.alternate, depth + 1)];
      case 'AssignmentExpression':
        return functionsIn(node.right, depth + 1);
      case 'SequenceExpression': {
        const last = node.expressions.at(-1);
        return last ? functionsIn(last, depth + 1) : [];
      }
      case 'ClassDeclaration':
      case 'ClassExpression':
        return node.body.body.flatMap((part) =>
          part.type === 'MethodDefinition' && part.kind === 'constructor' && isFunction(part.value)
            ? [part.value]
            : [],
        );
      case 'Identifier':
        return bindingOf(node)?.values.flatMap((one) => functionsIn(one, depth + 1)) ?? [];
      default:
        return [];
    }
  }

  function targetsOf(given: Node): readonly FunctionNode[] {
    const callee = bare(given);
    if (isFunction(callee)) return [callee];
    if (callee.type === 'Identifier') {
      const binding = file.bindingOf(callee);
      const found = binding?.values.flatMap((value) => functionsIn(value)) ?? [];
      return found.length <= MOST_TARGETS ? found : [];
    }
    if (callee.type === 'MemberExpression') {
      const name = memberName(callee);
      if (name === undefined || COMMON_METHODS.has(name) || moduleOf(callee.object) !== undefined) return [];
      const found = byMember.get(name) ?? [];
      return found.length <= MOST_TARGETS ? found : [];
    }
    return [];
  }

  // --- Values -----------------------------------------------------------------------------------------------------

  function placeOf(given: Node | null | undefined): FlowNode | undefined {
    if (!given) return undefined;
    const node = bare(given);
    const known = values.get(node);
    if (known !== undefined) return known ?? undefined;
    values.set(node, null);
    const value = makeValue(node);
    values.set(node, value ?? null);
    return value;
  }

  function joined(
    node: Node,
    parts: readonly (Node | null | undefined)[],
    options: { part?: boolean; same?: boolean; mask?: number },
  ): FlowNode {
    const value = graph.node(lineOf(node));
    for (const part of parts) graph.edge(placeOf(part), value, options);
    return value;
  }

  function makeValue(node: Node): FlowNode | undefined {
    switch (node.type) {
      case 'Identifier': {
        const binding = file.bindingOf(node);
        if (binding) return bindingNode(binding, lineOf(node));
        const owner = node.name === 'arguments' ? argumentsOwner(node) : undefined;
        return owner && functionFlow(owner).all;
      }
      case 'ThisExpression': {
        const owner = argumentsOwner(node);
        return owner && functionFlow(owner).self;
      }
      case 'MemberExpression':
        return memberValue(node);
      case 'CallExpression':
      case 'NewExpression':
        return callValue(node);
      case 'AssignmentExpression':
        if (node.operator === '+=')
          return joined(node, [node.left, node.right], { part: true, mask: EVERY_KIND & ~KIND.query });
        return joined(node, [node.right], { same: true });
      case 'LogicalExpression':
        return joined(node, [node.left, node.right], { same: true });
      case 'ConditionalExpression':
        return joined(node, [node.consequent, node.alternate], { same: true });
      case 'SequenceExpression':
        return joined(node, [node.expressions.at(-1)], { same: true });
      case 'AwaitExpression':
      case 'YieldExpression':
      case 'SpreadElement':
        return joined(node, [node.argument], { same: true });
      case 'BinaryExpression':
        if (node.operator !== '+') return undefined;
        return joined(node, [node.left, node.right], {
          part: true,
          mask: keptByText(startOf(node.left), node),
        });
      case 'TemplateLiteral': {
        if (node.expressions.length === 0) return undefined;
        const [head] = node.quasis;
        const isWhole = node.expressions.length === 1 && node.quasis.every(({ value }) => value.raw === '');
        if (isWhole) return joined(node, node.expressions, {});
        return joined(node, node.expressions, { part: true, mask: keptByText(head?.value.raw ?? '', node) });
      }
      case 'TaggedTemplateExpression':
        return calleeName(node.tag) === 'String.raw'
          ? joined(node, node.quasi.expressions, { part: true })
          : undefined;
      case 'ArrayExpression':
        return joined(node, node.elements, {});
      case 'ObjectExpression':
        return joined(
          node,
          node.properties.map((one) => (one.type === 'SpreadElement' ? one.argument : one.value)),
          {},
        );
      default:
        return undefined;
    }
  }

  /** The fixed text that a joined text begins with. */
  function startOf(node: Node): string {
    const inner = bare(node);
    if (inner.type === 'BinaryExpression' && inner.operator === '+') return startOf(inner.left);
    if (inner.type === 'TemplateLiteral') return inner.quasis[0]?.value.raw ?? '';
    return textOf(inner) ?? '';
  }

  /** What a text can still do if it follows this one. */
  function keptByText(start: string, _node: Node): number {
    let kept = EVERY_KIND & ~KIND.query;
    if (start !== '') kept &= ~KIND.key;
    // The other side is fixed.
    if (/^\w+:\/\/[^/]+\//.test(start)) kept &= ~(KIND.url | KIND.redirect);
    else if (/^[\w:]*\/\/[^/]/.test(start)) kept &= ~KIND.url;
    else if (/^\/[^/]|^[?#]|^\.\.?\//.test(start)) kept &= ~KIND.redirect;
    return kept;
  }

  function memberValue(node: ES.MemberExpression): FlowNode | undefined {
    const line = lineOf(node);
    const name = memberName(node);
    const value = graph.node(line);
    const object = bare(node.object);
    const source = remoteSource(node, file);
    if (source !== undefined) graph.source(value, 'remote', source);
    const ofPage = pageSource(node, file);
    if (ofPage !== undefined) graph.source(value, 'library', ofPage, KIND.html);
    if (object.type === 'Identifier' && object.name === 'arguments' && !file.bindingOf(object)) {
      const around = argumentsOwner(node);
      const flow = around && functionFlow(around);
      const index =
        node.computed && node.property.type === 'Literal' ? Number(node.property.value) : Number.NaN;
      if (flow) graph.edge(flow.parameters[index] ?? flow.all, value, { same: true });
      return value;
    }
    if (name === undefined) {
      graph.edge(placeOf(object), value);
      const key = node.property;
      if (node.computed && key.type !== 'PrivateIdentifier' && !hasNoPrototype(object))
        graph.edge(placeOf(key), value, { reach: true });
      return value;
    }
    if (HARMLESS_MEMBERS.has(name)) return undefined;
    if (isSelf(object)) {
      graph.edge(field(name, line), value, { same: true });
      return value;
    }
    const binding = bindingOf(object);
    if (binding) {
      graph.edge(member(binding, name, line), value, { same: true });
      const fixed = binding.values.length === 1 && binding.values[0]?.type === 'ObjectExpression';
      if (fixed && binding.kind === 'variable') return value;
    }
    graph.edge(placeOf(object), value);
    return value;
  }

  /** A variable that only ever holds `Object.create(null)`. */
  function hasNoPrototype(object: Node): boolean {
    const values = bindingOf(object)?.values ?? [];
    return (
      values.length > 0 &&
      values.every(
        (value) =>
          value.type === 'CallExpression' &&
          calleeName(value.callee) === 'Object.create' &&
          value.arguments[0]?.type === 'Literal' &&
          value.arguments[0].value === null,
      )
    );
  }

  function argumentsOwner(node: Node): FunctionNode | undefined {
    let at = file.functionOf(node);
    while (at?.type === 'ArrowFunctionExpression') at = file.functionOf(at);
    return at;
  }

  function callValue(node: ES.SimpleCallExpression | ES.NewExpression): FlowNode | undefined {
    const callee = bare(node.callee);
    const value = graph.node(lineOf(node));
    const name = calleeName(callee);
    const source = remoteSource(node, file);
    if (source !== undefined) graph.source(value, 'remote', source);
    const ofPage = pageSource(node, file);
    if (ofPage !== undefined) graph.source(value, 'library', ofPage, KIND.html);
    if (/^fs\.readdir(?:Sync)?$/.test(name)) graph.source(value, 'remote', 'the names of files', KIND.html);
    if (callee.type === 'MemberExpression' && /^(?:call|apply)$/.test(memberName(callee) ?? '')) {
      const targets = targetsOf(callee.object);
      const list = memberName(callee) === 'apply';
      for (const target of targets) {
        const [self] = node.arguments;
        if (self) graph.edge(placeOf(self), functionFlow(target).self, { same: true });
        if (list) linkList(node.arguments[1], target);
        else linkArguments(node.arguments.slice(1), target);
        graph.edge(functionFlow(target).result, value, { same: true });
      }
      if (targets.length > 0) return value;
    }
    const targets = targetsOf(callee);
    const mask = keptByCall(name);
    for (const target of targets) {
      linkArguments(node.arguments, target);
      // Its name says that it makes a value harmless, but its body does nothing.
      const isTrusted = !onlyJoins(target);
      graph.edge(functionFlow(target).result, value, {
        same: node.type === 'CallExpression',
        mask: isTrusted ? mask : EVERY_KIND,
      });
    }
    linkCallbacks(node, callee);
    if (targets.length > 0) return value;
    const method = callee.type === 'MemberExpression' ? memberName(callee) : undefined;
    const isModule = callee.type === 'MemberExpression' && moduleOf(callee.object) !== undefined;
    const short = name.slice(name.lastIndexOf('.') + 1);
    if (JOINING_CALLS.has(name) || (isModule && JOINING_CALLS.has(short)))
      for (const one of node.arguments)
        graph.edge(placeOf(one), value, { part: true, mask: mask & ~KIND.query });
    else if (
      PASSING_CALLS.has(name) ||
      (callee.type === 'Identifier' && PASSING_CALLS.has(callee.name)) ||
      /(?:^|\.)slice\.call$/.test(name) ||
      (isModule && PASSING_CALLS.has(short)) ||
      (node.type === 'NewExpression' && /^(?:URL|Buffer|String|URLSearchParams|Set|Array)$/.test(name))
    )
      for (const one of node.arguments)
        graph.edge(placeOf(one), value, {
          mask: node.type === 'NewExpression' && name === 'URL' ? mask & ~KIND.path : mask,
        });
    else if (/(?:^|\.)(?:assign|extend|merge|defaults)$/.test(name)) {
      for (const [index, one] of node.arguments.entries())
        graph.edge(placeOf(one), value, { mask, same: index === 0 });
    } else if (
      callee.type === 'MemberExpression' &&
      !isModule &&
      method !== undefined &&
      !HARMLESS_METHODS.has(method)
    ) {
      const kept = /^replace(?:All)?$/.test(method) ? keptByReplace(node.arguments[0]) : mask;
      const made =
        /^(?:map|flatMap)$/.test(method) && node.arguments[0] ? functionsIn(node.arguments[0]) : [];
      for (const one of made) graph.edge(functionFlow(one).result, value, { mask: kept });
      if (made.length === 0) graph.edge(placeOf(callee.object), value, { mask: kept });
      // What a pattern finds in a text.
      if (method === 'exec')
        graph.edge(placeOf(node.arguments[0]), value, { mask: EVERY_KIND & ~KIND.query });
      if (method === 'concat')
        for (const one of node.arguments) graph.edge(placeOf(one), value, { part: true });
      if (method === 'join' && /^['"`]/.test(String(Reflect.get(node.arguments[0] ?? {}, 'raw') ?? "'"))) {
        const list = graph.node(lineOf(node));
        graph.edge(placeOf(callee.object), list, { part: true, mask: EVERY_KIND & ~KIND.query });
        graph.edge(list, value);
      }
    }
    return value;
  }

  function linkArguments(given: readonly Node[], target: FunctionNode): void {
    const flow = functionFlow(target);
    for (const [index, one] of given.entries()) {
      const value = placeOf(one);
      if (one.type === 'SpreadElement') {
        for (const parameter of flow.parameters.slice(index)) if (parameter) graph.edge(value, parameter);
        graph.edge(value, flow.all);
        continue;
      }
      const parameter = flow.parameters[index] ?? (flow.rest >= 0 ? flow.parameters[flow.rest] : undefined);
      if (parameter) graph.edge(value, parameter, { same: true });
      else graph.edge(value, flow.all, { same: true });
      graph.edge(value, flow.all, { same: true });
    }
  }

  function linkList(list: Node | undefined, target: FunctionNode): void {
    const flow = functionFlow(target);
    const value = placeOf(list);
    for (const parameter of [...flow.parameters, flow.all]) if (parameter) graph.edge(value, parameter);
  }

  /** Functions given to `list.forEach` and the like get its elements. */
  function linkCallbacks(node: ES.SimpleCallExpression | ES.NewExpression, callee: Node): void {
    if (callee.type !== 'MemberExpression' && callee.type !== 'Identifier') return;
    const method = callee.type === 'MemberExpression' ? memberName(callee) : callee.name;
    if (method === undefined) return;
    if (!EACH_METHODS.has(method)) {
      linkEvents(node, method);
      return;
    }
    const given = node.arguments.flatMap((one) => functionsIn(one));
    for (const one of given) {
      const flow = functionFlow(one);
      // `forIn(source, copy, target)`: the last one is `this`.
      const last = node.arguments.at(-1);
      if (last && node.arguments.length > 1 && !isFunction(last))
        graph.edge(placeOf(last), flow.self, { same: true });
      const from = [
        callee.type === 'MemberExpression' ? placeOf(callee.object) : undefined,
        ...node.arguments.filter((argument) => !isFunction(argument)).map(placeOf),
      ];
      for (const value of from)
        for (const parameter of flow.parameters.slice(0, 2)) if (parameter) graph.edge(value, parameter);
      // `reduce` hands the former result to the next call.
      if (/^reduce/.test(method)) {
        const [first] = flow.parameters;
        if (first) graph.edge(flow.result, first, { same: true });
      }
    }
  }

  /** What other programs, files and people say, as events and callbacks bring it: harmful where it becomes a command or code. */
  function linkEvents(node: ES.SimpleCallExpression | ES.NewExpression, method: string): void {
    if (targetsOf(node.callee).length > 0 || /^(?:Promise|set\w+|nextTick|describe|it|test)$/.test(method))
      return;
    for (const one of node.arguments) {
      if (!isFunction(one)) continue;
      for (const [index, parameter] of one.params.entries()) {
        const value = functionFlow(one).parameters[index];
        if (
          parameter.type === 'Identifier' &&
          /^_?(?:err|error|e|cb|done|next|resolve|reject|callback)$/i.test(parameter.name)
        )
          continue;
        if (value) graph.source(value, 'library', `what \`${method}\` brings`, KIND.shell | KIND.code);
        if (value && method === 'readdir') graph.source(value, 'remote', 'the names of files', KIND.html);
        if (value && index === 0 && isMessageEvent(node, one))
          graph.source(value, 'remote', 'a message of another window', KIND.html | KIND.code | KIND.redirect);
      }
    }
  }

  /** `window.addEventListener('message', …)`, unless its function asks where the message comes from. */
  function isMessageEvent(node: ES.SimpleCallExpression | ES.NewExpression, listener: FunctionNode): boolean {
    if (!/^(?:(?:window|self|globalThis)\.)?addEventListener$/.test(calleeName(node.callee))) return false;
    if (textOf(node.arguments[0]) !== 'message') return false;
    return !someInside(
      listener,
      (inner) => inner.type === 'MemberExpression' && /^(?:origin|source)$/.test(memberName(inner) ?? ''),
    );
  }

  // --- Statements -------------------------------------------------------------------------------------------------

  function assignPattern(target: Node, value: FlowNode | undefined): void {
    const pattern = bare(target);
    switch (pattern.type) {
      case 'Identifier': {
        const binding = file.bindingOf(pattern);
        if (binding) graph.edge(value, bindingNode(binding, lineOf(pattern)), { same: true });
        return;
      }
      case 'MemberExpression': {
        const name = memberName(pattern);
        const object = bare(pattern.object);
        if (name !== undefined && isSelf(object))
          graph.edge(value, field(name, lineOf(pattern)), { same: true });
        const binding = bindingOf(object);
        if (name !== undefined && binding && !isSelf(object))
          graph.edge(value, member(binding, name, lineOf(pattern)), { same: true });
        return;
      }
      case 'AssignmentPattern':
        assignPattern(pattern.left, value);
        assignPattern(pattern.left, placeOf(pattern.right));
        return;
      case 'ObjectPattern':
        for (const one of pattern.properties) {
          if (one.type === 'RestElement') assignPattern(one.argument, value);
          else {
            const name = keyName(one);
            const part = graph.node(lineOf(one));
            graph.edge(value, part);
            const source = name === undefined ? undefined : remoteSource(one, file);
            if (source !== undefined) graph.source(part, 'remote', source);
            assignPattern(one.value, part);
          }
        }
        return;
      case 'ArrayPattern':
        for (const one of pattern.elements) if (one) assignPattern(one, value);
        return;
      case 'RestElement':
        assignPattern(pattern.argument, value);
        return;
      default:
        if ((pattern.type as string) === 'TSParameterProperty')
          assignPattern(Reflect.get(pattern, 'parameter') as Node, value);
    }
  }

  for (const node of file.nodes) {
    // Before anything is followed: names of modules and of methods.
    switch (node.type) {
      case 'VariableDeclarator':
        if (node.id.type === 'ObjectPattern' && node.init) {
          const module = moduleOf(node.init);
          for (const one of node.id.properties) {
            if (module === undefined || one.type === 'RestElement' || one.value.type !== 'Identifier')
              continue;
            const binding = file.bindingOf(one.value);
            if (binding) destructured.set(binding, `${module}.${keyName(one)}`);
          }
        }
        break;
      case 'AssignmentExpression':
        if (node.left.type === 'MemberExpression') named(memberName(node.left), node.right);
        break;
      case 'Property':
        if (file.parentOf(node)?.type === 'ObjectExpression') named(keyName(node), node.value);
        break;
      case 'MethodDefinition':
        if (node.kind === 'method') named(keyName(node), node.value);
        break;
      case 'PropertyDefinition':
        if (node.value) named(keyName(node), node.value);
        break;
      default:
    }
  }

  function named(name: string | undefined, value: Node): void {
    if (name === undefined) return;
    const found = functionsIn(value);
    if (found.length === 0) return;
    const known = byMember.get(name);
    if (known) known.push(...found);
    else byMember.set(name, found);
  }

  for (const node of file.nodes) {
    switch (node.type) {
      case 'VariableDeclarator':
        if (!node.init) break;
        assignPattern(node.id, placeOf(node.init));
        if (node.id.type === 'Identifier' && node.init.type === 'ObjectExpression') {
          const binding = file.bindingOf(node.id);
          for (const one of node.init.properties) {
            const name = one.type === 'Property' ? keyName(one) : undefined;
            if (binding && name !== undefined && one.type === 'Property')
              graph.edge(placeOf(one.value), member(binding, name, lineOf(one)), { same: true });
          }
        }
        break;
      case 'AssignmentExpression':
        assignPattern(node.left, placeOf(node));
        break;
      case 'ForInStatement':
      case 'ForOfStatement': {
        const target = node.left.type === 'VariableDeclaration' ? node.left.declarations[0]?.id : node.left;
        if (target) assignPattern(target, placeOf(node.right));
        break;
      }
      case 'ReturnStatement': {
        const around = file.functionOf(node);
        if (around && node.argument)
          graph.edge(placeOf(node.argument), functionFlow(around).result, { same: true });
        break;
      }
      case 'CallExpression':
      case 'NewExpression': {
        placeOf(node);
        // What a list was given, it holds.
        const callee = bare(node.callee);
        if (
          callee.type === 'MemberExpression' &&
          /^(?:push|unshift|add|append)$/.test(memberName(callee) ?? '')
        ) {
          const list = placeOf(callee.object);
          for (const one of node.arguments) if (list) graph.edge(placeOf(one), list);
        }
        break;
      }
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression': {
        const flow = functionFlow(node);
        if (!isExposed(node)) break;
        for (const [index, parameter] of node.params.entries()) {
          if (isHarmlessParameter(parameter)) continue;
          const value = flow.parameters[index];
          const words = parameterWords(parameter, node);
          if (value) graph.source(value, 'library', words);
        }
        graph.source(flow.all, 'library', `the arguments of \`${functionName(node)}\``);
        break;
      }
      case 'MemberExpression':
      case 'BinaryExpression':
      case 'TemplateLiteral':
      case 'LogicalExpression':
      case 'ConditionalExpression':
      case 'Identifier':
      case 'ObjectExpression':
      case 'ArrayExpression':
        // Every place has to be known before origins spread.
        if (!isName(node)) placeOf(node);
        break;
      default:
        break;
    }
  }

  /** An identifier that stands for no variable. */
  function isName(node: Node): boolean {
    return node.type === 'Identifier' && node.name !== 'arguments' && file.bindingOf(node) === undefined;
  }

  /** Whether code outside of this file can call a function, or code that this file does not show. */
  function isExposed(node: FunctionNode): boolean {
    let at: Node = node;
    let parent = file.parentOf(at);
    while (
      parent &&
      /^(?:LogicalExpression|ConditionalExpression|SequenceExpression|TS\w+|ParenthesizedExpression)$/.test(
        parent.type,
      )
    ) {
      at = parent;
      parent = file.parentOf(at);
    }
    if (node.type === 'FunctionDeclaration') {
      if (parent?.type === 'ExportNamedDeclaration' || parent?.type === 'ExportDefaultDeclaration')
        return true;
      return node.id ? isUsedElsewhere(file.bindingOf(node.id)) : true;
    }
    switch (parent?.type) {
      case 'VariableDeclarator':
        return parent.id.type !== 'Identifier' || isUsedElsewhere(file.bindingOf(parent.id));
      case 'AssignmentExpression': {
        if (parent.left.type === 'Identifier') return isUsedElsewhere(file.bindingOf(parent.left));
        return true;
      }
      case 'MethodDefinition':
      case 'PropertyDefinition':
        return parent.key.type !== 'PrivateIdentifier' && Reflect.get(parent, 'accessibility') !== 'private';
      case 'Property':
      case 'ReturnStatement':
      case 'ArrowFunctionExpression':
      case 'ExportDefaultDeclaration':
      case 'ArrayExpression':
        return true;
      default:
        return false;
    }
  }

  function isUsedElsewhere(binding: Binding | undefined): boolean {
    if (!binding) return true;
    const uses = binding.references.filter((one) => {
      const parent = file.parentOf(one);
      return !(parent?.type === 'AssignmentExpression' && parent.left === one);
    });
    if (uses.length === 0) return true;
    return (
      uses.some((one) => {
        const parent = file.parentOf(one);
        if (parent?.type === 'CallExpression' || parent?.type === 'NewExpression')
          return parent.callee !== one;
        if (parent?.type === 'MemberExpression' && parent.object === one) return false;
        return true;
      }) || isExportedDeclaration(binding)
    );
  }

  function isExportedDeclaration(binding: Binding): boolean {
    return binding.values.some((value) => {
      const declarator = file.parentOf(value);
      const declaration = declarator && file.parentOf(declarator);
      return declaration !== undefined && file.parentOf(declaration)?.type === 'ExportNamedDeclaration';
    });
  }

  function functionName(node: FunctionNode): string {
    if (node.type !== 'ArrowFunctionExpression' && node.id) return node.id.name;
    const parent = file.parentOf(node);
    if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier') return parent.id.name;
    if (parent?.type === 'AssignmentExpression') return plainName(parent.left) || 'the function';
    if (
      parent?.type === 'Property' ||
      parent?.type === 'MethodDefinition' ||
      parent?.type === 'PropertyDefinition'
    )
      return keyName(parent) ?? 'the function';
    return 'the function';
  }

  function parameterWords(parameter: Node, node: FunctionNode): string {
    const at = parameter.type === 'AssignmentPattern' ? parameter.left : parameter;
    const name = at.type === 'Identifier' ? `the parameter \`${at.name}\`` : 'a parameter';
    return `${name} of \`${functionName(node)}\``;
  }

  graph.solve();
  return { file, graph, placeOf, calleeName, targetsOf };
}

function someInside(node: Node, isWanted: (inner: Node) => boolean): boolean {
  return childrenOf(node).some((child) => isWanted(child) || someInside(child, isWanted));
}

/** A function without calls and decisions returns what it was given, if only with other text around it. */
function onlyJoins(node: FunctionNode): boolean {
  return !someInside(node.body, ({ type }) =>
    /^(?:Call|New|Conditional|Tagged|Member)|^(?:If|For|While|Switch|Throw|Try)/.test(type),
  );
}

/** A type or a default that says that a parameter is no text and no object. */
function isHarmlessParameter(parameter: Node): boolean {
  if (parameter.type === 'AssignmentPattern') {
    const { right } = parameter;
    if (right.type === 'Literal' && (typeof right.value === 'number' || typeof right.value === 'boolean'))
      return true;
    return isHarmlessParameter(parameter.left);
  }
  const annotation: unknown = Reflect.get(parameter, 'typeAnnotation');
  const type: unknown = annotation && Reflect.get(annotation as object, 'typeAnnotation');
  const name: unknown = type && Reflect.get(type as object, 'type');
  return (
    name === 'TSNumberKeyword' ||
    name === 'TSBooleanKeyword' ||
    name === 'TSBigIntKeyword' ||
    name === 'TSSymbolKeyword'
  );
}
