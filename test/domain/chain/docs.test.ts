import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { chainFileSchema } from '../../../src/domain/chain/chain-file.ts';
import { defaultSettings, mergeSettings, parseSettings } from '../../../src/domain/chain/settings.ts';
import { FILTER_KEYS, TRIGGER_EVENTS } from '../../../src/domain/chain/trigger-schema.ts';
import { errorsOf } from '../../support/chains.ts';

const page = readFileSync(new URL('../../../docs/chains.md', import.meta.url), 'utf8');

function examples(kind: string): string[] {
  return [...page.matchAll(/^```yaml (\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, label, text]) =>
    label === kind && text !== undefined ? [text] : [],
  );
}

describe('docs/chains.md', () => {
  test('has examples of both kinds', () => {
    expect(examples('chain').length).toBeGreaterThanOrEqual(4);
    expect(examples('settings')).toHaveLength(1);
  });

  test.each(examples('chain'))('has a chain that parses: %s', (text) => {
    expect(errorsOf(text)).toEqual([]);
  });

  test('shows the default settings', () => {
    const { settings, diagnostics } = parseSettings(examples('settings')[0] ?? '', 'countersign.yml');
    expect(diagnostics).toEqual([]);
    expect(mergeSettings(undefined, settings)).toEqual(defaultSettings);
  });

  test.each([
    ...TRIGGER_EVENTS,
    ...FILTER_KEYS,
    ...Object.keys(chainFileSchema.shape),
    ...Object.keys(chainFileSchema.shape.steps.element.shape),
  ])('mentions `%s`', (word) => {
    expect(page).toContain(`\`${word}\``);
  });
});
