import { skillTable } from '../../messages/cli/skill.ts';
import type { Context, Output } from './context.ts';
import { localSkills } from './skill-files.ts';

export async function skillList({ cwd, tools }: Context): Promise<Output> {
  const { skills, broken } = localSkills(cwd, await tools.skills());
  const sound = skills.map(({ skill, scope, folder }) => ({
    name: skill.name,
    scope,
    folder,
    ok: true,
    version: skill.version,
    description: skill.description,
    outcome: skill.outcome,
    kinds: [...new Set(skill.artifacts.map(({ kind }) => kind))],
    diagnostics: [],
  }));
  const faulty = broken.map(({ name, scope, folder, diagnostics }) => ({
    name,
    scope,
    folder,
    ok: false,
    version: null,
    description: null,
    outcome: null,
    kinds: [],
    diagnostics,
  }));
  const all = [...sound, ...faulty].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return {
    text: skillTable(all),
    json: all.map(({ diagnostics, ...one }) => ({ ...one, faults: diagnostics })),
  };
}
