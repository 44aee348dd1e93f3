/**
 * What a value can still do harm in. A step that makes it harmless for one of them clears that bit.
 */
export const KIND = {
  shell: 1,
  code: 2,
  path: 4,
  html: 8,
  url: 16,
  redirect: 32,
  pattern: 64,
  key: 128,
  text: 256,
  query: 512,
  sql: 1024,
} as const;
export const EVERY_KIND = 2047;

/**
 * Where a value comes from.
 * - `remote`: from a request, a page's address or an archive: who sends it chooses it.
 * - `library`: a parameter of a function that other files can call. Only they know what it holds.
 * - `part`: the same, joined with other text, so that it can change what that text means.
 * - `reached`: an object found under a key of one of the above. It can be `Object.prototype`.
 */
export const ORIGINS = ['remote', 'library', 'part', 'reached'] as const;
export type Origin = (typeof ORIGINS)[number];
const REACHED = 3;
const LIBRARY = 1;
const PART = 2;

/** A place in the program that holds a value. */
export interface FlowNode {
  line: number;
  /** The kinds of harm, by origin. */
  masks: [number, number, number, number];
  /** From where each origin arrived first. */
  from: (FlowNode | undefined)[];
  /** Words for the place where an origin begins. */
  source?: string;
  edges: Edge[];
}

export interface EdgeOptions {
  /** The kinds of harm that pass. */
  mask?: number;
  /** The value becomes a part of a text. */
  part?: boolean;
  /** The very same object passes, so what was found under a key stays that. */
  same?: boolean;
  /** The source is a key, and the target the object found under it. */
  reach?: boolean;
}

interface Edge extends Required<EdgeOptions> {
  to: FlowNode;
}

/** The most places and ways of one file. Beyond it, the file is not analysed. */
const MAX_EDGES = 400_000;

/** Values and the ways between them, of one file. Origins spread along the ways until nothing changes. */
export class FlowGraph {
  readonly #dirty: FlowNode[] = [];
  #edges = 0;

  node(line: number): FlowNode {
    return { line, masks: [0, 0, 0, 0], from: [], edges: [] };
  }

  /** @throws RangeError if there are too many */
  edge(from: FlowNode | undefined, to: FlowNode, options: EdgeOptions = {}): void {
    if (!from || from === to) return;
    if (++this.#edges > MAX_EDGES) throw new RangeError('the file has too many values');
    const { mask = EVERY_KIND, part = false, same = false, reach = false } = options;
    from.edges.push({ to, mask, part, same, reach });
  }

  source(node: FlowNode, origin: Origin, words: string, mask: number = EVERY_KIND): void {
    const index = ORIGINS.indexOf(origin);
    node.masks[index] = (node.masks[index] ?? 0) | mask;
    node.source ??= words;
    this.#dirty.push(node);
  }

  solve(): void {
    for (let node = this.#dirty.pop(); node; node = this.#dirty.pop()) {
      for (const edge of node.edges) if (spread(node, edge)) this.#dirty.push(edge.to);
    }
  }
}

function spread(node: FlowNode, { to, mask, part, same, reach }: Edge): boolean {
  if (reach) {
    const isInput = (node.masks[0] | node.masks[1] | node.masks[2]) & KIND.key;
    return isInput !== 0 && add(to, REACHED, KIND.key, node);
  }
  let changed = false;
  for (let origin = 0; origin < ORIGINS.length; origin++) {
    if (origin === REACHED && !same) continue;
    const target = part && origin === LIBRARY ? PART : origin;
    changed = add(to, target, (node.masks[origin] ?? 0) & mask, node) || changed;
  }
  return changed;
}

function add(to: FlowNode, origin: number, mask: number, from: FlowNode): boolean {
  const before = to.masks[origin] ?? 0;
  const after = before | mask;
  if (after === before) return false;
  to.masks[origin] = after;
  to.from[origin] ??= from;
  return true;
}

export function comesFrom(node: FlowNode, origin: Origin, kind: number): boolean {
  return ((node.masks[ORIGINS.indexOf(origin)] ?? 0) & kind) !== 0;
}

/** The places on the way of an origin to a node, from its source on. */
export function wayTo(node: FlowNode, origin: Origin): FlowNode[] {
  const way: FlowNode[] = [];
  const seen = new Set<FlowNode>();
  let at: FlowNode | undefined = node;
  let index = ORIGINS.indexOf(origin);
  while (at && !seen.has(at)) {
    seen.add(at);
    way.unshift(at);
    const next: FlowNode | undefined = at.from[index];
    if (next) index = originBefore(next, index);
    at = next;
  }
  return way;
}

/** Before a text was joined, its parts had an origin of their own; so had the key of an object that was reached. */
function originBefore(node: FlowNode, origin: number): number {
  if (node.masks[origin]) return origin;
  if (origin === PART) return LIBRARY;
  const first = node.masks.findIndex((mask) => mask !== 0);
  return first < 0 ? origin : first;
}
