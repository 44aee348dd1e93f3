/** How often people accept what a rule finds, where they mostly do. */
export interface Learned {
  rule: string;
  /** How many findings of the rule reviews have reported. */
  found: number;
  /** How many of them people accepted. */
  accepted: number;
  by: readonly { login: string; count: number }[];
  /** When the first of them was accepted. */
  since: Date;
}

/** People mostly accept a rule if they accept at least this share of what it finds. */
export const MOSTLY = 0.5;
/** A rule is reported if people accepted at least so many of its findings. It hides something later; see `learned.ts`. */
const LEAST = 2;

/**
 * The rules whose findings people mostly accept, those with the most acceptances first.
 * @param also rules that are reported in any case
 */
export function mostlyAccepted(
  found: readonly { rule: string; found: number }[],
  accepted: readonly { rule: string; login: string; count: number; first: Date }[],
  also: readonly string[] = [],
): Learned[] {
  const rules = Map.groupBy(accepted, ({ rule }) => rule);
  return [...rules]
    .map(([rule, people]): Learned => {
      const count = people.reduce((sum, one) => sum + one.count, 0);
      const all = found.find((one) => one.rule === rule)?.found ?? 0;
      return {
        rule,
        // Acceptances are counted for good, and findings only since they are counted.
        found: Math.max(all, count),
        accepted: count,
        by: people.map(({ login, count }) => ({ login, count })),
        since: new Date(Math.min(...people.map(({ first }) => first.getTime()))),
      };
    })
    .filter(
      ({ rule, found, accepted }) => also.includes(rule) || (accepted >= LEAST && accepted / found >= MOSTLY),
    )
    .sort((a, b) => b.accepted - a.accepted || (a.rule < b.rule ? -1 : 1));
}
