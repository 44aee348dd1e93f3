import type { SgNode } from '@ast-grep/napi';
import type { Grammar } from './grammars.ts';

/**
 * What a value must be to do harm.
 * - `request`: what a request says is in it.
 * - `joined`: the same, or text that is put together with something that the program does not fix.
 */
export type Origin = 'request' | 'joined';

/** Where a value comes from: words for people, and its line, from 1. */
export interface Source {
  words: string;
  line: number;
}

/** Values that need more steps than this come from too far to be sure. */
const MOST_STEPS = 40;
/** In characters. Longer expressions are not read as names, so nested ones cost no more than their length. */
const MOST_NAME = 300;

interface Bounds {
  /** Expressions that count as what a request says, besides those of the grammar. */
  also?: RegExp | undefined;
  /** How an expression that puts text together begins if what follows does no harm, such as a fixed host. */
  after?: RegExp | undefined;
}

/** Follows the values of one file. It keeps what it has read of each function. */
export class Tracer {
  readonly #grammar: Grammar;
  readonly #bounds: Bounds;
  readonly #assignments = new Map<number, Map<string, SgNode[]>>();
  readonly #own = new Map<number, boolean>();

  constructor(grammar: Grammar, bounds: Bounds = {}) {
    this.#grammar = grammar;
    this.#bounds = bounds;
  }

  /** Where a value of this origin comes from, or `undefined` if it is none. */
  trace(value: SgNode, origin: Origin): Source | undefined {
    const found = this.#request(value, 0, new Set());
    if (found || origin === 'request') return found;
    return this.#joined(value, 0, new Set());
  }

  /** The fixed texts in a value, with those of the names in it. */
  textsOf(value: SgNode): string {
    const texts = [shortText(value, 2_000)];
    for (const name of [value, ...value.findAll({ rule: { kind: 'identifier' } })].slice(0, 20))
      if (name.kind() === 'identifier')
        for (const given of this.#valuesOf(name)) texts.push(shortText(given, 2_000));
    return texts.join('\n');
  }

  /** The function around a node, or the file. */
  scopeOf(node: SgNode): SgNode {
    const around = node.ancestors();
    const found = around.find((one) => this.#grammar.functions.has(String(one.kind())));
    return found ?? around.at(-1) ?? node;
  }

  /** Calls of the node's function, with its name. */
  nameOf(call: SgNode): string {
    const callee = call.field('function');
    return callee ? shortText(callee, MOST_NAME) : '';
  }

  #request(node: SgNode, depth: number, seen: Set<number>): Source | undefined {
    const kind = String(node.kind());
    const { grammar } = this;
    if (depth > MOST_STEPS || seen.has(node.id()) || this.#isFixed(kind) || grammar.harmless.has(kind))
      return undefined;
    seen.add(node.id());
    const next = (one: SgNode | null) => (one ? this.#request(one, depth + 1, seen) : undefined);
    const text = shortText(node, MOST_NAME);
    if (this.#bounds.after?.test(text)) return undefined;
    if (grammar.request.test(text) || this.#bounds.also?.test(text))
      return sourceAt(node, `\`${oneLine(text)}\``);
    if (kind === 'identifier') {
      return firstOf(this.#valuesOf(node), next) ?? this.#parameterOf(node);
    }
    if (kind === grammar.call) {
      const name = this.nameOf(node);
      if (grammar.cleaning.test(name)) return undefined;
      const callee = node.field('function');
      const object = callee?.field('object') ?? callee?.field('operand') ?? null;
      return next(object) ?? firstOf(argumentsOf(node), next);
    }
    // A key chooses among values that are there.
    if (kind === 'subscript') return next(node.field('value'));
    if (kind === 'index_expression') return next(node.field('operand'));
    if (kind === 'keyword_argument') return next(node.field('value'));
    return firstOf(node.namedChildren(), next);
  }

  #joined(node: SgNode, depth: number, seen: Set<number>): Source | undefined {
    const kind = String(node.kind());
    if (depth > MOST_STEPS || seen.has(node.id()) || this.#isFixed(kind)) return undefined;
    seen.add(node.id());
    const next = (one: SgNode) => this.#joined(one, depth + 1, seen);
    const open = (parts: readonly SgNode[]) => parts.find((one) => !this.#isOwn(one, 0));
    if (kind === 'identifier') {
      for (const value of this.#valuesOf(node)) {
        const statement = value.parent();
        const grows =
          statement !== null &&
          (/^augmented/.test(String(statement.kind())) || isGrowing(value)) &&
          !this.#isOwn(value, 0);
        if (grows) return sourceAt(value, 'text that grows');
        const found = next(value);
        if (found) return found;
      }
      return undefined;
    }
    if (/^binary_(?:operator|expression)$/.test(kind)) {
      const operator = node.field('operator')?.text() ?? '+';
      if (!/^[+%]$/.test(operator)) return undefined;
      const part = open([node.field('left'), node.field('right')].filter((one) => one !== null));
      return part && sourceAt(node, `\`${oneLine(shortText(part, MOST_NAME))}\``);
    }
    if (kind === 'string') {
      const part = open(node.children().filter((one) => one.kind() === 'interpolation'));
      return part && sourceAt(node, `\`${oneLine(shortText(part, MOST_NAME))}\``);
    }
    if (kind === this.#grammar.call) {
      const name = this.nameOf(node);
      if (this.#grammar.cleaning.test(name)) return undefined;
      if (this.#grammar.joining.test(name)) {
        const part = open(argumentsOf(node));
        return part && sourceAt(node, `\`${oneLine(shortText(part, MOST_NAME))}\``);
      }
      return firstOf(argumentsOf(node), next);
    }
    if (this.#grammar.harmless.has(kind)) return undefined;
    return firstOf(node.namedChildren(), next);
  }

  get grammar(): Grammar {
    return this.#grammar;
  }

  /** Whether the program itself fixes a value: a literal, a constant, an entry of a constant, or what these make. */
  #isOwn(node: SgNode, depth: number): boolean {
    const known = this.#own.get(node.id());
    if (known !== undefined || depth > MOST_STEPS) return known ?? false;
    // A name that is given what it was before.
    this.#own.set(node.id(), true);
    const isOwn = this.#judgeOwn(node, depth);
    this.#own.set(node.id(), isOwn);
    return isOwn;
  }

  #judgeOwn(node: SgNode, depth: number): boolean {
    const kind = String(node.kind());
    if (this.#isFixed(kind) || this.#grammar.harmless.has(kind)) return true;
    const own = (one: SgNode) => this.#isOwn(one, depth + 1);
    if (kind === 'identifier') {
      if (this.#grammar.constant.test(node.text())) return true;
      const values = this.#valuesOf(node);
      return values.length > 0 ? values.every(own) : !this.#isParameter(node);
    }
    if (kind === this.#grammar.call)
      return (
        this.#grammar.cleaning.test(this.nameOf(node)) ||
        (argumentsOf(node).length > 0 && argumentsOf(node).every(own))
      );
    if (kind === 'subscript' || kind === 'index_expression') {
      const table = node.field('value') ?? node.field('operand');
      return table !== null && own(table);
    }
    if (kind === 'attribute' || kind === 'selector_expression') {
      const name = node.field('attribute') ?? node.field('field');
      return name !== null && this.#grammar.constant.test(name.text());
    }
    return node.namedChildren().every(own);
  }

  #isFixed(kind: string): boolean {
    return this.#grammar.fixed.has(kind);
  }

  #isParameter(name: SgNode): boolean {
    const scope = this.scopeOf(name);
    const list = scope.field('parameters');
    if (list === null) return false;
    return list.findAll({ rule: { kind: 'identifier' } }).some((one) => one.text() === name.text());
  }

  /** What answers requests gets what they say as parameters, unless their type says that it is a number or the like. */
  #parameterOf(name: SgNode): Source | undefined {
    const { handler } = this.#grammar;
    const scope = this.scopeOf(name);
    if (!handler || !this.#isParameter(name)) return undefined;
    const holder = scope.parent();
    if (holder?.kind() !== 'decorated_definition') return undefined;
    const decorators = holder.children().filter((one) => one.kind() === 'decorator');
    const text = decorators.map((one) => shortText(one, MOST_NAME)).find((one) => handler.test(one));
    if (text === undefined) return undefined;
    const given = scope
      .field('parameters')
      ?.namedChildren()
      .find((one) => new RegExp(`^${name.text()}\\b`).test(shortText(one, MOST_NAME)));
    const isTyped =
      /:\s*(?:int|float|bool|UUID|Request|WebSocket|Session|\w*Session|Depends)\b|=\s*Depends\(/.test(
        given ? shortText(given, MOST_NAME) : '',
      );
    const isNumber = new RegExp(`<(?:int|float|uuid):${name.text()}>`).test(text);
    if (isTyped || isNumber || /^(?:self|request|db|session)$/.test(name.text())) return undefined;
    return sourceAt(given ?? name, `the parameter \`${name.text()}\``);
  }

  /** What a name is given in its function, or else in the file. */
  #valuesOf(name: SgNode): readonly SgNode[] {
    const scope = this.scopeOf(name);
    const text = name.text();
    const here = this.#assignmentsIn(scope).get(text);
    if (here || this.#isParameter(name)) return here ?? [];
    const file = scope.ancestors().at(-1);
    return (file && this.#assignmentsIn(file).get(text)) ?? [];
  }

  #assignmentsIn(scope: SgNode): ReadonlyMap<string, SgNode[]> {
    const known = this.#assignments.get(scope.id());
    if (known) return known;
    const made = new Map<string, SgNode[]>();
    const kinds = Object.entries(this.#grammar.assignments);
    for (const [kind, [nameField, valueField]] of kinds) {
      for (const statement of scope.findAll({ rule: { kind } })) {
        const names = listed(statement.field(nameField));
        const values = listed(statement.field(valueField));
        for (const [index, name] of names.entries()) {
          const value = values[index] ?? values[0];
          if (!value || name.kind() !== 'identifier') continue;
          const all = made.get(name.text());
          if (all) all.push(value);
          else made.set(name.text(), [value]);
        }
      }
    }
    this.#assignments.set(scope.id(), made);
    return made;
  }
}

/** The values of a call, without the names of keywords. */
export function argumentsOf(call: SgNode): SgNode[] {
  const list = call.field('arguments');
  if (list === null) return [];
  return list.namedChildren().filter((one) => one.kind() !== 'comment');
}

function listed(node: SgNode | null): SgNode[] {
  if (node === null) return [];
  return /^(?:expression_list|pattern_list|tuple_pattern)$/.test(String(node.kind()))
    ? node.namedChildren()
    : [node];
}

/** The right side of `+=`. */
function isGrowing(value: SgNode): boolean {
  const holder = value.parent();
  const statement = holder?.kind() === 'expression_list' ? holder.parent() : holder;
  return statement?.kind() === 'assignment_statement' && statement.field('operator')?.text() === '+=';
}

function shortText(node: SgNode, most: number): string {
  const { start, end } = node.range();
  return end.index - start.index > most ? '' : node.text();
}

function sourceAt(node: SgNode, words: string): Source {
  return { words, line: node.range().start.line + 1 };
}

function firstOf(nodes: readonly SgNode[], find: (node: SgNode) => Source | undefined): Source | undefined {
  for (const node of nodes) {
    const found = find(node);
    if (found) return found;
  }
  return undefined;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('`', "'");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
