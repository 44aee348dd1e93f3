import { z } from 'zod';
import type { ListedPullRequest } from '../../ports/github.ts';

/**
 * How far back a look goes behind the newest change that was seen, in milliseconds: GitHub's lists lag behind, so that an
 * older change may show up after a newer one.
 */
const LAG_MS = 5 * 60_000;

/** What has been seen of a repository's pull requests; `recent` are those a later look will meet again. */
export const seenSchema = z.strictObject({
  until: z.iso.datetime(),
  recent: z.record(z.string(), z.iso.datetime()),
});
export type Seen = z.infer<typeof seenSchema>;

/** The first look at a repository: what changed before is not this app's business, until somebody changes it. */
export function seenUntil(moment: Date): Seen {
  return { until: moment.toISOString(), recent: {} };
}

/** A look has to list what changed after this moment. */
export function lookFrom(seen: Seen): Date {
  return new Date(Date.parse(seen.until) - LAG_MS);
}

/** What of a look's list is new, and what has been seen by then. Purely from GitHub's times, so its clock alone counts. */
export function changesSince(
  seen: Seen,
  listed: readonly ListedPullRequest[],
): { changed: ListedPullRequest[]; seen: Seen } {
  const times = listed.map(({ updatedAt }) => updatedAt.getTime());
  const until = new Date(Math.max(Date.parse(seen.until), ...times)).toISOString();
  const meetAgain = lookFrom({ until, recent: {} });
  const recent = listed
    .filter(({ updatedAt }) => updatedAt > meetAgain)
    .map(({ number, updatedAt }) => [String(number), updatedAt.toISOString()]);
  return {
    changed: listed.filter(({ number, updatedAt }) => seen.recent[number] !== updatedAt.toISOString()),
    seen: { until, recent: Object.fromEntries(recent) },
  };
}
