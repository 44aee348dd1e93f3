import { describe, expect, it } from 'vitest';
import { bucketOf, type Figure } from '../../src/domain/run/figures.ts';
import type { RepositoryState } from '../../src/domain/run/report.ts';
import { Visible } from '../../src/ports/visible.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at } from '../support/rows.ts';

export function repositoryState(more: Partial<RepositoryState> = {}): RepositoryState {
  return {
    repositoryId: 70,
    installationId: 7,
    repository: 'acme/rocket',
    branch: 'main',
    rollout: { level: 'observe', by: 'organisation' },
    errors: 1,
    first: { file: '.github/countersign.yml', line: 2, column: 3, message: 'unknown key' },
    ...more,
  };
}

/** How repositories are, and what a report counts. */
export function repositoryStatesContract(open: OpenDatabase): void {
  const db = useDatabase(open);
  const visible = Visible.everything();
  const put = (...states: RepositoryState[]) =>
    db.storage.transaction(async (tx) => {
      for (const state of states) await tx.repositoryStates.put(state, db.clock.now());
    });
  const list = (filter: { owner?: string; repository?: string; visible?: Visible } = {}, limit = 10) =>
    db.storage.read.repositoryStates.list({ visible, ...filter }, { limit });
  const names = async (...of: Parameters<typeof list>) =>
    (await list(...of)).map(({ repository }) => repository);

  describe('the states of repositories', () => {
    it('returns a state as it was put, and the newest of a repository', async () => {
      await put(repositoryState());
      expect(await list()).toEqual([repositoryState()]);
      const corrected = repositoryState({ errors: 0, first: null, rollout: { level: 'enforce' } });
      await put(corrected);
      expect(await list()).toEqual([corrected]);
      await put(repositoryState());
      expect(await list()).toEqual([repositoryState()]);
    });

    it('lists by name whatever the case, of an owner, of one name, and only what is visible', async () => {
      await put(
        repositoryState({ repositoryId: 1, repository: 'acme/Zebra' }),
        repositoryState({ repositoryId: 2, repository: 'Acme/apple' }),
        repositoryState({ repositoryId: 3, repository: 'acme-two/apple' }),
        repositoryState({ repositoryId: 4, repository: 'bolt/apple' }),
      );
      expect(await names()).toEqual(['acme-two/apple', 'Acme/apple', 'acme/Zebra', 'bolt/apple']);
      expect(await names({ owner: 'ACME' })).toEqual(['Acme/apple', 'acme/Zebra']);
      expect(await names({ repository: 'acme/zebra' })).toEqual(['acme/Zebra']);
      expect(await names({ visible: Visible.only([3, 9]) })).toEqual(['acme-two/apple']);
    });

    it('goes on after a place in the list', async () => {
      await put(
        repositoryState({ repositoryId: 1, repository: 'acme/a' }),
        repositoryState({ repositoryId: 2, repository: 'acme/A' }),
        repositoryState({ repositoryId: 3, repository: 'acme/b' }),
      );
      const after = { repository: 'ACME/a', repositoryId: 1 };
      const rest = await db.storage.read.repositoryStates.list({ visible }, { after, limit: 10 });
      expect(rest.map(({ repositoryId }) => repositoryId)).toEqual([2, 3]);
    });

    it('removes a repository, or all of an installation, and takes them again as they were', async () => {
      const [one, two, other] = [1, 2, 3].map((repositoryId) =>
        repositoryState({
          repositoryId,
          repository: `acme/${repositoryId}`,
          installationId: repositoryId < 3 ? 7 : 8,
        }),
      ) as [RepositoryState, RepositoryState, RepositoryState];
      await put(one, two, other);
      await db.storage.transaction((tx) => tx.repositoryStates.remove({ repositoryId: 1 }));
      expect(await names()).toEqual(['acme/2', 'acme/3']);
      await db.storage.transaction((tx) => tx.repositoryStates.remove({ installationId: 7 }));
      expect(await names()).toEqual(['acme/3']);
      await put(one);
      expect(await names()).toEqual(['acme/1', 'acme/3']);
    });

    it('forgets what a transaction wrote that was rolled back', async () => {
      await db.storage
        .transaction(async (tx) => {
          await tx.repositoryStates.put(repositoryState(), at(0));
          throw new Error('never mind');
        })
        .catch(() => {});
      await put(repositoryState());
      expect(await names()).toEqual(['acme/rocket']);
    });
  });

  describe('what a report counts', () => {
    const ended = (repositoryId: number, name: string, amount: number): Figure => ({
      what: 'ended',
      repositoryId,
      name,
      at: at(0),
      amount,
    });
    const facts = (ids: readonly number[], only = visible) =>
      db.storage.read.insight.ofRepositories({ visible: only, ids, since: at(0) });

    it('sums by repository, and takes back what no longer holds', async () => {
      await db.storage.transaction(async ({ insight }) => {
        insight.add(ended(1, 'failed', 1), ended(1, 'failed', 1), ended(2, 'failed', 1));
      });
      await db.storage.transaction(async ({ insight }) => {
        insight.add(ended(1, 'merged', 1), ended(1, 'failed', -1));
      });
      expect((await facts([1])).figures).toEqual([
        { repositoryId: 1, what: 'ended', name: 'failed', bucket: 0, count: 1 },
        { repositoryId: 1, what: 'ended', name: 'merged', bucket: 0, count: 1 },
      ]);
    });

    it('counts how long a pull request was open once, however often its merge is reported', async () => {
      const place = { repositoryId: 1, number: 3, repository: 'acme/rocket', installationId: 7 };
      const head = { pausedBy: null, headSha: 'abc', previousHeadSha: null, headSeenAt: at(0) };
      const saw = (seconds: number, state: 'open' | 'merged') =>
        db.storage.transaction(({ pullRequests }) => pullRequests.sawState(place, state, at(seconds)));
      await db.storage.transaction(({ pullRequests }) =>
        pullRequests.upsert({ ...place, ...head, updatedAt: at(0) }, { state: 'open', at: at(0) }),
      );
      await saw(50, 'open');
      expect((await facts([1])).leads).toEqual([]);
      await saw(60, 'merged');
      await saw(90, 'merged');
      const bucket = bucketOf(60);
      expect((await facts([1])).leads).toEqual([{ repositoryId: 1, bucket, count: 1 }]);
      const times = await db.storage.read.insight.leadTimes({ visible, since: at(0) });
      expect(times).toEqual([{ day: '2026-01-05', bucket, count: 1 }]);
    });

    it('counts nothing of repositories that are not asked for or not visible', async () => {
      await db.storage.transaction(async ({ insight }) => insight.add(ended(1, 'merged', 1)));
      expect((await facts([2])).figures).toEqual([]);
      expect((await facts([1], Visible.only([2]))).figures).toEqual([]);
    });
  });
}
