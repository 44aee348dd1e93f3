import { z } from 'zod';
import type { ListedPullRequest } from '../../ports/github.ts';

/**
 * How far before the newest known change each listing starts, in milliseconds. GitHub's lists lag, so an
 * older change can appear after a newer one.
 */
const LAG_MS = 5 * 60_000;

/**
 * The changes of a repository's pull requests that were seen. `recent` holds those that the next listing
 * returns again.
 */
export const seenSchema = z.strictObject({
  until: z.iso.datetime(),
  recent: z.record(z.string(), z.iso.datetime()),
});
export type Seen = z.infer<typeof seenSchema>;

/**
 * The state for the first listing of a repository. Earlier changes are ignored until somebody changes the
 * pull request again.
 */
export function seenUntil(moment: Date): Seen {
  return { until: moment.toISOString(), recent: {} };
}

/** The start of the next listing. */
export function listFrom(seen: Seen): Date {
  return new Date(Date.parse(seen.until) - LAG_MS);
}

/**
 * The new changes of a listing, and the updated state. Uses only GitHub's times, so the local clock does not
 * matter.
 */
export function changesSince(
  seen: Seen,
  listed: readonly ListedPullRequest[],
): { changed: ListedPullRequest[]; seen: Seen } {
  const times = listed.map(({ updatedAt }) => updatedAt.getTime());
  const until = new Date(Math.max(Date.parse(seen.until), ...times)).toISOString();
  const recentFrom = listFrom({ until, recent: {} });
  const recent = listed
    .filter(({ updatedAt }) => updatedAt > recentFrom)
    .map(({ number, updatedAt }) => [String(number), updatedAt.toISOString()]);
  return {
    changed: listed.filter(({ number, updatedAt }) => seen.recent[number] !== updatedAt.toISOString()),
    seen: { until, recent: Object.fromEntries(recent) },
  };
}
