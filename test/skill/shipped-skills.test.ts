import { expect, test } from 'vitest';
import { createTools } from '../../src/cli/compose.ts';
import { shippedSkills } from '../../src/shipped.ts';
import { readCaseFile } from '../../src/skill/package/case-file.ts';
import { runCase } from '../../src/skill/testing/run-case.ts';

const tools = createTools({});
const packages = shippedSkills().flatMap(({ skill }) => skill ?? []);
const cases = packages.flatMap((skill) =>
  skill.tests
    .flatMap(({ path, text }) => readCaseFile(text, path).cases)
    .map((one) => ({ title: `${skill.name}: ${one.name}`, skill, one })),
);

test('every package that ships has a case that stops and one that is approved, but for what is built in', async () => {
  const { builtIn } = await tools.skills();
  const own = packages.filter(({ name }) => !builtIn.includes(name));
  expect(own.map(({ name }) => name)).toEqual([
    'dependency-review',
    'docs-review',
    'migration-review',
    'workflow-review',
  ]);
  for (const { name } of own) {
    const verdicts = cases.filter(({ skill }) => skill.name === name).map(({ one }) => one.expect.verdict);
    expect(verdicts, name).toContain('APPROVE');
    expect(verdicts.length, name).toBeGreaterThan(1);
  }
});

test.concurrent.each(cases)('$title', async ({ skill, one }) => {
  const caseTools = await tools.caseTools(one);
  expect(await runCase(skill, one, caseTools, new AbortController().signal)).toEqual({ kind: 'passed' });
});
