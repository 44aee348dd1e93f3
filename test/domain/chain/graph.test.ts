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
  test('is the written one where dependencies allow', () => {
    expect(topologicalOrder(diamond)).toEqual(['top', 'left', 'right', 'bottom']);
    expect(topologicalOrder(diamond.toReversed())).toEqual(['top', 'right', 'left', 'bottom']);
  });

  test('does not exist in a circle, and the error names the path', () => {
    const nodes = [
      { id: 'start', dependsOn: ['a'] },
      { id: 'a', dependsOn: ['b'] },
      { id: 'b', dependsOn: ['a'] },
    ];
    expect(findCycle(nodes)).toEqual(['a', 'b', 'a']);
    expect(() => topologicalOrder(nodes)).toThrow('a → b → a');
  });

  test('ignores names of no node', () => {
    expect(topologicalOrder([{ id: 'a', dependsOn: ['gone'] }])).toEqual(['a']);
  });
});

describe('what is around a step', () => {
  test('its dependencies are found through others, in written order', () => {
    expect(dependenciesOf(diamond, 'bottom')).toEqual(['top', 'left', 'right']);
  });

  test('its dependents are found through others, in written order', () => {
    expect(dependentsOf(diamond, 'top')).toEqual(['left', 'right', 'bottom']);
  });

  test('steps are ready once all they depend on is settled', () => {
    expect(readyNodes(diamond, new Set(['top', 'left']))).toEqual(['right']);
    expect(readyNodes(diamond, new Set(['top', 'left', 'right']))).toEqual(['bottom']);
  });
});

describe('properties', () => {
  /** Any graph of up to 12 nodes; edges may go anywhere. */
  const graph = fc
    .integer({ min: 1, max: 12 })
    .chain((size) =>
      fc
        .array(fc.uniqueArray(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size })
        .map((edges) => edges.map((to, id) => ({ id: `n${id}`, dependsOn: to.map((other) => `n${other}`) }))),
    );
  /** A graph whose edges only go back, and therefore has an order, in shuffled writing. */
  const acyclic = graph
    .map((nodes) =>
      nodes.map((node, index) => ({
        ...node,
        dependsOn: node.dependsOn.filter((id) => Number(id.slice(1)) < index),
      })),
    )
    .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }));

  test('every order respects every dependency', () => {
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

  test('a circle is found exactly when there is no order, and is a real path', () => {
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

  test('dependencies and dependents are the same relation from both ends', () => {
    fc.assert(
      fc.property(acyclic, (nodes) => {
        for (const { id } of nodes) {
          for (const other of dependenciesOf(nodes, id)) expect(dependentsOf(nodes, other)).toContain(id);
        }
      }),
    );
  });
});
