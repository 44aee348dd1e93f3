import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/core/package-root.ts';
import { SKILL_OUTCOMES } from '../../src/domain/skill/manifest.ts';

test.each(SKILL_OUTCOMES)('docs/skills.md names the outcome %s', (kind) => {
  const [, section = ''] = readFileSync(`${PACKAGE_ROOT}docs/skills.md`, 'utf8').split('\n## Outcomes\n');
  expect(section.split(/^## /m)[0]).toContain(`\`${kind}\``);
});
