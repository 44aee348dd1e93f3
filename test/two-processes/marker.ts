import type { Tx } from '../../src/ports/storage.ts';
import { at } from '../support/rows.ts';

/** Writes a word to a place where a test finds it. */
export function writeMarker(tx: Tx, word: string): Promise<void> {
  return tx.pullRequests.upsert({
    repositoryId: 1,
    number: 1,
    repository: word,
    installationId: 1,
    pausedBy: null,
    headSha: null,
    previousHeadSha: null,
    headSeenAt: null,
    updatedAt: at(0),
  });
}
