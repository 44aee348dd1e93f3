import { stringify } from 'yaml';
import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { formatDiagnostic } from '../../core/diagnostic.ts';
import { CountersignError } from '../../core/errors.ts';
import { safePathSchema } from '../../domain/outcome/finding.ts';
import { readCaseFile } from '../../domain/skill/case-file.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import { parsePackage } from '../../domain/skill/parse.ts';
import { notDrafted } from '../../messages/cli/skill.ts';
import { testedText } from '../../messages/cli/skill-test.ts';
import { describeFailure } from '../../messages/skills/model.ts';
import type { Model } from '../../ports/model.ts';
import { scaffold } from './skill-scaffold.ts';
import type { ScaffoldOutcome } from './skill-scaffold-program.ts';

/** Braces would be tags of the template. The scaffold adds the variables; the draft must not. */
const prose = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^{}]*$/, 'without braces');

const draftedCase = z.strictObject({
  name: prose(100).describe('What the case shows, as a sentence.'),
  title: prose(200).describe('The title of the pull request.'),
  path: safePathSchema.describe('The file that it changes.'),
  before: z.string().max(2_000).nullable().describe('The text before; null: the file is new.'),
  after: z.string().min(1).max(2_000).describe('The text after.'),
  passes: z.boolean().describe('Whether the skill must pass this change.'),
});

const draftSchema = z.strictObject({
  description: prose(500).describe('What it does and when to use it, in one sentence.'),
  tags: z
    .array(z.string().regex(/^[a-z0-9][a-z0-9-]{0,29}$/))
    .max(6)
    .describe('Single words it is found by.'),
  trigger_phrases: z.array(prose(60)).max(6).describe('What somebody would say who wants it.'),
  body: prose(2_000).describe('For people: what it looks at, and how it decides.'),
  prompt: prose(4_000).describe('For the model that will judge: what to look for, and when it passes.'),
  cases: z
    .array(draftedCase)
    .min(2)
    .max(4)
    .describe('Small changes that the skill is tried on: at least one that passes and one that does not.'),
});
type Drafted = z.infer<typeof draftSchema>;

const LIMITS = { maxOutputTokens: 6_000, timeoutMs: 120_000 };
const NO_RUN = { runId: null, sessionId: null, repositoryId: null, pullRequest: null };
/** How often the model may write the draft. */
const MAX_ROUNDS = 3;

interface Wanted {
  name: string;
  sentence: string;
  outcome: ScaffoldOutcome;
}

export interface DraftedSkill {
  skill: SkillPackage;
  rounds: number;
  /** What is still wrong with its cases after the last round. */
  faults: string[];
}

/**
 * A skill that the model writes from one sentence, as a start for its author. It is checked, and its cases
 * ask the model with its prompt. What is wrong goes back to the model, a few times. The model's answers
 * become the recorded answers of the cases. Nothing runs the skill until it is on the base branch.
 * @throws CountersignError if the model returned no valid draft
 */
export async function draftUntilItPasses(
  wanted: Wanted,
  model: Model,
  signal: AbortSignal,
): Promise<DraftedSkill> {
  let last: { drafted: Drafted; faults: string[]; skill: SkillPackage | undefined } | undefined;
  for (let rounds = 1; rounds <= MAX_ROUNDS; rounds += 1) {
    const drafted = await draftOf(wanted, last, model, signal);
    const tried = await tryOut(wanted, drafted, model, signal);
    if (tried.skill && tried.faults.length === 0) return { skill: tried.skill, rounds, faults: [] };
    last = { drafted, ...tried };
  }
  if (last?.skill) return { skill: last.skill, rounds: MAX_ROUNDS, faults: last.faults };
  throw new CountersignError('cli.not_drafted', notDrafted((last?.faults ?? []).join('; ')));
}

async function draftOf(
  { name, sentence, outcome }: Wanted,
  last: { drafted: Drafted; faults: readonly string[] } | undefined,
  model: Model,
  signal: AbortSignal,
): Promise<Drafted> {
  const prompt = [
    `Draft a skill named "${name}" for a code review bot. It looks at the title and the diff of a pull request, and its outcome is a ${outcome}.`,
    `Its author says: ${sentence}`,
    'Be concrete about what to look for and what to leave alone. The title and the diff are added after your prompt, and so is the shape of the answer.',
    ...(last === undefined
      ? []
      : [
          `Your last draft was:\n${JSON.stringify(last.drafted)}`,
          `It was tried, and this is wrong with it:\n${last.faults.map((fault) => `- ${fault}`).join('\n')}`,
          'Write the whole draft again, corrected. Change a case only if what it expects is wrong.',
        ]),
  ].join('\n\n');
  const purpose = { ...NO_RUN, skill: name, artifact: null };
  const answer = await model.ask({ prompt, schema: draftSchema, limits: LIMITS, purpose, signal });
  if (answer.kind === 'answered') return answer.value;
  throw new CountersignError('cli.not_drafted', notDrafted(describeFailure(answer.failure)));
}

/** Checks the draft as `skill lint` does, and runs its cases with the model in place of recorded answers. */
async function tryOut(
  { name, outcome }: Wanted,
  drafted: Drafted,
  model: Model,
  signal: AbortSignal,
): Promise<{ skill: SkillPackage | undefined; faults: string[] }> {
  const packageWith = (answers: readonly Json[]) =>
    parsePackage(scaffold({ name, outcome, draft: drafted, cases: casesOf(drafted, answers) }), name);
  const { skill, diagnostics } = packageWith([]);
  const [{ syntaxDiagnostics }, { runCase }, { promptSkill }, { outsideOfRuns }] = await Promise.all([
    import('../../skills/lint/syntax.ts'),
    import('../../skills/testing/run-case.ts'),
    import('../../skills/kinds/prompt/prompt-skill.ts'),
    import('../../skills/adhoc/run-once.ts'),
  ]);
  const errors = skill ? await syntaxDiagnostics(skill, name) : diagnostics;
  if (!skill || errors.length > 0) return { skill: undefined, faults: errors.map(formatDiagnostic) };

  const asked = outsideOfRuns(model);
  const answers: Json[] = [];
  const faults: string[] = [];
  for (const [index, one] of readCaseFile(casesOf(drafted, []), 'cases').cases.entries()) {
    const listening: Model = {
      name: asked.name,
      async ask(question) {
        const answer = await asked.ask(question);
        if (answer.kind === 'answered') answers[index] = answer.value as Json;
        return answer;
      },
    };
    const tools = {
      handlers: [promptSkill({ model: listening })],
      builtIn: [],
      answersLeft: () => 0,
      stop: async () => {},
    };
    const result = await runCase(skill, one, tools, signal);
    if (result.kind === 'passed') continue;
    faults.push(testedText([{ skill: name, case: one.name, ...result }], name).split('\n\n')[0] ?? '');
  }
  return { skill: packageWith(answers).skill, faults };
}

function casesOf({ cases }: Drafted, answers: readonly Json[]): string {
  return stringify({
    cases: cases.map(({ name, title, path, before, after, passes }, index) => ({
      name,
      title,
      files: { [path]: before === null ? after : { before, after } },
      ...(answers[index] === undefined ? {} : { answers: [answers[index]] }),
      expect: { passed: passes },
    })),
  });
}
