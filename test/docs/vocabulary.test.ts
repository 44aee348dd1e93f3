import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/core/package-root.ts';
import { CATEGORIES } from '../../src/domain/outcome/finding.ts';

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
