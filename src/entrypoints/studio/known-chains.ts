import { CHAIN_NAME, type Chain } from '../../domain/chain/chain.ts';
import type { Run } from '../../domain/run/run.ts';
import { type ChainsWanted, type UsedChains, usedChains } from '../../engine/configuration/used-chains.ts';
import type { ShippedChain } from '../../ports/chain-tools.ts';
import type { Request, StudioParts } from './frame.ts';
import { isOperator } from './viewer.ts';

/** The chains that somebody may know about. */
export interface KnownChains extends Pick<UsedChains, 'uses' | 'stored'> {
  shipped: readonly ShippedChain[];
}

/** At most 500 that ran, the one with the newest run first. */
export async function knownChains(
  { storage: { read }, chainTools }: Pick<StudioParts, 'storage' | 'chainTools'>,
  context: Request,
  wanted: Omit<ChainsWanted, 'page'>,
): Promise<KnownChains> {
  const asker = { visible: context.get('visible'), isOperator: isOperator(context.get('viewer')) };
  const { uses, stored } = await usedChains(read, asker, wanted);
  const { names, repository, state, text } = wanted;
  const { shippedChains } = await chainTools();
  const isWanted = ({ chain: { name, description = '' } }: ShippedChain) =>
    (names?.includes(name) ?? true) &&
    (text === undefined || `${name} ${description}`.toLowerCase().includes(text.toLowerCase()));
  return {
    uses,
    stored,
    // They have no state and no repository of their own.
    shipped:
      (state !== undefined && state !== 'active') || repository !== undefined
        ? []
        : shippedChains.filter(isWanted),
  };
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
