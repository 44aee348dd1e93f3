import { applyingTo, type ChainStatus, type StoredChain } from '../../domain/chain/stored.ts';
import type { ChainUse } from '../../ports/operations.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';

/** A chain that has run in a repository. */
export type UsedChain = ChainUse & { state: ChainStatus };

/** Who asks about chains. */
export interface ChainsAsker {
  visible: Visible;
  /** Sees all that is stored, also for repositories in which nothing has run. */
  isOperator: boolean;
}

/** What a list of chains is narrowed to. */
export interface ChainsWanted {
  /** Only these. */
  names?: readonly string[];
  /** `owner/name`, in any case. */
  repository?: string | undefined;
  state?: ChainStatus | undefined;
  text?: string | undefined;
  /** How many that ran, after the one whose newest run this is. Without it, 500. */
  page?: { limit: number; after: ChainUse['newest'] | undefined };
}

export interface UsedChains {
  /** The one with the newest run first. */
  uses: UsedChain[];
  /** Where the list goes on. A page can have few of them or none, because states are read after it. */
  next: ChainUse['newest'] | undefined;
  /** What the operator says about chains, as far as the asker may know it. */
  stored: StoredChain[];
}

/** The chains that ran or are stored, as far as somebody may know about them. */
export async function usedChains(
  read: ReadTx,
  asker: ChainsAsker,
  { names, repository, state, text, page }: ChainsWanted,
): Promise<UsedChains> {
  const stored = await visibleStored(read, asker);
  const held =
    state !== undefined && state !== 'active'
      ? stored.flatMap((row) => (row.status === state ? row.name : []))
      : undefined;
  const found = await read.operations.chains(asker.visible, {
    ...((names ?? held) && { names: names ?? held ?? [] }),
    ...(repository !== undefined && { repository }),
    ...(text !== undefined && { text }),
    ...(page && { limit: page.limit + 1, ...(page.after && { after: page.after }) }),
  });
  const uses = page ? found.slice(0, page.limit) : found;
  return {
    uses: uses
      .map((use) => ({ ...use, state: stateOf(stored, use) }))
      .filter((use) => state === undefined || use.state === state),
    next: found.length > uses.length ? uses.at(-1)?.newest : undefined,
    stored: stored.filter(
      (row) =>
        (names?.includes(row.name) ?? true) &&
        (text === undefined || says(row, text)) &&
        (state === undefined || row.status === state) &&
        (repository === undefined || appliesTo(row, repository)),
    ),
  };
}

/** Operators see all of what is stored; others what is about an owner or a repository that they see. */
async function visibleStored(read: ReadTx, { visible, isOperator }: ChainsAsker): Promise<StoredChain[]> {
  const all = await read.chains.all();
  if (all.length === 0 || isOperator) return all;
  const seen = (await read.operations.repositories(visible)).map((name) => name.toLowerCase());
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

function says({ name, owner, repository }: StoredChain, text: string): boolean {
  return `${name} ${owner}/${repository ?? ''}`.toLowerCase().includes(text.toLowerCase());
}

function appliesTo(row: StoredChain, repository: string): boolean {
  const [owner = '', name = ''] = repository.split('/');
  return applyingTo([row], { owner, name }).length > 0;
}
