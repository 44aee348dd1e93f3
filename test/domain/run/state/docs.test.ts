import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cognitiveStateSchema } from '../../../../src/domain/expression/state-schema.ts';
import { ENTRY_SCHEMAS, SLOTS } from '../../../../src/domain/expression/state-slot.ts';
import {
  MAX_ENTRY_TEXT,
  MAX_SLOT_ENTRIES,
  MAX_STATE_BYTES,
  shareOf,
} from '../../../../src/domain/run/state/limits.ts';
import { SHIPPED_SKILLS } from '../../../../src/skills/builtin/shipped.ts';
import { errorsOf } from '../../../support/chains.ts';

const page = readFileSync(new URL('../../../../docs/state.md', import.meta.url), 'utf8');
const [example = ''] = [...page.matchAll(/^```yaml chain\n([\s\S]*?)^```$/gm)].map(([, text]) => text ?? '');

test('docs/state.md has a chain that parses', () => {
  expect(example).not.toBe('');
  expect(errorsOf(example)).toEqual([]);
});

test.each(SLOTS)('docs/state.md describes the slot %s with all fields of its entries', (slot) => {
  const members = Object.keys(ENTRY_SCHEMAS[slot].shape).filter((member) => member !== 'text');
  expect(page).toContain(`| \`${slot}\` | ${members.map((member) => `\`${member}\``).join(', ')}`.trimEnd());
});

test.each(Object.keys(cognitiveStateSchema.shape))('docs/state.md describes state.%s', (part) => {
  expect(page).toContain(`| \`state.${part}\` |`);
});

test('docs/state.md says which slots each shipped skill fills', () => {
  for (const { name, cognitiveHints } of SHIPPED_SKILLS) {
    const [row = ''] = page.split('\n').filter((line) => line.startsWith(`| \`${name}\` |`));
    const told = SLOTS.filter((slot) => row.includes(`\`${slot}\``));
    expect(told).toEqual(SLOTS.filter((slot) => cognitiveHints?.produces.includes(slot)));
  }
});

test('docs/state.md gives the limits that the code has', () => {
  const { entries } = shareOf(1);
  expect(page).toContain(`at most ${MAX_STATE_BYTES.toLocaleString('en-GB')} bytes`);
  expect(page).toContain(`holds at most ${MAX_SLOT_ENTRIES} of them`);
  expect(page).toContain(`at most ${entries} entries`);
  expect(page).toContain(`at most ${MAX_ENTRY_TEXT} characters`);
});
