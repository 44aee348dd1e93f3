import type { Json } from '../../core/canonical.ts';
import type { StepContext } from '../../engine/steps/step.ts';
import type { PullRequestFile } from '../../ports/github.ts';
import { knownOf, remembered, said } from './pull-request.ts';

/** By what authority a value stands in a prompt. Of two values of one name, that of a stranger is used. */
export interface PromptValues {
  /** What the app knows, and what comes from the base branch. */
  trusted: { [name: string]: Json };
  /** What a pull request says; its texts reach the model in fences. */
  untrusted: { [name: string]: Json };
}

/**
 * What every prompt of a package can name, whoever is asked with it; docs/skills.md lists it.
 * @throws GitHubError when GitHub could not be read.
 */
export async function promptValues(
  step: StepContext,
  files: readonly PullRequestFile[],
): Promise<PromptValues> {
  return {
    trusted: await knownOf(step),
    untrusted: {
      pr: await said(step),
      files: files.map(({ path, status, patch = '' }) => ({ path, status, patch })),
      diff: files.map(asDiff).join('\n'),
      state: remembered(step),
      inputs: step.inputs,
    },
  };
}

function asDiff({ path, status, patch }: PullRequestFile): string {
  return `--- ${path} (${status})\n${patch ?? '(not shown)'}\n`;
}
