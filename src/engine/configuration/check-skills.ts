import type { Diagnostic } from '../../core/diagnostic.ts';
import { textOfFile } from '../../core/text.ts';
import { MAX_CONFIGURATION_BYTES, SKILLS_FOLDER } from '../../domain/chain/configuration-files.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { outcomeDataOf, outcomesOf, withoutOutcome } from '../../domain/skill/package.ts';
import { unknownUses } from '../../domain/skill/parse.ts';
import { resolveSkills } from '../../domain/skill/scope.ts';
import type { GitHubReader, PullRequestFile, Repo } from '../../ports/github.ts';
import { readSkills } from './skill-files.ts';

/** Per pull request. Each file of a skill costs a request. */
const MAX_SKILLS = 10;

export interface ChangedSkills {
  folders: string[];
  /** The names that chains can use after the change. */
  names: Required<KnownNames>;
  diagnostics: Diagnostic[];
}

/**
 * The skill packages that a pull request changes, as they would be after its merge. A package is validated as
 * a whole, because its SKILL.md may contradict an unchanged file. The head's files are parsed only for this
 * report (I4).
 */
export async function changedSkills(
  reader: GitHubReader,
  repo: Repo,
  headSha: string,
  files: readonly PullRequestFile[],
  names: Required<KnownNames>,
): Promise<ChangedSkills> {
  const touched = new Set(
    files.flatMap(({ path, previousPath = path }) => [path, previousPath]).flatMap(skillOf),
  );
  if (touched.size === 0) return { folders: [], names, diagnostics: [] };
  const there = (await reader.folder(repo, SKILLS_FOLDER, headSha)) ?? [];
  const folders = there.filter(({ path, type }) => type === 'dir' && touched.has(path));
  const checked = folders.slice(0, MAX_SKILLS);
  const entries = await Promise.all(
    checked.map(async ({ path, sha }) =>
      ((await reader.tree(repo, sha)) ?? []).map((entry) => ({ ...entry, path: `${path}/${entry.path}` })),
    ),
  );
  const packages = await readSkills(entries.flat(), SKILLS_FOLDER, '', async ({ sha }) => {
    const bytes = await reader.blob(repo, sha, MAX_CONFIGURATION_BYTES);
    return bytes && textOfFile(bytes);
  });
  const changed = resolveSkills({ workspace: packages }, names.builtIn);
  const after = namesAfter(names, changed);
  const runnable = after.skills.filter(
    (name) => !after.builtIn.includes(name) && !after.withoutOutcome.includes(name),
  );
  return {
    folders: folders.map(({ path }) => path),
    names: after,
    diagnostics: [
      ...changed.skills.flatMap(({ skill, folder }) => unknownUses(skill, folder, runnable)),
      ...changed.broken.flatMap(({ diagnostics }) => diagnostics),
      ...folders.slice(MAX_SKILLS).map(notChecked),
    ],
  };
}

function namesAfter(
  names: Required<KnownNames>,
  { skills, broken }: ReturnType<typeof resolveSkills>,
): Required<KnownNames> {
  const sound = skills.map(({ skill }) => skill);
  const isChanged = (name: string) => sound.some((skill) => skill.name === name);
  const others = (list: readonly string[]) => list.filter((name) => !isChanged(name));
  return {
    ...names,
    skills: [...new Set([...names.skills, ...sound.map(({ name }) => name)])],
    outcomes: { ...names.outcomes, ...outcomesOf(sound) },
    outcomeData: {
      ...Object.fromEntries(Object.entries(names.outcomeData).filter(([name]) => !isChanged(name))),
      ...outcomeDataOf(sound),
    },
    withoutOutcome: [...others(names.withoutOutcome), ...withoutOutcome(sound, names.builtIn)],
    broken: [...others(names.broken), ...broken.map(({ name }) => name)],
  };
}

/** The folder of the package that a path belongs to. */
function skillOf(path: string): string[] {
  if (!path.startsWith(`${SKILLS_FOLDER}/`)) return [];
  const [name = '', ...rest] = path.slice(SKILLS_FOLDER.length + 1).split('/');
  return rest.length === 0 ? [] : [`${SKILLS_FOLDER}/${name}`];
}

function notChecked({ path }: { path: string }): Diagnostic {
  const message = `not checked: only the first ${MAX_SKILLS} skills of a pull request are read`;
  return { file: `${path}/SKILL.md`, line: 1, column: 1, message };
}
