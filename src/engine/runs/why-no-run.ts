import { formatFault } from '../../core/fault.ts';
import { triggerMatches } from '../../domain/chain/trigger.ts';
import { type Why, why } from '../../domain/explanation/why.ts';
import { governedWhy } from '../../domain/run/explain.ts';
import { type PullRequestNow, triggerFacts } from '../../domain/run/plan.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** Chains and faults that are named at most: an answer is for reading, and check runs and `chain lint` have them all. */
const MOST_TOLD = 20;

/**
 * Why no chain has run for a pull request as it is, by what governs it now: the answer of invariant I6 where there is no run to
 * explain, or only runs about what it was before.
 * @param configuration of its base branch; `undefined` when there is no such branch
 */
export function whyNoRun(
  pullRequest: PullRequestNow,
  configuration: Configuration | undefined,
  repository: RunFacts['repo'],
): Why {
  if (pullRequest.state === 'closed') return none('the pull request is closed', []);
  if (!configuration) return none(`there is no branch ${pullRequest.baseRef} to merge into`, []);
  const { branch, sha, insteadOf } = configuration;
  const governed = insteadOf ? [governedWhy({ branch, sha, ...insteadOf })] : [];
  const faults = configuration.broken.flatMap((file) => file.faults).map(formatFault);
  const told = [...governed, ...faults.map((fault) => why('unmet', fault))];
  if (configuration.broken.some(({ outOfSight }) => outOfSight))
    return none('the settings of the organisation cannot be read', told);
  if (configuration.broken.some(({ kind }) => kind === 'settings')) {
    return none(`the settings on ${branch} have faults`, told);
  }
  const chains = configuration.chains.map((chain) => {
    const { event } = chain.trigger;
    if (event !== 'pr.opened' && event !== 'pr.updated') {
      return why('unmet', `${chain.name} waits for ${event}`);
    }
    const facts = { event, repository, pull_request: triggerFacts(pullRequest) };
    const match = triggerMatches(chain, facts);
    return match.matches
      ? why('pending', `${chain.name} is for this pull request, and begins with its next event`)
      : why('unmet', `${chain.name} is not for it: ${match.because}`);
  });
  if (chains.some(({ status }) => status === 'pending')) {
    return why(
      'pending',
      'no chain has run for this pull request as it is now',
      limited([...chains, ...told]),
    );
  }
  if (chains.length > 0) return none('no chain is for this pull request', [...chains, ...told]);
  return configuration.settings.chains?.length === 0
    ? none(`the settings on ${branch} choose no chain: \`chains: []\``, told)
    : none(`no chain is in force on ${branch}`, told);
}

function none(because: string, reasons: readonly Why[]): Why {
  return why('unmet', `no chain runs: ${because}`, limited(reasons));
}

function limited(reasons: readonly Why[]): Why[] {
  const rest = reasons.length - MOST_TOLD;
  return rest > 0 ? [...reasons.slice(0, MOST_TOLD), why('unknown', `and ${rest} more`)] : [...reasons];
}
