import { describe, expect, test } from 'vitest';
import { MAX_STEPS } from '../../../src/domain/chain/chain.ts';
import { stepGraph } from '../../../src/messages/studio/graph.ts';

const ids = Array.from({ length: MAX_STEPS }, (_, at) => `s${at}`);
const drawn = (dependsOn: (at: number) => string[]) =>
  String(
    stepGraph(
      ids.map((id, at) => ({ id, dependsOn: dependsOn(at) })),
      'Steps',
    ),
  );
const lines = (svg: string) => svg.match(/<polyline/g)?.length;

describe('the graph of the most steps that a chain can have', () => {
  test('has no line that others imply', () => {
    const one = drawn((at) => ids.slice(Math.max(0, at - 1), at));
    expect(lines(one)).toBe(MAX_STEPS - 1);
    expect(drawn((at) => ids.slice(0, at))).toBe(one);
  });

  test('has lines to steps that are written later', () => {
    expect(lines(drawn((at) => ids.slice(at + 1, at + 3)))).toBe(MAX_STEPS - 1);
  });

  test('is left out where so many wait for each other that its layout would take seconds', () => {
    expect(drawn((at) => (at < 25 ? [] : ids.slice(0, 25)))).toBe(
      '<p class="quiet">These steps wait for each other in too many ways to be drawn.</p>',
    );
  });
});
