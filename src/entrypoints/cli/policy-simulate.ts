import { CountersignError } from '../../core/errors.ts';
import { eventTriggersOf } from '../../domain/chain/trigger-schema.ts';
import type { Event } from '../../domain/event/event.ts';
import { readTrustContext } from '../../engine/gates/trust-facts.ts';
import { noPullRequest, simulated, stepPolicyJson } from '../../messages/cli/policy.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findInstallation } from './find-installation.ts';
import { decideSteps, readingGitHub } from './policy-steps.ts';

export interface SimulateOptions extends DatabaseOption {
  repo: string;
  pr: number;
  actor?: string;
  head?: string;
}

/**
 * What the governing chains could do for a pull request now: started by their triggers, or each fired by a
 * given person. Read-only: the database is opened that way, and GitHub is available only as a reader.
 */
export function policySimulate(context: Context, options: SimulateOptions): Promise<Output> {
  const { tools } = context;
  const { repo: name, pr: number, actor, head, database } = options;
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const access = await tools.policy(read);
    const { installationId, repository } = await findInstallation(context, read, name, number);
    const reader = access.github.reader(installationId, 'person');
    const missing = new CountersignError('cli.unknown_pull_request', noPullRequest(name, number));
    const pullRequest = await readingGitHub(() => reader.pullRequest(repository, number), missing);
    const headSha = head !== undefined && !pullRequest.headSha.startsWith(head) ? head : pullRequest.headSha;
    const subject = {
      repository: name,
      pullRequest: number,
      headSha,
      event: eventOf({ installation_id: installationId, repository }, number, actor),
    };
    const [trust, configuration] = await readingGitHub(() =>
      Promise.all([
        readTrustContext(reader, repository, subject),
        access.configuration.forPullRequest(installationId, repository, pullRequest),
      ]),
    );
    // A person can fire any chain. Without one, only chains with a trigger for pull requests can start.
    const could = (configuration?.chains ?? []).filter(
      (chain) => actor !== undefined || eventTriggersOf(chain).some(({ event }) => event.startsWith('pr.')),
    );
    const mandatory = configuration?.settings.gates ?? [];
    const chains = could.map((chain) => ({
      chain: chain.name,
      steps: decideSteps(chain, trust, access, mandatory),
    }));
    return {
      text: (screen) => simulated({ repository: name, pullRequest: number, headSha, actor }, chains, screen),
      json: {
        repository: name,
        pull_request: number,
        head_sha: headSha,
        actor: actor ?? null,
        chains: chains.map(({ chain, steps }) => ({ chain, steps: steps.map(stepPolicyJson) })),
      },
    };
  });
}

/** The event that such a run would store. It names the person who fired the chain. */
function eventOf(
  place: { installation_id: number; repository: { id: number; owner: string; name: string } },
  number: number,
  actor: string | undefined,
): Event {
  const on = { ...place, pull_request: number };
  return actor === undefined
    ? { kind: 'pr.updated', ...on, action: 'reconciled' }
    : { kind: 'manual.fired', ...on, chain: '', actor, inputs: {} };
}
