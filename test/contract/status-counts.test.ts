import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openSqlite } from '../../src/adapters/sqlite/open.ts';
import type { RunState } from '../../src/domain/run/run.ts';
import { Visible } from '../../src/ports/visible.ts';
import { at, comment, delivery, runState } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';

const folder = temporaryFolders();
const byApp = { kind: 'app' } as const;

/** The calls to storage, in any order: a kind of row, which of a few rows it is, and a status. */
const step = fc.record({
  what: fc.constantFrom('record', 'deliver', 'run', 'effect', 'forget', 'undo'),
  which: fc.integer({ min: 1, max: 4 }),
  status: fc.nat({ max: 2 }),
});

/** The second and the fourth are of another chain; a later one is newer. */
function runOf(which: number): RunState {
  return runState(`run${which}`, { chain: which % 2 === 0 ? 'even' : 'odd', createdAt: at(which) });
}

it('the counts are what counting gives, whatever was recorded, changed, rolled back and deleted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const path = join(folder(), 'test.db');
      const storage = openSqlite(path, { clock: { now: () => at(0) } });
      const beside = new BetterSqlite3(path);
      beside.pragma('foreign_keys = ON');
      try {
        for (const { what, which, status } of steps) {
          const id = `run${which}`;
          await storage
            .transaction(async (tx) => {
              const run = await tx.runs.load(id);
              if (what === 'record' || what === 'undo') await tx.deliveries.record([delivery(`g${which}`)]);
              if (what === 'deliver') {
                const known = await tx.deliveries.byGuid(`g${which}`);
                const to = (['processing', 'done', 'failed'] as const)[status] ?? 'done';
                if (known) await tx.deliveries.setStatus(known.id, to, at(1));
              }
              if (what === 'run' && !run) await tx.runs.insert(runOf(which));
              if (what === 'run' && run) {
                const to = (['running', 'completed', 'failed'] as const)[status] ?? 'failed';
                await tx.runs.save({ ...run, run: { ...run.run, status: to } }, byApp);
              }
              if (what === 'effect') {
                const effect = comment(`body ${status}`);
                await tx.effects.request({
                  id: `e${which}`,
                  key: `k${which}`,
                  effect,
                  runId: null,
                  at: at(0),
                });
                const row = await tx.effects.get(`k${which}`);
                if (row && status > 0) {
                  const to = status === 1 ? 'done' : 'failed';
                  await tx.effects.saveProgress({ ...row, status: to, appliedHash: row.desiredHash });
                }
              }
              if (what === 'undo') throw new Error('undone');
            })
            .catch((error: unknown) => expect(String(error)).toContain('undone'));
          if (what === 'forget') {
            beside.prepare('DELETE FROM chain_runs WHERE id = ?').run(id);
            beside.prepare('DELETE FROM deliveries WHERE guid = ?').run(`g${which}`);
            beside.prepare('DELETE FROM effects WHERE id = ?').run(`e${which}`);
          }
        }
        for (const [table, counts] of [
          ['deliveries', await storage.read.deliveries.countByStatus()],
          ['chain_runs', await storage.read.runs.countByStatus()],
          ['effects', await storage.read.effects.countByStatus()],
        ] as const) {
          const counted = beside
            .prepare<[], { status: string; count: number }>(
              `SELECT status, count(*) AS count FROM ${table} GROUP BY status ORDER BY status`,
            )
            .all();
          const kept = Object.entries(counts)
            .filter(([, count]) => count !== 0)
            .sort();
          expect(kept).toEqual(counted.map(({ status, count }) => [status, count]));
        }
        const chains = await storage.read.operations.chains(Visible.everything(), {});
        const runs = Map.groupBy(
          beside
            .prepare<[], { chain: string; id: string; status: string }>(
              'SELECT chain, id, status FROM chain_runs ORDER BY created_at DESC',
            )
            .all(),
          ({ chain }) => chain,
        );
        expect(chains.map(({ chain, newest, runs }) => ({ chain, newest: newest.id, runs }))).toEqual(
          [...runs].map(([chain, rows]) => ({
            chain,
            newest: rows[0]?.id,
            runs: Object.fromEntries(
              [...Map.groupBy(rows, ({ status }) => status)].map(([status, some]) => [status, some.length]),
            ),
          })),
        );
      } finally {
        beside.close();
        await storage.close();
      }
    }),
    { numRuns: 15 },
  );
});
