import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/core/package-root.ts';
import { outcomeBase } from '../../src/domain/outcome/base.ts';
import { CATEGORIES } from '../../src/domain/outcome/finding.ts';
import { knownOutcomeSchema } from '../../src/domain/outcome/outcome.ts';
import { SKILL_OUTCOMES } from '../../src/domain/skill/manifest.ts';

/** The rows of the table under a heading of a page, without its head. */
function tableUnder(page: string, heading: string): string[][] {
  const text = readFileSync(`${PACKAGE_ROOT}docs/${page}`, 'utf8');
  const [, section = ''] = text.split(`\n${heading}\n`);
  const rows = section.split(/^#/m)[0]?.split('\n') ?? [];
  return rows
    .filter((row) => row.startsWith('|'))
    .slice(2)
    .map((row) =>
      row
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test('docs/review.md lists the known categories of findings', () => {
  expect(tableUnder('review.md', '## Categories')).toEqual(
    Object.entries(CATEGORIES).map(([category, about]) => [`\`${category}\``, about]),
  );
});

const kinds = knownOutcomeSchema.options.map(({ shape }) => ({
  kind: shape.outcome_kind.value,
  fields: Object.keys(shape).filter(
    (field) => field !== 'outcome_kind' && field !== 'content_hash' && !Object.hasOwn(outcomeBase, field),
  ),
}));

test.each(kinds)('docs/chains.md names every field of a $kind', ({ kind, fields }) => {
  const row = tableUnder('chains.md', '### Fields of an outcome').find(([name]) => name === `\`${kind}\``);
  const named = [...(row?.[2] ?? '').matchAll(/`(\w+)`/g)].map(([, field]) => field);
  expect(named).toEqual(expect.arrayContaining(fields));
});

test.each(SKILL_OUTCOMES)('docs/skills.md names the outcome %s', (kind) => {
  const [, section = ''] = readFileSync(`${PACKAGE_ROOT}docs/skills.md`, 'utf8').split('\n## Outcomes\n');
  expect(section.split(/^## /m)[0]).toContain(`\`${kind}\``);
});
