import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/core/fault.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { parseSettings } from '../../../src/domain/chain/settings.ts';
import { withinEffort } from '../../support/effort.ts';
import { YAML_ATTACKS } from './yaml-corpus.ts';

const READERS = [
  ['a chain', (text: string) => parseChain(text, 'f.yaml', { skills: ['ci'], actions: ['gh-label'] })],
  ['settings', (text: string) => parseSettings(text, 'f.yaml')],
] as const;

describe.each(READERS)('%s', (_what, read) => {
  test.each(YAML_ATTACKS)('with %s is refused at its place, with little work', (_, text, place, fault) => {
    const { faults } = withinEffort<{ faults: readonly Fault[] }>(250, () => read(text));
    const said = faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
    const [line = 0] = place.split(':').map(Number);
    expect(said.join('\n')).toMatch(fault);
    expect(faults.every((one) => one.line >= 1 && one.column >= 1)).toBe(true);
    const deep = /nested too deeply/.test(fault.source);
    if (!deep) {
      expect(faults.find(({ message }) => fault.test(message))).toMatchObject({ line });
    }
  });
});

test('nothing of all that reached the prototype of all objects', () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
