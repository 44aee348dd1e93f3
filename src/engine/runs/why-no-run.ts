import { formatDiagnostic } from '../../core/diagnostic.ts';
import { chainsForHeads } from '../../domain/chain/chain-list.ts';
import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { governedCriterion } from '../../domain/run/explain.ts';
import { decideForHead, type PullRequestNow } from '../../domain/run/plan.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import { declinedBecause } from '../../messages/run/declined.ts';
import { heldBecause } from '../../messages/run/held-chain.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** Asks only about triggers. */
const NO_RUNS = { runs: [], cancelled: new Set<string>() };

/** The most chains and errors in one answer. Check runs and `chain lint` have all of them. */
const MAX_LISTED = 20;

/**
 * Why no chain has run for a pull request in its current state, under its current configuration. This fulfils
 * I6 if there is no run to explain, or only runs for an earlier state.
 * @param configuration of its base branch; `undefined` if that branch does not exist
 */
export function whyNoRun(
  pullRequest: PullRequestNow,
  configuration: Configuration | undefined,
  repository: RunFacts['repo'],
): Explanation {
  if (pullRequest.state === 'closed') return none('the pull request is closed', []);
  if (!configuration) return none(`there is no branch ${pullRequest.baseRef} to merge into`, []);
  const { branch, sha, insteadOf } = configuration;
  const governed = insteadOf ? [governedCriterion({ branch, sha, ...insteadOf })] : [];
  const diagnostics = configuration.broken.flatMap((file) => file.diagnostics).map(formatDiagnostic);
  const reasons = [...governed, ...diagnostics.map((diagnostic) => criterion('unmet', diagnostic))];
  if (configuration.broken.some(({ outOfSight }) => outOfSight))
    return none('the settings of the organisation cannot be read', reasons);
  if (configuration.broken.some(({ kind }) => kind === 'settings')) {
    return none(`the settings on ${branch} have errors`, reasons);
  }
  const { held = [] } = configuration;
  const disabled = held
    .filter(({ status }) => status === 'disabled')
    .map((hold) => criterion('unmet', heldBecause(hold)));
  reasons.push(...disabled);
  // There can be thousands, of which only some are shown.
  const { chains } = configuration;
  const isPending = chainsForHeads(chains).some(
    (chain) => decideForHead(chain, pullRequest, { ...NO_RUNS, repository, held }).begins,
  );
  const shown = chains.slice(0, MAX_LISTED).map((chain) => {
    const decision = decideForHead(chain, pullRequest, { ...NO_RUNS, repository, held });
    if (decision.begins)
      return criterion('pending', `${chain.name} is for this pull request, and begins with its next event`);
    switch (decision.why) {
      case 'held':
        return criterion('unmet', heldBecause(decision.hold));
      case 'other_event':
        return criterion('unmet', `${chain.name} ${decision.because.replace(/^it /, '')}`);
      default:
        return criterion('unmet', `${chain.name} is not for it: ${declinedBecause(decision)}`);
    }
  });
  const all = [...shown, ...reasons];
  const more = chains.length - shown.length;
  if (isPending) {
    const because = 'no chain has run for this pull request as it is now';
    return criterion('pending', because, limited(all, more));
  }
  if (chains.length > 0) return none('no chain is for this pull request', all, more);
  return configuration.settings.chains?.length === 0
    ? none(`the settings on ${branch} choose no chain: \`chains: []\``, reasons)
    : none(`no chain is in force on ${branch}`, reasons);
}

function none(because: string, reasons: readonly Explanation[], more = 0): Explanation {
  return criterion('unmet', `no chain runs: ${because}`, limited(reasons, more));
}

/** @param more how many are not in the list */
function limited(reasons: readonly Explanation[], more = 0): Explanation[] {
  const rest = reasons.length + more - MAX_LISTED;
  return rest > 0
    ? [...reasons.slice(0, MAX_LISTED), criterion('unknown', `and ${rest} more`)]
    : [...reasons];
}
