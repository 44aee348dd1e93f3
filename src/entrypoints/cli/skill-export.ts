import { packageToJson } from '../../domain/skill/json.ts';
import { filesOf } from '../../domain/skill/package.ts';
import { skillExported } from '../../messages/cli/skill.ts';
import type { Context, Output } from './context.ts';
import { writeNew } from './files.ts';
import { localSkills, skillNamed } from './skill-files.ts';

/** Writes to a file because standard output is redacted, which could change the package. */
export async function skillExport({ cwd, tools }: Context, name: string, file: string): Promise<Output> {
  const { skill } = skillNamed(name, localSkills(cwd, await tools.skills()));
  writeNew(cwd, file, packageToJson(skill));
  const files = filesOf(skill).length;
  return {
    text: skillExported(name, file, files),
    json: { name, id: skill.id, file, files },
  };
}
