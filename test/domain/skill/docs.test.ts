import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shippedSkills } from '../../../src/composition/shipped.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { assertionSchema, assertionsOf } from '../../../src/domain/skill/assertion.ts';
import { packageFromJson } from '../../../src/domain/skill/json.ts';
import { manifestSchema } from '../../../src/domain/skill/manifest.ts';
import { parsePackage } from '../../../src/domain/skill/parse.ts';
import { PLACES } from '../../../src/domain/skill/place.ts';
import { ARTIFACT_KINDS } from '../../../src/domain/skill/skill.ts';
import { emptyDraft, scaffold } from '../../../src/entrypoints/cli/skill-scaffold.ts';
import { matchText } from '../../../src/messages/cli/skill.ts';
import { createMatcher } from '../../../src/skills/catalogue/match.ts';

const page = readFileSync(new URL('../../../docs/skills.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(\w+) (\S+)\n([\s\S]*?)^```$/gm)].map(([, language, label, text]) => ({
  language,
  label: label ?? '',
  text: text ?? '',
}));
const FOLDER = '.github/countersign/skills/naming';
const files = blocks
  .filter(({ label }) => label.startsWith(`${FOLDER}/`))
  .map(({ label, text }) => ({ path: label.slice(FOLDER.length + 1), text }));
const { skill, diagnostics } = parsePackage(files, FOLDER);

test('docs/skills.md shows a package without errors, and a chain that names it', () => {
  expect(files).toHaveLength(3);
  expect(diagnostics).toEqual([]);
  const chain = blocks.find(({ label }) => label === 'chain')?.text ?? '';
  const known = { skills: ['naming'], actions: ['gh-comment'] };
  expect(parseChain(chain, 'names.yaml', known).diagnostics).toEqual([]);
});

test('docs/skills.md shows a chain that leaves its skill open', () => {
  const chain = blocks.find(({ label }) => label === 'auto')?.text ?? '';
  expect(parseChain(chain, 'fitting.yaml', { skills: [], actions: [] }).chain?.name).toBe('fitting');
});

test('docs/skills.md shows assertions of every kind, without errors', () => {
  const shown = blocks.find(({ label }) => label === 'assertions')?.text ?? '';
  const [skillFile, ...others] = files;
  const text = skillFile?.text.replace('outcome:', `${shown}outcome:`) ?? '';
  const parsed = parsePackage([{ path: 'SKILL.md', text }, ...others], FOLDER);
  expect(parsed.diagnostics).toEqual([]);
  const kinds = parsed.skill?.artifacts.flatMap(assertionsOf).map(({ kind }) => kind);
  expect(kinds?.sort()).toEqual(assertionSchema.options.map(({ shape }) => shape.kind.value).sort());
});

test('docs/skills.md shows an exported package as the parser reads it', () => {
  const json = blocks.find(({ label }) => label === 'package')?.text ?? '';
  expect(packageFromJson(json, 'naming.json').diagnostics).toEqual([]);
});

test('docs/skills.md shows the match result for its package', () => {
  // With the shipped skills, as on the command line, because they affect how rare a word is.
  const packages = [...shippedSkills(), { skill }].flatMap((one) => one.skill ?? []);
  const matches = createMatcher(packages).match({ text: 'check the names', paths: ['src/a.ts'] });
  for (const line of matchText(matches).split('\n')) expect(page).toContain(`    ${line}\n`);
});

test('`skill new` writes the files that docs/skills.md names', () => {
  expect(
    scaffold({
      name: 'naming',
      outcome: 'gate_verdict',
      draft: emptyDraft('naming', undefined, 'gate_verdict'),
    }).map(({ path }) => path),
  ).toEqual(files.map(({ path }) => path));
});

test.each([...Object.keys(manifestSchema.shape), ...ARTIFACT_KINDS, ...PLACES])(
  'docs/skills.md mentions `%s`',
  (word) => {
    expect(page).toContain(`\`${word}\``);
  },
);
