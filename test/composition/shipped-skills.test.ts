// @module-tag slow
import { expect, test } from 'vitest';
import { createTools } from '../../src/cli-tools.ts';
import { shippedSkills } from '../../src/composition/shipped.ts';
import { readCaseFile } from '../../src/domain/skill/case-file.ts';
import { filesOf } from '../../src/domain/skill/package.ts';
import { parsePackage } from '../../src/domain/skill/parse.ts';
import { runCase } from '../../src/skills/testing/run-case.ts';

const tools = createTools({});
const packages = shippedSkills().flatMap(({ skill }) => skill ?? []);
const cases = packages.flatMap((skill) =>
  skill.tests
    .flatMap(({ path, text }) => readCaseFile(text, path).cases)
    .map((one) => ({ title: `${skill.name}: ${one.name}`, skill, one })),
);

test('every shipped package has a case that passes and one that does not', () => {
  expect(packages.map(({ name }) => name)).toEqual([
    'ci',
    'codex-pr-review',
    'coverage-gate',
    'dependency-review',
    'docs-review',
    'impact-report',
    'migration-review',
    'pr-review',
    'release-notes',
    'stale-pull-requests',
    'version-updates',
    'workflow-review',
  ]);
  // A case cannot have check runs, nor a list of pull requests: test/skills/builtin has the rows of these two.
  for (const { name } of packages.filter((one) => one.name !== 'ci' && one.name !== 'stale-pull-requests')) {
    const expected = cases.filter(({ skill }) => skill.name === name).map(({ one }) => one.expect);
    const passes = expected.filter(({ passed, verdict }) => passed === true || verdict === 'APPROVE');
    expect(passes.length, name).toBeGreaterThan(0);
    expect(expected.length, name).toBeGreaterThan(passes.length);
  }
});

test('the files of every shipped package are valid, because the app does not check them', () => {
  for (const skill of packages) {
    const parsed = parsePackage(filesOf(skill), `skills/${skill.name}`);
    expect(parsed.diagnostics).toEqual([]);
    expect(parsed.skill).toEqual(skill);
  }
});

// The quick suite runs the first case of each package.
const [first, others] = [true, false].map((isFirst) =>
  cases.filter(({ skill, one }) => (cases.find((other) => other.skill === skill)?.one === one) === isFirst),
);
test.concurrent.each(first ?? [])('$title', passes);
test.concurrent.each(others ?? [])('$title', passes);

async function passes({ skill, one }: (typeof cases)[number]): Promise<void> {
  const caseTools = await tools.caseTools(one);
  const { signal } = new AbortController();
  expect(await runCase(skill, one, caseTools, signal).finally(caseTools.stop)).toEqual({ kind: 'passed' });
}
