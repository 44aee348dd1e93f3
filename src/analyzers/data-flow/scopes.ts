import type * as ES from 'estree';
import { childrenOf, type FunctionNode, isFunction, type Node } from './syntax.ts';

/** A name that a file declares, with all that is known of it. */
export interface Binding {
  name: string;
  kind: 'variable' | 'parameter' | 'import' | 'class';
  /** Functions and expressions that are its values. */
  values: Node[];
  /** Every place that reads or writes it. */
  references: ES.Identifier[];
  /** The module and the name in it, of an import. */
  imported?: { module: string; name: string };
}

/** A file with the meaning of its names. */
export interface ScopedFile {
  /** All nodes, each before those inside it. */
  nodes: readonly Node[];
  parentOf(node: Node): Node | undefined;
  bindingOf(node: ES.Identifier): Binding | undefined;
  /** The nearest function around a node. */
  functionOf(node: Node): FunctionNode | undefined;
}

type Scope = { names: Map<string, Binding>; outer: Scope | undefined; isFunction: boolean };

/** Resolves the names of a file as the language does, `var` and functions included. */
export function resolveScopes(program: Node): ScopedFile {
  const nodes: Node[] = [];
  const parents = new Map<Node, Node>();
  const bindings = new Map<Node, Binding>();
  const references: { node: ES.Identifier; scope: Scope }[] = [];

  const declare = (scope: Scope, name: ES.Identifier, kind: Binding['kind']): Binding => {
    let at = scope;
    while (kind === 'variable' && !at.isFunction && at.outer) at = at.outer;
    return declareHere(at, name, kind);
  };
  const declareHere = (scope: Scope, name: ES.Identifier, kind: Binding['kind']): Binding => {
    const known = scope.names.get(name.name);
    const binding = known ?? { name: name.name, kind, values: [], references: [] };
    scope.names.set(name.name, binding);
    bindings.set(name, binding);
    return binding;
  };

  function declarePattern(pattern: Node, declareName: (name: ES.Identifier) => unknown): void {
    switch (pattern.type) {
      case 'Identifier':
        declareName(pattern);
        return;
      case 'ObjectPattern':
        for (const one of pattern.properties)
          declarePattern(one.type === 'RestElement' ? one.argument : one.value, declareName);
        return;
      case 'ArrayPattern':
        for (const one of pattern.elements) if (one) declarePattern(one, declareName);
        return;
      case 'RestElement':
        declarePattern(pattern.argument, declareName);
        return;
      case 'AssignmentPattern':
        declarePattern(pattern.left, declareName);
        return;
      default:
        if ((pattern.type as string) === 'TSParameterProperty')
          declarePattern(Reflect.get(pattern, 'parameter') as Node, declareName);
    }
  }

  function visit(node: Node, scope: Scope, parent: Node | undefined): void {
    nodes.push(node);
    if (parent) parents.set(node, parent);
    let inner = scope;
    if (isFunction(node)) {
      if (node.type === 'FunctionDeclaration' && node.id)
        declare(scope, node.id, 'variable').values.push(node);
      inner = { names: new Map(), outer: scope, isFunction: true };
      if (node.type === 'FunctionExpression' && node.id)
        declareHere(inner, node.id, 'variable').values.push(node);
      for (const parameter of node.params)
        declarePattern(parameter, (name) => declareHere(inner, name, 'parameter'));
    } else {
      switch (node.type) {
        case 'BlockStatement':
          // The body of a function shares the scope of its parameters, as far as names are concerned.
          if (!isFunction(parent)) inner = { names: new Map(), outer: scope, isFunction: false };
          break;
        case 'ForStatement':
        case 'ForInStatement':
        case 'ForOfStatement':
        case 'SwitchStatement':
          inner = { names: new Map(), outer: scope, isFunction: false };
          break;
        case 'CatchClause': {
          inner = { names: new Map(), outer: scope, isFunction: false };
          if (node.param) declarePattern(node.param, (name) => declareHere(inner, name, 'parameter'));
          break;
        }
        case 'VariableDeclaration':
          for (const { id } of node.declarations)
            declarePattern(id, (name) =>
              node.kind === 'var' ? declare(scope, name, 'variable') : declareHere(scope, name, 'variable'),
            );
          break;
        case 'VariableDeclarator':
          if (node.id.type === 'Identifier' && node.init) bindings.get(node.id)?.values.push(node.init);
          break;
        case 'ClassDeclaration':
          if (node.id) declareHere(scope, node.id, 'class').values.push(node);
          break;
        case 'ImportDeclaration':
          for (const one of node.specifiers) {
            const module = String(node.source.value);
            const name =
              one.type === 'ImportSpecifier' && one.imported.type === 'Identifier' ? one.imported.name : '*';
            declareHere(scope, one.local, 'import').imported = {
              module,
              name: one.type === 'ImportDefaultSpecifier' ? '*' : name,
            };
          }
          break;
        case 'Identifier':
          if (isReference(node, parent)) references.push({ node, scope });
          break;
        default:
      }
    }
    for (const child of childrenOf(node)) visit(child, inner, node);
  }

  visit(program, { names: new Map(), outer: undefined, isFunction: true }, undefined);

  for (const { node, scope } of references) {
    let at: Scope | undefined = scope;
    while (at && !at.names.has(node.name)) at = at.outer;
    const binding = at?.names.get(node.name);
    if (!binding) continue;
    const isDeclaration = bindings.has(node);
    bindings.set(node, binding);
    if (!isDeclaration) binding.references.push(node);
    const parent = parents.get(node);
    if (parent?.type === 'AssignmentExpression' && parent.left === node) binding.values.push(parent.right);
  }

  return {
    nodes,
    parentOf: (node) => parents.get(node),
    bindingOf: (node) => bindings.get(node),
    functionOf(node) {
      let at = parents.get(node);
      while (at && !isFunction(at)) at = parents.get(at);
      return at;
    },
  };
}

/** Whether an identifier stands for a variable, and is not the name of a member, key or label. */
function isReference(node: ES.Identifier, parent: Node | undefined): boolean {
  switch (parent?.type) {
    case 'MemberExpression':
      return parent.object === node || parent.computed;
    case 'Property':
      return parent.value === node || parent.computed;
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return parent.value === node || parent.computed;
    case 'LabeledStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
    case 'ImportSpecifier':
    case 'ImportDefaultSpecifier':
    case 'ImportNamespaceSpecifier':
      return false;
    case 'ExportSpecifier':
      return parent.local === node;
    default:
      return true;
  }
}
