import { MAX_NAME_LENGTH, SKILL_NAME } from '../../domain/skill/manifest.ts';
import { parsePackage } from '../../domain/skill/parse.ts';
import { resolveSkills } from '../../domain/skill/scope.ts';
import {
  brokenSkill,
  DATABASE_ONLY_TO_DRAFT,
  NOTHING_TO_DRAFT_FROM,
  notASkillName,
  skillBegun,
  skillDrafted,
} from '../../messages/cli/skill.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import { writePackage } from './skill-files.ts';
import { emptyDraft, scaffold } from './skill-scaffold.ts';
import type { ProgramLanguage, ScaffoldOutcome } from './skill-scaffold-program.ts';

export interface SkillNewOptions extends DatabaseOption {
  description?: string;
  outcome: ScaffoldOutcome;
  /** Lets the model draft the skill from the description. */
  draft?: true;
  /** Starts with a program in this language instead of a prompt. */
  program?: ProgramLanguage;
}

/** For all calls to the model, including the waits between retries, in milliseconds. */
const DRAFT_MS = 900_000;

export async function skillNew(
  { cwd, tools }: Context,
  name: string,
  { description, outcome, draft, program, database }: SkillNewOptions,
): Promise<Output> {
  if (!SKILL_NAME.test(name) || name.length > MAX_NAME_LENGTH) throw new UsageError(notASkillName(name));
  if (database !== undefined && !draft) throw new UsageError(DATABASE_ONLY_TO_DRAFT);
  const { builtIn } = await tools.skills();
  if (draft && description === undefined) throw new UsageError(NOTHING_TO_DRAFT_FROM);
  const drafted =
    draft && description !== undefined
      ? await tools.withDatabase(database, 'write', async (storage) => {
          const model = await tools.model(storage);
          const { draftUntilItPasses } = await import('./skill-draft.ts');
          return draftUntilItPasses(
            { name, sentence: description, outcome },
            model,
            AbortSignal.timeout(DRAFT_MS),
          );
        })
      : undefined;
  const parsed = drafted
    ? { folder: name, name, skill: drafted.skill, diagnostics: [] }
    : parsePackage(scaffold({ name, outcome, draft: emptyDraft(name, description, outcome), program }), name);
  const [broken] = resolveSkills({ workspace: [parsed], organisation: [], shipped: [] }, builtIn).broken;
  if (!parsed.skill || broken)
    throw new UsageError(brokenSkill(name, broken?.diagnostics ?? parsed.diagnostics));
  const written = writePackage(cwd, parsed.skill);
  if (!drafted) return { text: skillBegun(name, written.files), json: { name, ...written } };
  const { rounds, faults } = drafted;
  return {
    text: `${skillBegun(name, written.files)}\n${skillDrafted(rounds, faults)}`,
    json: { name, ...written, rounds, faults },
    failed: faults.length > 0,
  };
}
