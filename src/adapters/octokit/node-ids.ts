import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Repo } from '../../ports/github.ts';

/** Ids above 32 bits, which `databaseId` cannot show: https://github.com/octokit/graphql-schema/pull/896 */
export const bigId = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);

/** How many repositories and pull requests of an installation are remembered. A forgotten one is written with REST. */
const MOST = 500;

/**
 * The global ids of one installation that queries have shown. Mutations need them:
 * https://docs.github.com/en/graphql/guides/using-global-node-ids
 */
export interface NodeIds {
  ofRepository(repo: Repo): string | undefined;
  ofPullRequest(repo: Repo, number: number): string | undefined;
  learn(repo: Repo, number: number, ids: { repository: string; pullRequest: string }): void;
  /** Whether GraphQL may be used for writing. */
  usable(): boolean;
  /** GraphQL failed: for so many milliseconds, each write would only wait for an answer in vain. */
  distrust(ms: number): void;
}

export function createNodeIds(clock: Clock): NodeIds {
  // `max` would reserve room for all of them at once, for each installation.
  const known = new LRUCache<string, string>({ maxSize: MOST, sizeCalculation: () => 1 });
  let distrustedUntil = 0;
  const nameOf = ({ owner, name }: Repo) => `${owner}/${name}`;
  return {
    ofRepository: (repo) => known.get(nameOf(repo)),
    ofPullRequest: (repo, number) => known.get(`${nameOf(repo)}#${number}`),
    learn(repo, number, { repository, pullRequest }) {
      known.set(nameOf(repo), repository);
      known.set(`${nameOf(repo)}#${number}`, pullRequest);
    },
    usable: () => clock.now().getTime() >= distrustedUntil,
    distrust(ms) {
      distrustedUntil = clock.now().getTime() + ms;
    },
  };
}
