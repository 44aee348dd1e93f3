import { CHAIN_NAME, type Chain } from '../../domain/chain/chain.ts';
import type { StoredChain } from '../../domain/chain/stored.ts';
import type { Run } from '../../domain/run/run.ts';
import type { ShippedChain } from '../../ports/chain-tools.ts';
import type { ChainUse } from '../../ports/operations.ts';
import type { Request, StudioParts } from './frame.ts';
import { isOperator } from './viewer.ts';

/** The chains that somebody may know about. */
export interface KnownChains {
  /** Those that ran. */
  uses: ChainUse[];
  stored: StoredChain[];
  shipped: readonly ShippedChain[];
}

/** Operators see all of what is stored; others what is about an owner or a repository that they see. */
export async function knownChains(
  { storage: { read }, chainTools }: Pick<StudioParts, 'storage' | 'chainTools'>,
  context: Request,
): Promise<KnownChains> {
  const uses = await read.operations.chains(context.get('visible'));
  const all = await read.chains.all();
  const { shippedChains: shipped } = await chainTools();
  if (isOperator(context.get('viewer'))) return { uses, stored: all, shipped };
  const names = new Set(uses.map(({ repository }) => repository.toLowerCase()));
  const owners = new Set([...names].map((name) => name.split('/')[0]));
  const stored = all.filter(({ owner, repository }) =>
    repository === null ? owners.has(owner.toLowerCase()) : names.has(`${owner}/${repository}`.toLowerCase()),
  );
  return { uses, stored, shipped };
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
  const all = await knownChains(parts, context);
  const uses = all.uses.filter(({ chain }) => chain === name);
  const stored = all.stored.filter((row) => row.name === name);
  const shipped = all.shipped.find(({ chain }) => chain.name === name);
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
