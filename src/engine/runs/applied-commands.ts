import {
  type AppliedCommand,
  type GivenAt,
  inOrderGiven,
  type OrderedCommand,
  overtakenBy,
  scopesOf,
} from '../../domain/command/order.ts';
import type { ReadTx, Tx } from '../../ports/storage.ts';

/** The pull request that commands are given on. */
export interface Place {
  repositoryId: number;
  pullRequest: number;
}

/** The newer command that this one would undo; `undefined`: it may be applied. */
export async function newerCommand(
  tx: ReadTx,
  { repositoryId, pullRequest }: Place,
  deed: OrderedCommand,
  given: GivenAt,
): Promise<AppliedCommand | undefined> {
  return overtakenBy(deed, given, await tx.appliedCommands.of(repositoryId, pullRequest));
}

/** Remembers that the command was applied, unless a newer one of its scope is remembered already. */
export async function rememberCommand(
  tx: Tx,
  { repositoryId, pullRequest }: Place,
  deed: OrderedCommand,
  by: { actor: string; given: GivenAt },
): Promise<void> {
  const applied = await tx.appliedCommands.of(repositoryId, pullRequest);
  for (const scope of scopesOf(deed)) {
    const known = applied.find((other) => other.scope === scope);
    if (known && inOrderGiven(known.given, by.given) > 0) continue;
    await tx.appliedCommands.put(repositoryId, pullRequest, { scope, verb: deed.verb, ...by });
  }
}
