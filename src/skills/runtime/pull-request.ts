import type { Json } from '../../core/canonical.ts';
import { parsePatch } from '../../core/hunks.ts';
import { conditionContext } from '../../domain/run/context.ts';
import { pullRequestOf, type StepContext } from '../../engine/steps/step.ts';
import { NOT_SHOWN } from '../../messages/skills/prompt.ts';
import type { PullRequestFile } from '../../ports/github.ts';
import type { Shown } from './answer.ts';

/** What this app itself knows about a run. Everything else is untrusted or can quote untrusted text. */
export async function knownOf(step: StepContext) {
  const { repository, pullRequest, headSha, baseRef } = step.state.run;
  return {
    repository,
    pull_request: pullRequest,
    head_sha: headSha,
    base_branch: baseRef,
    round: await step.round(),
  };
}

/** The pull request's own text, as it is now. */
export async function pullRequestFields(step: StepContext): Promise<{ [key: string]: Json }> {
  const { title, body, author, headRef, labels } = await step.reader.pullRequest(
    step.repo,
    pullRequestOf(step),
  );
  return { title, body: body ?? '', author: author.login, branch: headRef, labels: [...labels] };
}

/** What earlier steps found, from the run's working memory. */
export function remembered({ state, step }: StepContext): Json {
  return conditionContext(state, step.id).state as Json;
}

/** @param rule the rule of findings, as `skill/artifact` */
export function shownOf(files: readonly PullRequestFile[], rule: string): Shown {
  const added = files.map(({ path, patch = '' }) => [path, new Set(parsePatch(patch).added.keys())] as const);
  const hidden = files.filter(({ status, patch }) => patch === undefined && status !== 'removed');
  return {
    added: new Map(added),
    leftOut: hidden.map(({ path }) => ({ path, reason: NOT_SHOWN })),
    rule,
  };
}
