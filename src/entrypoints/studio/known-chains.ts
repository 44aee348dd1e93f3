import type { StoredChain } from '../../domain/chain/stored.ts';
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

/** The text of a chain of that name that is not in a repository's files. */
export function textOfChain(
  { stored, shipped }: Omit<KnownChains, 'uses'>,
  name: string,
): string | undefined {
  const own = stored.find((row) => row.name === name && row.definition !== null);
  return own?.definition ?? shipped.find(({ chain }) => chain.name === name)?.text;
}
