import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { foldContracts } from '../../../src/domain/artifact/contract.ts';
import { contractSummary } from '../../../src/messages/run/artifacts.ts';
import { SHIPPED_SKILLS } from '../../../src/skills/builtin/shipped.ts';
import { chainOf, errorsOf, withSteps } from '../../support/chains.ts';

const page = readFileSync(new URL('../../../docs/contracts.md', import.meta.url), 'utf8');
const [example = ''] = [...page.matchAll(/^```yaml chain\n([\s\S]*?)^```$/gm)].map(([, text]) => text ?? '');

test('docs/contracts.md shows a chain that parses, and quotes lint’s summary of it', () => {
  expect(errorsOf(example)).toEqual([]);
  const skillOf = (name: string) => SHIPPED_SKILLS.find((skill) => skill.name === name);
  const folded = foldContracts(chainOf(example), ({ uses }) => skillOf(uses.name)?.artifactDefaults ?? []);
  const summary = contractSummary(folded.steps.flatMap(({ artifacts }) => artifacts ?? []));
  expect(page).toContain(`review.yaml: artifacts: ${summary}\n`);
});

test.each(SHIPPED_SKILLS.flatMap(({ artifactDefaults = [] }) => artifactDefaults))(
  'docs/contracts.md names the file that a shipped skill leaves behind: $id',
  ({ id }) => {
    expect(page).toContain(`\`${id}\``);
  },
);

test.each([
  ['{ id: "a b", path: a }', '5:48: an artifact id has 1 to 50 letters, digits, "-" and "_"'],
  ['{ id: a, path: ../a }', '5:57: this cannot be a path: it has an empty, "." or ".." part'],
  ['{ id: a, path: "a*" }', '5:57: this cannot be a path: it has one of * ? [ ], which only a glob may'],
  ['{ id: a, path: a }, { id: a, path: b }', '5:68: the artifact id "a" is already used by entry 1'],
  ['{ id: a }', '5:42: an entry needs a path, a glob, or kind: outcome'],
  ['{ id: a, glob: "*" }', '5:51: a glob needs a count: how many files there must be'],
  ['{ id: a, glob: "*", count: { min: 2, max: 1 } }', '5:62: the least count is above the most'],
  ['{ id: a, path: a, glob: "*", count: 1 }', '5:60: an entry has either a path or a glob, not both'],
  ['{ id: a, kind: outcome }', '5:42: an entry of kind "outcome" says which, such as outcome: ci_result'],
  ['{ id: a, kind: outcome, outcome: ci_result, path: a }', '5:86: "path" says nothing about an outcome'],
  ['{ id: a, path: a, schema: { type: string, pattern: "(a+)+$" } }', '5:93: "pattern" is not known here'],
])('an error in a contract is reported at its place: %s', (entry, said) => {
  const diagnostics = errorsOf(withSteps(`  - { skill: ci, artifacts: { expected: [${entry}] } }\n`));
  expect(diagnostics).toEqual([expect.stringContaining(said)]);
});

test('a chain cannot ask an action for files, because the check would come after the action', () => {
  const merge = 'action: gh-merge, requires_approval: true';
  const asking = (entry: string) =>
    errorsOf(withSteps(`  - { ${merge}, artifacts: { expected: [${entry}] } }\n`));
  expect(asking('{ id: a, path: a }')).toEqual([expect.stringContaining('an action leaves no files behind')]);
  expect(asking('{ id: a, kind: outcome, outcome: ci_result }')).toEqual([
    expect.stringContaining('the outcome of an action is action_result'),
  ]);
  expect(asking('{ id: a, kind: outcome, outcome: action_result }')).toEqual([]);
});
