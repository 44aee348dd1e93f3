import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { redactValue } from '../../core/redact/redact.ts';
import { EXAMPLES_OF_ONE_SKILL, examplesExported, tracesExported } from '../../messages/cli/skill.ts';
import { noModule } from '../../messages/skills/module.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import { writeNew } from './files.ts';
import { localSkills, skillNamed } from './skill-files.ts';
import { exampleIn, wholeTrace } from './trace-lines.ts';
import { tracePages } from './trace-pages.ts';

export interface SkillTracesOptions extends DatabaseOption {
  skill?: string;
  /** How far back, in milliseconds. */
  since?: number;
  forOptimize?: boolean;
}

/**
 * Writes inputs and outputs of skills, the run's outcome and people's decision, as one JSON document per
 * line: examples for evaluating or improving a skill. Writes page by page, because prompts can be long and
 * numerous.
 */
export async function skillTraces(
  { cwd, clock, tools }: Context,
  file: string,
  { skill: name, since, forOptimize = false, database }: SkillTracesOptions,
): Promise<Output> {
  const skill = forOptimize ? await moduleSkillOf(name, cwd, tools) : undefined;

  return tools.withDatabase(database, 'read', async ({ read }) => {
    const sources = { read, blobs: await tools.blobs() };
    writeNew(cwd, file, '');
    const filter = {
      ...(name === undefined ? {} : { skill: name }),
      ...(since === undefined ? {} : { since: new Date(clock.now().getTime() - since) }),
    };
    let [seen, written] = [0, 0];
    for await (const page of tracePages(read.skillTraces, filter)) {
      for (const trace of page) {
        seen += 1;
        const exported = skill ? await exampleIn(trace, skill, sources) : await wholeTrace(trace, sources);
        if (exported === undefined) continue;
        appendFileSync(resolve(cwd, file), `${JSON.stringify(redactValue(exported))}\n`);
        written += 1;
      }
    }
    const text = skill ? examplesExported(written, seen, file) : tracesExported(written, file);
    return { text, json: { file, traces: written } };
  });
}

/** The skill in the working folder, for whose module the examples are. */
async function moduleSkillOf(name: string | undefined, cwd: string, tools: Context['tools']) {
  if (name === undefined) throw new UsageError(EXAMPLES_OF_ONE_SKILL);
  const { skill } = skillNamed(name, localSkills(cwd, await tools.skills()));
  if (!skill.artifacts.some(({ kind }) => kind === 'dspy_module'))
    throw new CountersignError('cli.no_module', noModule(name));
  return skill;
}
