import { describe, expect, test } from 'vitest';
import { parseChain } from '../../../src/chain/parse.ts';
import { parseSettings } from '../../../src/chain/settings.ts';
import type { Fault } from '../../../src/core/fault.ts';
import { YAML_ATTACKS } from './yaml-corpus.ts';

const READERS = [
  ['a chain', (text: string) => parseChain(text, 'f.yaml', { skills: ['ci'], actions: ['gh-label'] })],
  ['settings', (text: string) => parseSettings(text, 'f.yaml')],
] as const;

/** The most processor time that reading a file may take, in ms; what other processes take counts for nothing. */
const MAX_MS = 150;

/** Processor time in ms; tried again while it is too long, because the engine compiles as it goes. */
function cost(work: () => unknown, tries = 3): number {
  const before = process.cpuUsage();
  work();
  const took = process.cpuUsage(before).user / 1_000;
  return took > MAX_MS && tries > 1 ? cost(work, tries - 1) : took;
}

describe.each(READERS)('%s', (what, read) => {
  test.each(YAML_ATTACKS)('with %s is refused at its place, and costs little', (_, text, place, fault) => {
    let faults: readonly Fault[] = [];
    const took = cost(() => {
      ({ faults } = read(text));
    });
    const said = faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
    const [line = 0] = place.split(':').map(Number);
    expect(said.join('\n')).toMatch(fault);
    expect(faults.every((one) => one.line >= 1 && one.column >= 1)).toBe(true);
    const deep = /nested too deeply/.test(fault.source);
    if (!deep) {
      expect(faults.find(({ message }) => fault.test(message))).toMatchObject({ line });
    }
    expect(took, what).toBeLessThan(MAX_MS);
  });
});

test('nothing of all that reached the prototype of all objects', () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
