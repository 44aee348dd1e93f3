import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dependenciesOf,
  dependentsOf,
  findCycle,
  readyNodes,
  topologicalOrder,
} from '../../../src/domain/chain/graph.ts';

const diamond = [
  { id: 'top', dependsOn: [] },
  { id: 'left', dependsOn: ['top'] },
  { id: 'right', dependsOn: ['top'] },
  { id: 'bottom', dependsOn: ['right', 'left'] },
];

describe('the order of steps', () => {
  test('is the written order where dependencies allow it', () => {
    expect(topologicalOrder(diamond)).toEqual(['top', 'left', 'right', 'bottom']);
    expect(topologicalOrder(diamond.toReversed())).toEqual(['top', 'right', 'left', 'bottom']);
  });

  test('does not exist in a cycle, and the error names the path', () => {
    const nodes = [
      { id: 'start', dependsOn: ['a'] },
      { id: 'a', dependsOn: ['b'] },
      { id: 'b', dependsOn: ['a'] },
    ];
    expect(findCycle(nodes)).toEqual(['a', 'b', 'a']);
    expect(() => topologicalOrder(nodes)).toThrow('a → b → a');
  });

  test('ignores dependencies on unknown steps', () => {
    expect(topologicalOrder([{ id: 'a', dependsOn: ['gone'] }])).toEqual(['a']);
  });
});

describe('the neighbours of a step', () => {
  test('include its indirect dependencies, in written order', () => {
    expect(dependenciesOf(diamond, 'bottom')).toEqual(['top', 'left', 'right']);
  });

  test('include its indirect dependents, in written order', () => {
    expect(dependentsOf(diamond, 'top')).toEqual(['left', 'right', 'bottom']);
  });

  test('are ready once everything that they depend on is settled', () => {
    expect(readyNodes(diamond, new Set(['top', 'left']))).toEqual(['right']);
    expect(readyNodes(diamond, new Set(['top', 'left', 'right']))).toEqual(['bottom']);
  });
});

describe('any graph', () => {
  /** Any graph of up to 12 nodes; edges may go anywhere. */
  const graph = fc
    .integer({ min: 1, max: 12 })
    .chain((size) =>
      fc
        .array(fc.uniqueArray(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size })
        .map((edges) => edges.map((to, id) => ({ id: `n${id}`, dependsOn: to.map((other) => `n${other}`) }))),
    );
  /** A graph whose edges only go back, so that it has an order, written in any order. */
  const acyclic = graph
    .map((nodes) =>
      nodes.map((node, index) => ({
        ...node,
        dependsOn: node.dependsOn.filter((id) => Number(id.slice(1)) < index),
      })),
    )
    .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }));

  test('is ordered so that every dependency comes first', () => {
    fc.assert(
      fc.property(acyclic, (nodes) => {
        const order = topologicalOrder(nodes);
        expect(order.toSorted()).toEqual(nodes.map((node) => node.id).toSorted());
        for (const { id, dependsOn } of nodes) {
          for (const dependency of dependsOn)
            expect(order.indexOf(dependency)).toBeLessThan(order.indexOf(id));
        }
      }),
    );
  });

  test('has a cycle exactly when it has no order, and the cycle is a real path', () => {
    fc.assert(
      fc.property(graph, (nodes) => {
        const circle = findCycle(nodes);
        if (!circle) {
          expect(topologicalOrder(nodes)).toHaveLength(nodes.length);
          return;
        }
        expect(() => topologicalOrder(nodes)).toThrow();
        expect(circle.at(0)).toBe(circle.at(-1));
        for (const [index, id] of circle.slice(0, -1).entries()) {
          expect(nodes.find((node) => node.id === id)?.dependsOn).toContain(circle[index + 1]);
        }
      }),
    );
  });

  test('has dependents that mirror its dependencies', () => {
    fc.assert(
      fc.property(acyclic, (nodes) => {
        for (const { id } of nodes) {
          for (const other of dependenciesOf(nodes, id)) expect(dependentsOf(nodes, other)).toContain(id);
        }
      }),
    );
  });
});
