import { CountersignError } from '../../core/errors.ts';

/** The parts of a step that the graph needs. Names in `dependsOn` that are no node are ignored. */
export interface GraphNode {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/**
 * Ids in an order in which every node follows its dependencies (Kahn's algorithm). Ties go to the node that
 * is written first, so the order is the same on every machine.
 * @throws CountersignError `chain_circle` if the nodes have a cycle.
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
 * A cycle as a path that ends where it begins: `['a', 'b', 'a']` if a depends on b and b on a. `undefined` if
 * there is none.
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
      const cycle = visit(dependency);
      if (cycle) return cycle;
    }
    path.pop();
    cleared.add(id);
    return undefined;
  };

  for (const node of nodes) {
    const cycle = visit(node.id);
    if (cycle) return cycle;
  }
  return undefined;
}

/** All direct and indirect dependencies of the node, in written order. */
export function dependenciesOf(nodes: readonly GraphNode[], id: string): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node.dependsOn]));
  return reachable(nodes, id, (at) => byId.get(at) ?? []);
}

/** All nodes that directly or indirectly depend on the node, in written order. */
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
