import { expect, test } from 'vitest';
import type { ParsedPackage } from '../../../src/domain/skill/package.ts';
import { parsePackage } from '../../../src/domain/skill/parse.ts';
import { resolveSkills, SKILL_SCOPES, type SkillScope } from '../../../src/domain/skill/scope.ts';
import type { SkillSource } from '../../../src/ports/storage.ts';
import { toStored } from '../../../src/skills/catalogue/keep.ts';
import { files, packageOf, skillMd } from '../../support/packages.ts';

const sound = (name: string, scope: SkillScope) =>
  parsePackage(files({}, skillMd('', name)), `${scope}/${name}`);
const broken = (name: string, scope: SkillScope) => parsePackage(files({}, 'nothing'), `${scope}/${name}`);

function resolved(packages: Partial<Record<SkillScope, ParsedPackage[]>>) {
  const { skills, broken } = resolveSkills({ workspace: [], organisation: [], shipped: [], ...packages }, [
    'pr-review',
  ]);
  return {
    skills: skills.map(({ folder }) => folder),
    broken: broken.map(({ folder, diagnostics }) => [folder, diagnostics.at(-1)?.message.slice(0, 24)]),
  };
}

test('of two skills with one name the nearer is in force', () => {
  const all = Object.fromEntries(SKILL_SCOPES.map((scope) => [scope, [sound('naming', scope)]]));
  expect(resolved(all).skills).toEqual(['workspace/naming']);
  expect(resolved({ ...all, workspace: [] }).skills).toEqual(['organisation/naming']);
  const { shipped = [], community = [] } = all;
  expect(resolved({ shipped, community }).skills).toEqual(['shipped/naming']);
});

test.each<[SkillScope, SkillSource]>([
  ['workspace', 'user'],
  ['organisation', 'user'],
  ['shipped', 'system'],
  ['community', 'community'],
])('a skill of the scope %s is stored with the source %s', (scope, source) => {
  const skill = packageOf(files());
  expect(toStored({ skill, scope }, new Date(0)).source).toBe(source);
});

test('a nearer skill with errors takes its name, and no other name, out of force', () => {
  const found = resolved({
    workspace: [broken('naming', 'workspace')],
    shipped: [sound('naming', 'shipped'), sound('spelling', 'shipped')],
  });
  expect(found).toEqual({
    skills: ['shipped/spelling'],
    broken: [['workspace/naming', 'the frontmatter is missi']],
  });
});

test('only shipped skills can have the name of a built-in skill', () => {
  const found = resolved({
    workspace: [sound('pr-review', 'workspace')],
    organisation: [sound('pr-review', 'organisation')],
    shipped: [sound('pr-review', 'shipped')],
  });
  expect(found).toEqual({
    skills: ['shipped/pr-review'],
    broken: [
      ['organisation/pr-review', '"pr-review" is built in,'],
      ['workspace/pr-review', '"pr-review" is built in,'],
    ],
  });
});

test('no skill can be called auto', () => {
  expect(resolved({ workspace: [sound('auto', 'workspace')] }).broken).toEqual([
    ['workspace/auto', '"auto" stands for whiche'],
  ]);
});
