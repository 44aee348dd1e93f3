import { describe, expect, it } from 'vitest';
import { aboutNothing, aboutRun, mergedOnce } from '../../src/domain/audit/entry.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { run } from '../support/rows.ts';

const SECRET = `ghp_${'a1B2c3D4e5'.repeat(3)}F6g7H8`;
const byMia = { kind: 'person', login: 'mia' } as const;
const fired = (repository: string, id = 70) => ({
  kind: 'command.carried_out' as const,
  ...aboutNothing(byMia),
  repository: { id, name: repository },
  pull_request: 3,
  verb: 'fire' as const,
  via: { kind: 'comment' as const, comment_id: 9 },
  chain: 'deploy',
  inputs: { token: SECRET },
});

/** The audit log. The database itself prevents changes of its rows. */
export function auditContract(open: OpenDatabase): void {
  const db = useDatabase(open);

  describe('the audit log', () => {
    it('returns lines in their order, with all their fields', async () => {
      const { storage } = db;
      await record(storage, {
        kind: 'run.ended',
        ...aboutRun(run('run_1'), byMia),
        chain: 'pr-review',
        status: 'cancelled',
        reason: 'run.cancelled.by_person',
        summary: 'cancelled by mia',
      });
      await record(storage, fired('acme/rocket'));
      const lines = await storage.read.audit.page({ after: 0, limit: 10 });
      expect(lines.map(({ kind }) => kind)).toEqual(['run.ended', 'command.carried_out']);
      expect(lines[0]?.entry).toEqual({
        by: byMia,
        repository: { id: 70, name: 'acme/rocket' },
        pull_request: 3,
        head_sha: 'a'.repeat(40),
        base_ref: 'main',
        configuration_sha: 'b'.repeat(40),
        run_id: 'run_1',
        chain: 'pr-review',
        status: 'cancelled',
        reason: 'run.cancelled.by_person',
        summary: 'cancelled by mia',
      });
      const after = await storage.read.audit.page({ after: lines[0]?.id ?? 0, limit: 10 });
      expect(after).toEqual(lines.slice(1));
    });

    it('hides secrets in what it gets', async () => {
      const { storage } = db;
      await record(storage, fired('acme/rocket'));
      const lines = await storage.read.audit.page({ after: 0, limit: 10 });
      expect(JSON.stringify(lines)).not.toContain(SECRET);
      expect(lines[0]?.entry).toMatchObject({ chain: 'deploy' });
    });

    it('records an event that can happen only once a single time', async () => {
      const { storage } = db;
      const merged = { ...fired('acme/rocket'), verb: 'cancel' as const };
      await record(storage, merged, mergedOnce(70, 3));
      await record(storage, merged, mergedOnce(70, 3));
      await record(storage, merged, mergedOnce(70, 4));
      expect(await storage.read.audit.page({ after: 0, limit: 10 })).toHaveLength(2);
    });

    it('finds a repository under every name that it had, and no other', async () => {
      const { storage } = db;
      await record(storage, fired('acme/rocket', 70));
      await record(storage, fired('acme/comet', 70));
      await record(storage, fired('acme/moon', 71));
      const named = (repository: string) => storage.read.audit.page({ after: 0, limit: 10, repository });
      expect(await named('acme/comet')).toHaveLength(2);
      expect(await named('acme/moon')).toHaveLength(1);
      expect(await named('acme/sun')).toHaveLength(0);
    });

    it('keeps nothing of a transaction that is rolled back', async () => {
      const { storage } = db;
      const failing = storage.transaction(async (tx) => {
        await tx.audit.record(fired('acme/rocket'));
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await storage.read.audit.page({ after: 0, limit: 10 })).toEqual([]);
    });
  });
}

function record(storage: Storage, ...args: Parameters<Storage['read']['audit']['record']>): Promise<void> {
  return storage.transaction((tx) => tx.audit.record(...args));
}
