import type { EventOf } from '../../domain/event/event.ts';
import type { Actor } from '../../domain/run/actor.ts';
import { outdatedBecause } from '../../domain/run/plan.ts';
import type { Run } from '../../domain/run/run.ts';
import type { ReadTx } from '../../ports/storage.ts';
import { governing, type PullRequestDeps, pullRequestNow, repositoryFacts } from './on-pull-request.ts';

/**
 * Lets whatever waits for a commit's CI look again. A run that had ended because of CI goes on where it stopped, if the pull
 * request is still what it was about: what closed, merged or retargeted it since had no reason to touch a run that was over.
 */
export async function onCi(deps: PullRequestDeps, event: EventOf<'ci.changed'>, by: Actor): Promise<void> {
  const { storage, engine } = deps;
  const ended = await storage.transaction(async (tx) => {
    const runs = await tx.runs.current({ repositoryId: event.repository.id, headSha: event.head_sha });
    const red: Run[] = [];
    for (const run of runs) {
      if ((await redCi(tx, run)) !== undefined) red.push(run);
      else await engine.signal(tx, run.id, { kind: 'wake', for: ['ci', 'approval', 'until'] }, by);
    }
    return red;
  });
  for (const run of ended) {
    if (!(await isStillMeant(deps, event, run))) continue;
    await storage.transaction(async (tx) => {
      // As it is by now: GitHub was read in between.
      const current = (await tx.runs.load(run.id))?.run;
      const stepIndex = current && (await redCi(tx, current));
      if (stepIndex !== undefined) await engine.signal(tx, run.id, { kind: 'rerun', stepIndex }, by);
    });
  }
}

/** The CI step at which a finished run stopped short of its merge: what CI says now may let it go on. */
async function redCi(tx: ReadTx, run: Run): Promise<number | undefined> {
  const code = run.reason?.code;
  if (code !== 'run.completed.not_merged' && code !== 'run.failed.step') return undefined;
  const newest = await tx.runs.list({
    repositoryId: run.repositoryId,
    ...(run.pullRequest === null ? {} : { pullRequest: run.pullRequest }),
    chain: run.chain,
    limit: 1,
  });
  if (newest[0]?.id !== run.id) return undefined;
  const state = await tx.runs.load(run.id);
  // A person's no outlasts what CI says later.
  if (!state || state.invocations.some((step) => step.reason?.code === 'step.failed.rejected'))
    return undefined;
  return state.invocations.find((step) => {
    const gaveUp = step.reason?.code === 'step.failed.ci_wait';
    // A run that failed at another step is nothing that CI could bring back.
    if (code === 'run.failed.step')
      return gaveUp && state.run.definition.steps[step.stepIndex]?.onFailure !== 'continue';
    return gaveUp || (step.outcome?.outcome_kind === 'ci_result' && step.outcome.passed !== true);
  })?.stepIndex;
}

/** Whether the run may go on, by what GitHub says the pull request is now and by the chains of its base branch. */
async function isStillMeant(deps: PullRequestDeps, event: EventOf<'ci.changed'>, run: Run): Promise<boolean> {
  if (run.pullRequest === null) return true;
  const reader = deps.github.reader(event.installation_id);
  const pullRequest = await reader.pullRequest(event.repository, run.pullRequest);
  const { configuration, listed } = await governing(deps, event, pullRequest);
  const facts = repositoryFacts(event, pullRequest.defaultBranch);
  const now = pullRequestNow(pullRequest, listed);
  return outdatedBecause(run, now, configuration?.chains ?? [], facts) === undefined;
}
