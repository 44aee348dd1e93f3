import { describe, expect, it } from 'vitest';
import { copiedDatabase, copyProgress, servedDuringCopy } from '../../src/messages/cli/copy.ts';

const BOTH = { from: 'data/countersign.db', to: 'postgres://db.example.com/countersign' };

describe('a copy of a database', () => {
  it('says how much was copied, and what was not', () => {
    expect(copiedDatabase({ ...BOTH, kind: 'copied', tables: 44, rows: 1, before: 0 })).toMatchInlineSnapshot(
      `"Copied 44 tables and 1 row from data/countersign.db to postgres://db.example.com/countersign, and compared every row. Artifacts were not copied: give the app the same ARTIFACTS_URL as before, or copy that folder to where it then points."`,
    );
  });

  it('says how much an interrupted attempt had copied', () => {
    expect(
      copiedDatabase({ ...BOTH, kind: 'copied', tables: 44, rows: 900, before: 500 }),
    ).toMatchInlineSnapshot(
      `"Copied 44 tables and 900 rows, 500 of them in an earlier attempt, from data/countersign.db to postgres://db.example.com/countersign, and compared every row. Artifacts were not copied: give the app the same ARTIFACTS_URL as before, or copy that folder to where it then points."`,
    );
  });

  it('says that it was finished before', () => {
    const finishedAt = '2026-03-02T09:00:00.000Z';
    expect(copiedDatabase({ ...BOTH, kind: 'already', finishedAt })).toMatchInlineSnapshot(
      `"postgres://db.example.com/countersign is a finished copy of data/countersign.db already, since 2026-03-02T09:00:00.000Z. Nothing was copied."`,
    );
  });

  it('says which process is in its way', () => {
    expect(servedDuringCopy(BOTH.from, undefined)).toMatchInlineSnapshot(
      `"The database data/countersign.db is served by another process; stop that process before the copy. Nothing was copied."`,
    );
  });

  it('says how far it is, also for an empty database', () => {
    expect([copyProgress('copying', 1, 3), copyProgress('comparing', 0, 0)]).toMatchInlineSnapshot(`
      [
        "Copied 33 % …",
        "Compared 100 % …",
      ]
    `);
  });
});
