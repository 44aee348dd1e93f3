import { applyingTo, type StoredChain } from '../../domain/chain/stored.ts';
import type { Repo } from '../../ports/github.ts';
import type { JobRunner } from '../../ports/jobs.ts';
import type { ReadTx } from '../../ports/storage.ts';

/**
 * What the operator says about chains, kept in memory: every event asks for it, and it hardly ever changes. The
 * command line changes it in another process, and leaves a job that has it read again.
 */
export interface StoredChains {
  of(repo: Repo): Promise<readonly StoredChain[]>;
  /** Has the rows read again. */
  forget(): void;
  readonly jobs: JobRunner<'chains'>;
}

export function createStoredChains({ read }: { read: Pick<ReadTx, 'chains'> }): StoredChains {
  let rows: Promise<readonly StoredChain[]> | undefined;
  const forget = () => {
    rows = undefined;
  };
  return {
    async of(repo) {
      const reading = rows ?? read.chains.all();
      rows = reading;
      try {
        return applyingTo(await reading, repo);
      } catch (error) {
        if (rows === reading) forget();
        throw error;
      }
    },
    forget,
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
