import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';
import { isMapping } from '../../../core/mapping.ts';
import { LeftFiles } from '../../../domain/artifact/left-files.ts';
import { pathOf } from '../../../domain/skill/place.ts';
import { type Produces, producesOf } from '../../../domain/skill/produces.ts';
import { filesOfHead } from '../../../engine/steps/head-files.ts';
import { fileRefused } from '../../../messages/skills/left-files.ts';
import { NOT_OF_A_PULL_REQUEST, TOO_MANY_FILES } from '../../../messages/skills/prompt.ts';
import { answerSchema, asOutcomeValue } from '../../runtime/answer.ts';
import type { ArtifactHandler } from '../../runtime/handler.ts';
import { shownOf } from '../../runtime/pull-request.ts';
import { purposeOf } from '../../runtime/purpose.ts';
import type { SkillContext } from '../../runtime/skill-context.ts';
import { promptValues } from '../../runtime/values.ts';
import { type PromptDeps, promptHandler } from './handler.ts';

/**
 * Asks the model with a package's prompt, on the run's pull request. docs/skills.md lists the variables of
 * prompts.
 */
export function promptSkill(deps: PromptDeps): ArtifactHandler<SkillContext> {
  const handler = promptHandler(deps);
  return {
    kind: handler.kind,

    async execute(artifact, { step, skill, outcome, previous }) {
      const { run } = step.state;
      if (run.pullRequest === null) return failed(NOT_OF_A_PULL_REQUEST);
      const { files, truncated } = await filesOfHead(step);
      if (truncated) return failed(TOO_MANY_FILES);
      const produces = producesOf(artifact, skill);
      const output = await handler.execute(artifact, {
        ...(await promptValues(step, files, previous)),
        schema: withFile(answerSchema(outcome, skill.outcomeSchema), produces),
        purpose: purposeOf(step, { skill: skill.name, artifact: pathOf(artifact) }),
        signal: step.signal,
      });
      if (output.kind === 'failed') return output;
      const shown = shownOf(files, `${skill.name}/${artifact.name}`);
      const { answer, text } = fileIn(output.value, produces);
      const left = new LeftFiles();
      const refused = produces && left.add(produces.path, Buffer.from(text));
      if (produces && refused !== undefined)
        return { ...failed(fileRefused(produces.path, refused)), log: output.log };
      return { ...output, value: asOutcomeValue(answer, outcome, shown), files: left.all() };
    },
  };
}

/** The name of the file's content in an answer. */
const FILE = 'file';
const MAX_FILE_CHARACTERS = 100_000;

/** The answer of a prompt that leaves a file also has its content. */
function withFile(schema: z.ZodType<Json>, produces: Produces | undefined): z.ZodType<Json> {
  if (!produces) return schema;
  if (!(schema instanceof z.ZodObject)) throw new Error('an answer has members');
  const content = z.string().min(1).max(MAX_FILE_CHARACTERS);
  return schema.extend({
    [FILE]: content.describe(`The whole content of ${produces.path}.`),
  }) as z.ZodType<Json>;
}

function fileIn(value: Json, produces: Produces | undefined): { answer: Json; text: string } {
  if (!produces || !isMapping(value)) return { answer: value, text: '' };
  const { [FILE]: text, ...answer } = value;
  return { answer, text: typeof text === 'string' ? text : '' };
}

function failed(because: string) {
  return { kind: 'failed', because, retryable: false, log: '' } as const;
}
