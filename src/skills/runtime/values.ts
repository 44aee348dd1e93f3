import type { Json } from '../../core/canonical.ts';
import type { StepContext } from '../../engine/steps/step.ts';
import type { PullRequestFile } from '../../ports/github.ts';
import { knownOf, pullRequestFields, remembered } from './pull-request.ts';

/** The values of a prompt by trust. If both have the same name, the untrusted value is used. */
export interface PromptValues {
  /** What the app knows, and values from the base branch. */
  trusted: { [name: string]: Json };
  /** Texts of the pull request. They reach the model in fences. */
  untrusted: { [name: string]: Json };
}

/**
 * The values that every prompt of a package can use; docs/skills.md lists them.
 * @param previous the result of the file before it in the package's sequence
 * @throws GitHubError if GitHub could not be read
 */
export async function promptValues(
  step: StepContext,
  files: readonly PullRequestFile[],
  previous: Json = null,
): Promise<PromptValues> {
  return {
    trusted: await knownOf(step),
    untrusted: {
      pr: await pullRequestFields(step),
      files: files.map(({ path, status, patch = '' }) => ({ path, status, patch })),
      diff: files.map(asDiff).join('\n'),
      state: remembered(step),
      inputs: step.inputs,
      previous,
    },
  };
}

function asDiff({ path, status, patch }: PullRequestFile): string {
  return `--- ${path} (${status})\n${patch ?? '(not shown)'}\n`;
}
