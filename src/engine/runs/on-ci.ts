import type { EventOf } from '../../domain/event/event.ts';
import type { Actor } from '../../domain/run/actor.ts';
import { outdatedBecause } from '../../domain/run/plan.ts';
import type { Run } from '../../domain/run/run.ts';
import type { Signal } from '../../domain/run/transition.ts';
import type { Cause } from '../../ports/jobs.ts';
import type { ReadTx, Tx } from '../../ports/storage.ts';
import { governing, type PullRequestDeps } from './on-pull-request.ts';
import { pullRequestNow, repositoryFacts } from './run-facts.ts';

const CI_CHANGED: Signal = { kind: 'wake', for: ['ci', 'approval', 'until'] };

/**
 * Rechecks everything that waits for a commit's CI. A run that had ended because of CI continues where it
 * stopped, if it still applies to the pull request: a close, merge or retargeting since then did not touch a
 * finished run.
 */
export async function onCi(
  deps: PullRequestDeps,
  event: EventOf<'ci.changed'>,
  by: Actor,
  cause: Cause | null,
): Promise<void> {
  const { storage, engine } = deps;
  const ended = await storage.transaction(async (tx) => {
    const runs = await tx.runs.current({ repositoryId: event.repository.id, headSha: event.head_sha });
    const stopped: Run[] = [];
    for (const run of runs) {
      if ((await failedCiStep(tx, run)) !== undefined) stopped.push(run);
      else await engine.signal(tx, run.id, CI_CHANGED, by);
    }
    if (stopped.length === 0) await cause?.end?.(tx);
    return stopped;
  });
  for (const run of ended) {
    if (!(await stillApplies(deps, event, run))) continue;
    await storage.transaction(async (tx) => {
      // Loaded again, because reading GitHub took time.
      const current = (await tx.runs.load(run.id))?.run;
      const stepIndex = current && (await failedCiStep(tx, current));
      if (stepIndex !== undefined) await engine.signal(tx, run.id, { kind: 'rerun', stepIndex }, by);
    });
  }
}

/**
 * The same with the database alone. @returns whether that was possible: nothing was written if a run may continue, which
 * only GitHub can show
 */
export async function onCiWithin(
  { engine }: Pick<PullRequestDeps, 'engine'>,
  tx: Tx,
  event: EventOf<'ci.changed'>,
  by: Actor,
): Promise<boolean> {
  const runs = await tx.runs.current({ repositoryId: event.repository.id, headSha: event.head_sha });
  for (const run of runs) if ((await failedCiStep(tx, run)) !== undefined) return false;
  for (const run of runs) await engine.signal(tx, run.id, CI_CHANGED, by);
  return true;
}

/** The CI step at which a finished run stopped before its merge. New CI results may let the run continue. */
async function failedCiStep(tx: ReadTx, run: Run): Promise<number | undefined> {
  const code = run.reason?.code;
  if (run.facts.parent || (code !== 'run.completed.not_merged' && code !== 'run.failed.step'))
    return undefined;
  const newest = await tx.runs.list({
    repositoryId: run.repositoryId,
    ...(run.pullRequest === null ? {} : { pullRequest: run.pullRequest }),
    chain: run.chain,
    limit: 1,
  });
  if (newest[0]?.id !== run.id) return undefined;
  const state = await tx.runs.load(run.id);
  // A person's rejection stands, whatever CI reports later.
  if (!state || state.invocations.some((step) => step.reason?.code === 'step.failed.rejected'))
    return undefined;
  return state.invocations.find((step) => {
    const ciWaitExhausted = step.reason?.code === 'step.failed.ci_wait';
    // CI cannot continue a run that failed at another step.
    if (code === 'run.failed.step')
      return ciWaitExhausted && state.run.definition.steps[step.stepIndex]?.onFailure !== 'continue';
    return ciWaitExhausted || (step.outcome?.outcome_kind === 'ci_result' && step.outcome.passed !== true);
  })?.stepIndex;
}

/**
 * Whether the run may continue, given the current pull request on GitHub and the chains of its governing
 * branch.
 */
async function stillApplies(deps: PullRequestDeps, event: EventOf<'ci.changed'>, run: Run): Promise<boolean> {
  if (run.pullRequest === null) return true;
  const reader = deps.github.reader(event.installation_id);
  const pullRequest = await reader.pullRequest(event.repository, run.pullRequest);
  const { configuration, listed } = await governing(deps, event, pullRequest);
  const facts = repositoryFacts(event, pullRequest.defaultBranch);
  const now = pullRequestNow(pullRequest, listed);
  return outdatedBecause(run, now, configuration?.chains ?? [], facts, configuration?.rollout) === undefined;
}
