import { pathOf } from '../../../domain/skill/place.ts';
import { filesOfHead } from '../../../engine/steps/head-files.ts';
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
      const output = await handler.execute(artifact, {
        ...(await promptValues(step, files, previous)),
        schema: answerSchema(outcome, skill.outcomeSchema),
        purpose: purposeOf(step, { skill: skill.name, artifact: pathOf(artifact) }),
        signal: step.signal,
      });
      if (output.kind === 'failed') return output;
      const shown = shownOf(files, `${skill.name}/${artifact.name}`);
      return { ...output, value: asOutcomeValue(output.value, outcome, shown) };
    },
  };
}

function failed(because: string) {
  return { kind: 'failed', because, retryable: false, log: '' } as const;
}
