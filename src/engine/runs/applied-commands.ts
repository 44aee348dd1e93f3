import {
  type AppliedCommand,
  type GivenAt,
  inOrderGiven,
  type OrderedCommand,
  overtakenBy,
  scopesOf,
} from '../../domain/command/order.ts';
import type { ReadTx, Tx } from '../../ports/storage.ts';

/** The pull request of a command. */
export interface Place {
  repositoryId: number;
  pullRequest: number;
}

/** The newer command that this one would undo; `undefined` if it may be applied. */
export async function newerCommand(
  tx: ReadTx,
  { repositoryId, pullRequest }: Place,
  ordered: OrderedCommand,
  given: GivenAt,
): Promise<AppliedCommand | undefined> {
  return overtakenBy(ordered, given, await tx.appliedCommands.of(repositoryId, pullRequest));
}

/** Stores that the command was applied, unless a newer one of its scope is stored. */
export async function rememberCommand(
  tx: Tx,
  { repositoryId, pullRequest }: Place,
  ordered: OrderedCommand,
  by: { actor: string; given: GivenAt },
): Promise<void> {
  const applied = await tx.appliedCommands.of(repositoryId, pullRequest);
  for (const scope of scopesOf(ordered)) {
    const known = applied.find((other) => other.scope === scope);
    if (known && inOrderGiven(known.given, by.given) > 0) continue;
    await tx.appliedCommands.put(repositoryId, pullRequest, { scope, verb: ordered.verb, ...by });
  }
}
