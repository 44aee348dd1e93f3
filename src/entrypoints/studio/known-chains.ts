import { CHAIN_NAME, type Chain } from '../../domain/chain/chain.ts';
import { applyingTo, type ChainStatus, type StoredChain } from '../../domain/chain/stored.ts';
import type { Run } from '../../domain/run/run.ts';
import type { ShippedChain } from '../../ports/chain-tools.ts';
import type { ChainUse } from '../../ports/operations.ts';
import type { Request, StudioParts } from './frame.ts';
import { isOperator } from './viewer.ts';

/** A chain that has run in a repository. */
type UsedChain = ChainUse & { state: ChainStatus };

/** The chains that somebody may know about. */
export interface KnownChains {
  /** Those that ran. */
  uses: UsedChain[];
  stored: StoredChain[];
  shipped: readonly ShippedChain[];
}

/** What a list of chains is narrowed to. */
export interface ChainsWanted {
  /** Only these. */
  names?: readonly string[];
  /** `owner/name`, in any case. */
  repository?: string | undefined;
  state?: ChainStatus | undefined;
  text?: string | undefined;
}

/** At most 500 that ran, the one with the newest run first. */
export async function knownChains(
  { storage: { read }, chainTools }: Pick<StudioParts, 'storage' | 'chainTools'>,
  context: Request,
  { names, repository, state, text }: ChainsWanted,
): Promise<KnownChains> {
  const visible = context.get('visible');
  const stored = await visibleStored(read, context);
  const isHeld = state !== undefined && state !== 'active';
  const held = isHeld ? stored.flatMap((row) => (row.status === state ? row.name : [])) : undefined;
  const uses = await read.operations.chains(visible, {
    ...((names ?? held) && { names: names ?? held ?? [] }),
    ...(repository !== undefined && { repository }),
    ...(text !== undefined && { text }),
  });
  const { shippedChains } = await chainTools();
  const isWanted = (name: string, place: string) =>
    (names?.includes(name) ?? true) &&
    (text === undefined || `${name} ${place}`.toLowerCase().includes(text.toLowerCase()));
  return {
    uses: uses
      .map((use) => ({ ...use, state: stateOf(stored, use) }))
      .filter((use) => state === undefined || use.state === state),
    stored: stored.filter(
      (row) =>
        isWanted(row.name, `${row.owner}/${row.repository ?? ''}`) &&
        (state === undefined || row.status === state) &&
        (repository === undefined || appliesTo(row, repository)),
    ),
    // They have no state and no repository of their own.
    shipped:
      isHeld || repository !== undefined
        ? []
        : shippedChains.filter(({ chain }) => isWanted(chain.name, chain.description ?? '')),
  };
}

/** Operators see all of what is stored; others what is about an owner or a repository that they see. */
async function visibleStored(read: StudioParts['storage']['read'], context: Request): Promise<StoredChain[]> {
  const all = await read.chains.all();
  if (all.length === 0 || isOperator(context.get('viewer'))) return all;
  const seen = (await read.operations.repositories(context.get('visible'))).map((name) => name.toLowerCase());
  const names = new Set(seen);
  const owners = new Set(seen.map((name) => name.split('/')[0]));
  return all.filter(({ owner, repository }) =>
    repository === null ? owners.has(owner.toLowerCase()) : names.has(`${owner}/${repository}`.toLowerCase()),
  );
}

/** What the operator says about the chain in that repository. */
function stateOf(stored: readonly StoredChain[], { chain, repository }: ChainUse): ChainStatus {
  const [owner = '', name = ''] = repository.split('/');
  const own = stored.filter((row) => row.name === chain);
  return applyingTo(own, { owner, name })[0]?.status ?? 'active';
}

function appliesTo(row: StoredChain, repository: string): boolean {
  const [owner = '', name = ''] = repository.split('/');
  return applyingTo([row], { owner, name }).length > 0;
}

/** What is known of one chain. */
export interface KnownChain extends Omit<KnownChains, 'shipped'> {
  name: string;
  shipped: ShippedChain | undefined;
  newest: Run | undefined;
  /** As the newest run began with it, or else as it is stored here or ships. */
  definition: Chain | undefined;
}

/** `undefined` if the person knows no chain of that name. */
export async function chainNamed(
  parts: Pick<StudioParts, 'storage' | 'chainTools'>,
  context: Request,
  name: string,
): Promise<KnownChain | undefined> {
  if (!CHAIN_NAME.test(name)) return undefined;
  const all = await knownChains(parts, context, { names: [name] });
  const { uses, stored } = all;
  const [shipped] = all.shipped;
  if (uses.length === 0 && stored.length === 0 && !shipped) return undefined;
  const [last] = uses;
  const newest = last && (await parts.storage.read.runs.get(last.newest.id));
  const text = newest ? undefined : textOfChain(all, name);
  const definition = newest?.definition ?? (text && (await parts.chainTools()).check(text).chain);
  return { name, uses, stored, shipped, newest, definition: definition || undefined };
}

/** The chain as its newest run in a repository began with it, or else as it is known. */
export async function definitionIn(
  { storage: { read } }: Pick<StudioParts, 'storage'>,
  { uses, definition }: KnownChain,
  repositoryId: number,
): Promise<Chain | undefined> {
  const use = uses.find((one) => one.repositoryId === repositoryId);
  return (use && (await read.runs.get(use.newest.id))?.definition) ?? definition;
}

/** The text of a chain of that name that is not in a repository's files. */
export function textOfChain(
  { stored, shipped }: Omit<KnownChains, 'uses'>,
  name: string,
): string | undefined {
  const own = stored.find((row) => row.name === name && row.definition !== null);
  return own?.definition ?? shipped.find(({ chain }) => chain.name === name)?.text;
}
