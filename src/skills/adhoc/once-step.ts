import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import { silentLog } from '../../core/log.ts';
import { parseChain } from '../../domain/chain/parse.ts';
import { defaultSettings } from '../../domain/chain/settings.ts';
import { newRun } from '../../domain/run/new-run.ts';
import type { StepContext } from '../../engine/steps/step.ts';
import type { GitHubReader, PullRequest, Repo } from '../../ports/github.ts';
import { unstoredStep } from '../runtime/unstored-step.ts';

/** What a skill runs on, outside of any chain run. */
export interface Subject {
  repo: Repo;
  pullRequest: PullRequest;
  reader: GitHubReader;
  installationId: number;
}

/** The only step of a chain with this skill. */
export function onceStep(
  skill: string,
  { repo, pullRequest, reader, installationId }: Subject,
  inputs: Record<string, string>,
  { clock, ids, signal }: { clock: Clock; ids: Ids; signal: AbortSignal },
): StepContext {
  const source = `{ name: once, trigger: { event: manual.fired }, steps: [{ id: once, skill: "${skill}" }] }`;
  const { chain } = parseChain(source, 'once', { skills: [skill], actions: [] });
  const step = chain?.steps[0];
  if (!chain || !step) throw new Error('a chain of one skill has errors');
  const { number, draft, author, headSha, baseRef, baseSha, defaultBranch, repositoryId } = pullRequest;
  const state = newRun(
    {
      chain,
      settings: defaultSettings,
      event: {
        kind: 'manual.fired',
        installation_id: installationId,
        repository: { id: repositoryId, ...repo },
        chain: chain.name,
        pull_request: number,
        actor: author.login,
        inputs,
      },
      deliveryId: null,
      pullRequest: number,
      headSha,
      baseRef,
      baseSha,
      facts: {
        trigger: { pr_number: number, draft, author: author.login },
        repo: { full_name: `${repo.owner}/${repo.name}`, ...repo, default_branch: defaultBranch },
      },
      paused: false,
    },
    ids,
    clock.now(),
  );
  return unstoredStep(
    state,
    { id: ids.next('ses'), startedAt: clock.now() },
    {
      reader,
      step,
      inputs,
      text: (input) => inputs[input],
      repo,
      appId: 0,
      clock,
      log: silentLog,
      signal,
    },
  );
}
