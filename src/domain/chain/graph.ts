import { CountersignError } from '../../core/errors.ts';

/** What the graph needs of a step. `dependsOn` names other nodes; names of no node are ignored. */
export interface GraphNode {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/**
 * Ids in an order in which every node comes after what it depends on (Kahn's algorithm). Among nodes that could come
 * next, the one written first comes first, so the order is the same on every machine.
 * @throws CountersignError `chain_circle` when there is no such order.
 */
export function topologicalOrder(nodes: readonly GraphNode[]): string[] {
  const order: string[] = [];
  const settled = new Set<string>();
  while (order.length < nodes.length) {
    const next = readyNodes(nodes, settled)[0];
    if (next === undefined) {
      throw new CountersignError('chain_circle', `steps depend on each other: ${describeCycle(nodes)}`);
    }
    order.push(next);
    settled.add(next);
  }
  return order;
}

/** Ids, in written order, of unsettled nodes whose dependencies are all settled. */
export function readyNodes(nodes: readonly GraphNode[], settled: ReadonlySet<string>): string[] {
  const known = new Set(nodes.map((node) => node.id));
  return nodes
    .filter(
      (node) => !settled.has(node.id) && node.dependsOn.every((id) => settled.has(id) || !known.has(id)),
    )
    .map((node) => node.id);
}

/**
 * A circle as a path whose last id is its first again, such as `['a', 'b', 'a']` where a depends on b and b on a;
 * `undefined` when there is none.
 */
export function findCycle(nodes: readonly GraphNode[]): string[] | undefined {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const cleared = new Set<string>();
  const path: string[] = [];

  const visit = (id: string): string[] | undefined => {
    const node = byId.get(id);
    if (!node || cleared.has(id)) return undefined;
    const start = path.indexOf(id);
    if (start >= 0) return [...path.slice(start), id];
    path.push(id);
    for (const dependency of node.dependsOn) {
      const circle = visit(dependency);
      if (circle) return circle;
    }
    path.pop();
    cleared.add(id);
    return undefined;
  };

  for (const node of nodes) {
    const circle = visit(node.id);
    if (circle) return circle;
  }
  return undefined;
}

/** Everything the node waits for, directly or through others, in written order. */
export function dependenciesOf(nodes: readonly GraphNode[], id: string): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node.dependsOn]));
  return reachable(nodes, id, (at) => byId.get(at) ?? []);
}

/** Everything that waits for the node, directly or through others, in written order. */
export function dependentsOf(nodes: readonly GraphNode[], id: string): string[] {
  return reachable(nodes, id, (at) =>
    nodes.filter((node) => node.dependsOn.includes(at)).map((node) => node.id),
  );
}

function reachable(
  nodes: readonly GraphNode[],
  from: string,
  next: (id: string) => readonly string[],
): string[] {
  const seen = new Set<string>();
  const open = [...next(from)];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...next(id));
  }
  return nodes.map((node) => node.id).filter((id) => seen.has(id));
}

function describeCycle(nodes: readonly GraphNode[]): string {
  return (findCycle(nodes) ?? []).join(' → ');
}
