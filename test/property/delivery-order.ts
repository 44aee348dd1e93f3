import fc from 'fast-check';
import type { Harness } from '../support/harness.ts';

/**
 * What happens to one delivery: after how many rounds it arrives, its place among those of its round, and whether it arrives
 * again.
 */
export interface DeliveryFate {
  late: number;
  rank: number;
  again: number | undefined;
}

export const PROMPT: DeliveryFate = { late: 0, rank: 0, again: undefined };

/** Many are prompt, so that some deliveries overtake others by far. */
export const anyDeliveryFates: fc.Arbitrary<DeliveryFate[]> = fc.array(
  fc.record({
    late: fc.constantFrom(0, 0, 1, 2, 4, 8, 12),
    rank: fc.nat(9),
    again: fc.option(fc.nat(6), { nil: undefined, freq: 2 }),
  }),
  { minLength: 20, maxLength: 20 },
);

/**
 * Delivers the webhooks that GitHub holds, each by its fate: late, in another order, twice. Every one arrives at least once.
 * Webhooks about the app's own writes are delivered in the same way.
 */
export class DeliveryShuffler {
  private readonly harness: Harness;
  private readonly fates: readonly DeliveryFate[];
  private readonly bag: { guid: string; round: number; rank: number }[] = [];
  private known = 0;
  private round = 0;

  constructor(harness: Harness, fates: readonly DeliveryFate[]) {
    this.harness = harness;
    this.fates = fates;
    harness.github.holdDeliveries();
  }

  /** @returns whether anything is still to come. */
  async goRound(): Promise<boolean> {
    const { github } = this.harness;
    for (const { guid } of github.deliveries.slice(this.known)) this.take(guid);
    const now = this.bag.filter(({ round }) => round <= this.round).sort((a, b) => a.rank - b.rank);
    for (const delivery of now) {
      this.bag.splice(this.bag.indexOf(delivery), 1);
      await github.redeliver(delivery.guid);
    }
    this.round += 1;
    return this.bag.length > 0 || github.deliveries.length > this.known;
  }

  private take(guid: string): void {
    const { late, rank, again } = this.fates[this.known % this.fates.length] ?? PROMPT;
    this.known += 1;
    this.bag.push({ guid, round: this.round + late, rank });
    if (again !== undefined) this.bag.push({ guid, round: this.round + late + again, rank: rank + 1 });
  }
}
