import { LRUCache } from 'lru-cache';
import type { Timers } from '../../core/clock.ts';
import { applyingTo, type StoredChain } from '../../domain/chain/stored.ts';
import type { Repo } from '../../ports/github.ts';
import type { JobRunner } from '../../ports/jobs.ts';
import type { ReadTx } from '../../ports/storage.ts';

/**
 * What the operator says about chains, kept in memory: every event asks for it, and it hardly ever changes. The
 * command line changes it in another process, and leaves a job that has it read again.
 */
const MAX_REPOSITORIES = 500;

/** How often changes are looked for whose job another process does, in milliseconds. */
const FOLLOWED_MS = 1_000;

export interface StoredChains {
  of(repo: Repo): Promise<readonly StoredChain[]>;
  /** Has the rows read again. */
  forget(): void;
  /**
   * Looks every second whether the rows have changed, for a process that works beside others: only one of them does the job.
   * @param onChanged called when they may have, also at first
   * @returns stops it
   */
  follow(timers: Pick<Timers, 'after'>, onChanged: () => void): () => void;
  readonly jobs: JobRunner<'chains'>;
}

export function createStoredChains({ read }: { read: Pick<ReadTx, 'chains'> }): StoredChains {
  let rows: Promise<readonly StoredChain[]> | undefined;
  // Of the same rows, a repository always gets the same list, by which the configuration knows that nothing changed.
  let applying = new LRUCache<string, readonly StoredChain[]>({ max: MAX_REPOSITORIES });
  const forget = () => {
    rows = undefined;
    applying = new LRUCache({ max: MAX_REPOSITORIES });
  };
  return {
    async of(repo) {
      const reading = rows ?? read.chains.all();
      rows = reading;
      try {
        const lists = applying;
        const all = await reading;
        const key = `${repo.owner}/${repo.name}`.toLowerCase();
        const list = lists.get(key) ?? applyingTo(all, repo);
        lists.set(key, list);
        return list;
      } catch (error) {
        if (rows === reading) forget();
        throw error;
      }
    },
    forget,
    follow({ after }, onChanged) {
      let seen: string | undefined;
      let isOver = false;
      let stop = after(FOLLOWED_MS, look);

      async function compare(): Promise<void> {
        const found = JSON.stringify(await read.chains.all());
        if (found === seen) return;
        seen = found;
        forget();
        onChanged();
      }

      function look(): void {
        // While the database cannot be read, no event is worked on either.
        void compare()
          .catch(() => {})
          .finally(() => {
            if (!isOver) stop = after(FOLLOWED_MS, look);
          });
      }

      return () => {
        isOver = true;
        stop();
      };
    },
    jobs: {
      async run() {
        forget();
        return { kind: 'done' };
      },
      // It cannot fail.
      onRetriesExhausted: async () => {},
    },
  };
}
