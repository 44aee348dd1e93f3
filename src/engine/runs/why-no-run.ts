import { formatDiagnostic } from '../../core/diagnostic.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import { chainsForHeads } from '../../domain/chain/chain-list.ts';
import { progressOf } from '../../domain/chain/composite.ts';
import { sourcesOfChain } from '../../domain/chain/trigger-schema.ts';
import { combined, criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { rolloutInWords } from '../../domain/policy/rollout.ts';
import { governedCriterion } from '../../domain/run/explain.ts';
import { decideForHead, type PullRequestNow } from '../../domain/run/plan.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import { compositeWaits, firingSkipped } from '../../messages/run/composite.ts';
import { declinedBecause } from '../../messages/run/declined.ts';
import { heldBecause } from '../../messages/run/held-chain.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** Asks only about triggers. */
const NO_RUNS = { runs: [], cancelled: new Set<string>() };

/** The most chains and errors in one answer. Check runs and `chain lint` have all of them. */
const MAX_LISTED = 20;
/** The most firings that did not happen in one answer. */
const MAX_FIRINGS = 5;

/** What is recorded of a pull request besides its runs, by the name of the chain. */
export type Recorded = ReadonlyMap<string, readonly Explanation[]>;

/** What composites wait for, and the newest firings that did not happen. */
export async function recordedOf(
  read: Pick<ReadTx, 'composites' | 'firings'>,
  of: { repositoryId: number; pullRequest: number },
  now: Date,
): Promise<Recorded> {
  const found = new Map<string, Explanation[]>();
  const add = (chain: string, reason: Explanation) => found.set(chain, [...(found.get(chain) ?? []), reason]);
  for (const { chain, composite, state } of await read.composites.ofPullRequest(of)) {
    const progress = progressOf(composite, state);
    if (progress) add(chain, criterion('pending', compositeWaits(composite, progress, now)));
  }
  const skipped = await read.firings.list({ of, status: 'skipped', limit: MAX_FIRINGS });
  for (const firing of skipped) add(firing.chain, criterion('unmet', firingSkipped(firing)));
  return found;
}

/**
 * Why no chain has run for a pull request in its current state, under its current configuration. This fulfils
 * I6 if there is no run to explain, or only runs for an earlier state.
 * @param configuration of its base branch; `undefined` if that branch does not exist
 */
export function whyNoRun(
  pullRequest: PullRequestNow,
  configuration: Configuration | undefined,
  repository: RunFacts['repo'],
  recorded: Recorded = new Map(),
): Explanation {
  const left = [...recorded].map(([chain, reasons]) => asRecorded(chain, reasons));
  if (pullRequest.state === 'closed') return none('the pull request is closed', left);
  if (!configuration) return none(`there is no branch ${pullRequest.baseRef} to merge into`, left);
  const { branch, sha, insteadOf, rollout } = configuration;
  if (rollout.level === 'off') return none(rolloutInWords(rollout), left);
  const governed = insteadOf ? [governedCriterion({ branch, sha, ...insteadOf })] : [];
  const diagnostics = configuration.broken.flatMap((file) => file.diagnostics).map(formatDiagnostic);
  const reasons = [...governed, ...diagnostics.map((diagnostic) => criterion('unmet', diagnostic))];
  if (configuration.broken.some(({ outOfSight }) => outOfSight))
    return none('the settings of the organisation cannot be read', reasons);
  if (configuration.broken.some(({ kind }) => kind === 'settings')) {
    return none(`the settings on ${branch} have errors`, reasons);
  }
  const { held = [], chains } = configuration;
  const disabled = held
    .filter(({ status }) => status === 'disabled')
    .map((hold) => criterion('unmet', heldBecause(hold)));
  reasons.push(...disabled);
  const known = { ...NO_RUNS, repository, held };
  // There can be thousands, of which only some are shown.
  const isPending = chainsForHeads(chains).some((chain) => decideForHead(chain, pullRequest, known).begins);
  const shown = notBegun(chains, pullRequest, known, recorded);
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

/**
 * The chains without a run beside those that have one, with the reason, and what composites wait for; `undefined` if there
 * is nothing to say.
 * @param now what is known of the pull request on GitHub; without it, only what is recorded
 * @param ran the names of the chains whose runs are explained elsewhere
 */
export function whyOthersDidNotRun(
  now:
    | { pullRequest: PullRequestNow; configuration: Configuration | undefined; repository: RunFacts['repo'] }
    | undefined,
  ran: ReadonlySet<string>,
  recorded: Recorded,
): Explanation | undefined {
  const others =
    now?.configuration && now.pullRequest.state === 'open'
      ? now.configuration.chains.filter(
          (chain) => !ran.has(chain.name) && (recorded.has(chain.name) || mayFireInPullRequest(chain)),
        )
      : [];
  const known = { ...NO_RUNS, repository: now?.repository ?? NOWHERE, held: now?.configuration?.held ?? [] };
  const shown = now ? notBegun(others, now.pullRequest, known, recorded) : [];
  const names = new Set(others.map(({ name }) => name));
  const rest = [...recorded].filter(([chain]) => !names.has(chain));
  const all = [...rest.map(([chain, reasons]) => asRecorded(chain, reasons)), ...shown];
  if (all.length === 0) return undefined;
  return criterion(
    combined(all),
    'chains without a run for this pull request as it is now',
    limited(all, others.length - shown.length),
  );
}

const NOWHERE: RunFacts['repo'] = { full_name: '', owner: '', name: '', default_branch: '' };

/** Whether something that happens to pull requests can fire it. That a chain for issues or schedules did not run needs no reason. */
function mayFireInPullRequest(chain: Chain): boolean {
  return sourcesOfChain(chain).some((source) => source.startsWith('pr.') || source === 'ci.changed');
}

/** A chain of which only records are known. It may have run, too. */
function asRecorded(chain: string, reasons: readonly Explanation[]): Explanation {
  return criterion(combined(reasons), `${chain}, apart from its runs`, [...reasons]);
}

/** The first chains as criteria, those with something recorded before the others. */
function notBegun(
  chains: readonly Chain[],
  pullRequest: PullRequestNow,
  known: Parameters<typeof decideForHead>[2],
  recorded: Recorded,
): Explanation[] {
  const isRecorded = ({ name }: Chain) => recorded.has(name);
  const ordered =
    recorded.size === 0
      ? chains
      : [...chains.filter(isRecorded), ...chains.filter((chain) => !isRecorded(chain))];
  return ordered.slice(0, MAX_LISTED).map((chain) => {
    const found = [...(recorded.get(chain.name) ?? [])];
    const decision = decideForHead(chain, pullRequest, known);
    if (decision.begins)
      return criterion(
        'pending',
        `${chain.name} is for this pull request, and begins with its next event`,
        found,
      );
    switch (decision.why) {
      case 'held':
        return criterion('unmet', heldBecause(decision.hold), found);
      case 'other_event':
        return criterion(
          found.length > 0 ? combined(found) : 'unmet',
          `${chain.name} ${decision.because.replace(/^it /, '')}`,
          found,
        );
      default:
        return criterion('unmet', `${chain.name} is not for it: ${declinedBecause(decision)}`, found);
    }
  });
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
