import { CountersignError } from '../../core/errors.ts';
import { CHAIN_NAME } from '../../domain/chain/chain.ts';
import type { Event } from '../../domain/event/event.ts';
import type { Configuration } from '../../engine/configuration/configuration.ts';
import { explainEvent } from '../../engine/runs/explain-event.ts';
import { branchToFire, noSuchChain, notInForce } from '../../engine/runs/fire-by-hand.ts';
import type { ChainExplained, DecisionDeps } from '../../engine/runs/fire-once.ts';
import { type Explained, explainedText, firingExplainedJson } from '../../messages/cli/chain-explain.ts';
import { notAChainName } from '../../messages/cli/cli.ts';
import { deliveryJson } from '../../messages/cli/delivery-json.ts';
import { asSentence } from '../../messages/text/pretty.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import { findDelivery } from './find-delivery.ts';
import { readingGitHub } from './policy-steps.ts';

export interface ChainExplainOptions extends DatabaseOption {
  delivery: string;
}

/** How many firings that did not happen are shown. */
const MAX_FIRINGS = 5;

/**
 * Why a delivery fired a chain or did not: what the app recorded of it, and the app's own decision, made again from what
 * GitHub and the database show now.
 */
export function chainExplain(context: Context, chain: string, options: ChainExplainOptions): Promise<Output> {
  if (!CHAIN_NAME.test(chain)) throw new UsageError(notAChainName(chain));
  const { tools } = context;
  return tools.withDatabase(options.database, 'read', async (storage) => {
    const { read } = storage;
    const delivery = await findDelivery(read, options.delivery, 'explained');
    const { github, configuration } = await tools.policy(read);
    const reading = await tools.eventsOf(delivery, { appId: github.appId, runs: read.runs });
    const events = reading.kind === 'events' ? reading.events : [];
    const deps = { storage, github, configuration };
    const found = await readingGitHub(() =>
      Promise.all(
        events.map(async (event) => {
          const explained = await explainEvent(deps, event, chain);
          const there = explained ? explained.configuration : await configurationOf(deps, event);
          return { event, explained, unknown: there && noSuchChain(there, chain) };
        }),
      ),
    );
    const runs = await read.runs.list({ deliveryId: delivery.id, chain });
    const repository = repositoryOf(events);
    const firings =
      repository === undefined ? [] : await read.firings.list({ repository, chain, limit: 10 * MAX_FIRINGS });
    const skipped = firings.filter(({ status }) => status === 'skipped').slice(0, MAX_FIRINGS);
    const unknown = found.find((one) => one.unknown !== undefined)?.unknown;
    // A chain that is gone has what is recorded of it.
    if (unknown !== undefined && runs.length === 0 && skipped.length === 0)
      throw new CountersignError('cli.unknown_chain', asSentence(unknown));
    const decided = found.map(
      ({ event, explained }): Explained => ({ event, ...resultOf(explained, chain) }),
    );
    const about = {
      chain,
      delivery,
      runs,
      decided,
      skipped,
      ignored: reading.kind === 'events' ? undefined : reading.because,
    };
    return {
      text: explainedText(about),
      json: { chain, delivery: deliveryJson(delivery), ...firingExplainedJson(about) },
    };
  });
}

/** Of an event that no trigger waits for, so that an unknown chain is known as such. */
async function configurationOf(deps: DecisionDeps, event: Event): Promise<Configuration | undefined> {
  return 'repository' in event && 'installation_id' in event
    ? (await branchToFire(deps, event)).configuration
    : undefined;
}

function repositoryOf(events: readonly Event[]): string | undefined {
  const [place] = events.flatMap((event) => ('repository' in event ? [event.repository] : []));
  return place && `${place.owner}/${place.name}`;
}

function resultOf(
  found: ChainExplained | undefined,
  chain: string,
): Pick<Explained, 'triggers' | 'decision' | 'because'> {
  if (!found) return { because: 'no trigger waits for this event' };
  const { configuration, triggers, decision } = found;
  if (!configuration) return { because: 'there is no branch whose chains could be read' };
  const because = notInForce(configuration, chain);
  if (because !== undefined && !triggers) return { because };
  if (!triggers || !decision) return { because: 'what the event is about is gone' };
  return { triggers, decision };
}
