import { packageToJson } from '../../domain/skill/json.ts';
import { filesOf } from '../../domain/skill/package.ts';
import { skillExported } from '../../messages/skill.ts';
import type { Context, Said } from './context.ts';
import { writeNew } from './files.ts';
import { skillNamed, skillsHere } from './skill-files.ts';

/** To a file and not to standard output, where what looks like a secret is hidden: the package would not be the same. */
export async function skillExport({ cwd, tools }: Context, name: string, file: string): Promise<Said> {
  const { skill } = skillNamed(name, skillsHere(cwd, await tools.skills()));
  writeNew(cwd, file, packageToJson(skill));
  const files = filesOf(skill).length;
  return {
    text: skillExported(name, file, files),
    json: { name, id: skill.id, file, files },
  };
}
