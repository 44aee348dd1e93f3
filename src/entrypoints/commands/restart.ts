import type { EventOf } from '../../domain/event/event.ts';
import { outdatedBecause } from '../../domain/run/plan.ts';
import type { Run } from '../../domain/run/run.ts';
import { eventJob } from '../../ports/jobs.ts';
import { mayIssue } from './command.ts';
import type { CommandContext } from './context.ts';
import type { CommandResult } from './replies.ts';

/**
 * Whether the run ended so that it cannot continue. What the rollout withheld in it would be withheld again, because a run keeps the
 * level that it began with.
 */
export function isRestarted({ status, reason }: Run): boolean {
  return status === 'cancelled' || status === 'aborted' || reason?.code === 'run.completed.rollout';
}

/**
 * Starts the chain of a cancelled run again, with the same trigger and inputs. Otherwise returns why it may
 * not: rerunning must not let a person fire a chain without that permission, or run a chain that its trigger
 * excludes.
 */
export async function beginAgain(
  context: CommandContext,
  verb: 'rerun' | 'review' | 'ci',
  run: Run,
): Promise<CommandResult | undefined> {
  const { governed, issuer } = context;
  const { chain } = run;
  const fired = run.event.kind === 'manual.fired' ? run.event : undefined;
  if (fired && !mayIssue('fire', issuer)) return { kind: 'not_allowed', verb: 'fire', role: issuer.role };
  if (!governed) return { kind: 'not_begun', chain, because: 'it ended this moment; send this again' };
  if (!governed.chains.some(({ name }) => name === chain)) {
    return {
      kind: 'not_begun',
      chain,
      because: `there is no such chain on ${governed.branch}, or it has errors`,
    };
  }
  const outdated = outdatedBecause(run, governed.now, governed.chains, governed.repository);
  if (outdated) return { kind: 'not_begun', chain, because: outdated.summary };
  await fireChain(context, verb, chain, fired?.inputs ?? {}, run.id);
  return undefined;
}

/**
 * Asks the engine for a run of the chain.
 * @param again the run that the new one replaces
 */
export async function fireChain(
  { deps, tx, event, pullRequest, given }: CommandContext,
  verb: 'fire' | 'rerun' | 'review' | 'ci',
  chain: string,
  inputs: EventOf<'manual.fired'>['inputs'],
  again?: string,
): Promise<void> {
  const fired = {
    kind: 'manual.fired',
    installation_id: event.installation_id,
    repository: event.repository,
    run_id: (event.via.kind === 'studio' && event.via.run_id) || deps.ids.next('run'),
    ...(again === undefined ? {} : { again }),
    asked_by: { verb, given: given(verb), head_sha: pullRequest.headSha },
    chain,
    pull_request: event.pull_request,
    actor: event.actor,
    inputs,
  } satisfies EventOf<'manual.fired'>;
  await deps.queue.enqueue(tx, eventJob(fired));
}
