import type { HeldChain } from '../../domain/chain/stored.ts';
import { utc } from '../text/pretty.ts';

/** Why a chain starts no run, as a clause. */
export function heldBecause({ name, status, updatedAt }: HeldChain): string {
  return `${name} was ${status} by the operator on ${utc(updatedAt)}, and starts no run until countersign chain resume`;
}
