import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { REASON_CODES } from '../../src/domain/explanation/reason.ts';

const page = await readFile(new URL('../../docs/reasons.md', import.meta.url), 'utf8');
const [, ...entries] = page.trim().split(/^### /m);

it('docs/reasons.md has every reason, in the order of the list, and no other', () => {
  expect(entries.map((entry) => /^`([^`]+)`\n/.exec(entry)?.[1])).toEqual(REASON_CODES);
});

it.each(entries.map((entry) => entry.split('\n\n')))(
  'docs/reasons.md says what %s means and what to do',
  (...entry) => {
    const [, meaning, remedy] = entry;
    expect(meaning).toMatch(/^[A-Z][\s\S]+\.$/);
    expect(remedy).toMatch(/^\*\*What to do:\*\* [\s\S]+\.$/);
  },
);
