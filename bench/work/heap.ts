import { readFileSync } from 'node:fs';

/** Where a heap's bytes are. */
export interface HeapShares {
  totalMb: number;
  /** By what V8 says that they are, such as closures and strings. */
  kinds: Record<string, number>;
  /** The objects of these constructors, with what only they refer to left out. */
  constructors: Record<string, number>;
}

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[], ...unknown[]] } };
  nodes: number[];
  strings: string[];
}

const KINDS = 14;
const CONSTRUCTORS = 20;

/**
 * Sums up a heap snapshot in megabytes, largest first. The size of a node is its own; V8 counts the elements and
 * properties of an object apart, as "array".
 * The format: https://chromium.googlesource.com/v8/v8/+/refs/heads/main/src/profiler/heap-snapshot-generator.cc
 */
export function heapShares(file: string): HeapShares {
  const { snapshot, nodes, strings } = JSON.parse(readFileSync(file, 'utf8')) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field));
  const kinds = new Map<string, number>();
  const constructors = new Map<string, number>();
  let total = 0;
  const add = (to: Map<string, number>, key: string, bytes: number) =>
    to.set(key, (to.get(key) ?? 0) + bytes);
  for (let at = 0; at < nodes.length; at += fields.length) {
    const of = (field = 0) => nodes[at + field] ?? 0;
    const bytes = of(size);
    const kind = types[0][of(type)] ?? '';
    const named = strings[of(name)] ?? '';
    total += bytes;
    if (kind === 'code') add(kinds, `code: ${named.replaceAll(/^\(|\)$|^system \/ /g, '')}`, bytes);
    else add(kinds, kind, bytes);
    if (kind === 'object') add(constructors, named.slice(0, 40), bytes);
  }
  return {
    totalMb: megabytes(total),
    kinds: largest(kinds, KINDS),
    constructors: largest(constructors, CONSTRUCTORS),
  };
}

function largest(shares: Map<string, number>, count: number): Record<string, number> {
  const sorted = [...shares].toSorted(([, a], [, b]) => b - a);
  return Object.fromEntries(sorted.slice(0, count).map(([name, bytes]) => [name, megabytes(bytes)]));
}

function megabytes(bytes: number): number {
  return Number((bytes / 1_048_576).toFixed(2));
}
