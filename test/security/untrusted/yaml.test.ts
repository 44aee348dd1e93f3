// @module-tag security

import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../src/core/diagnostic.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { parseSettings } from '../../../src/domain/chain/settings.ts';
import { withinEffort } from '../../support/effort.ts';
import { YAML_ATTACKS } from './yaml-corpus.ts';

const READERS = [
  ['a chain', (text: string) => parseChain(text, 'f.yaml', { skills: ['ci'], actions: ['gh-label'] })],
  ['settings', (text: string) => parseSettings(text, 'f.yaml')],
] as const;

describe.each(READERS)('%s', (_what, read) => {
  test.each(YAML_ATTACKS)(
    'with %s is refused at its place, with little work',
    (_, text, place, diagnostic) => {
      const { diagnostics } = withinEffort<{ diagnostics: readonly Diagnostic[] }>(250, () => read(text));
      const said = diagnostics.map(({ line, column, message }) => `${line}:${column} ${message}`);
      const [line = 0] = place.split(':').map(Number);
      expect(said.join('\n')).toMatch(diagnostic);
      expect(diagnostics.every((one) => one.line >= 1 && one.column >= 1)).toBe(true);
      const deep = /nested too deeply/.test(diagnostic.source);
      if (!deep) {
        expect(diagnostics.find(({ message }) => diagnostic.test(message))).toMatchObject({ line });
      }
    },
  );
});

test('no attack reached the prototype of all objects', () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
