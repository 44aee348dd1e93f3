// @module-tag slow
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openExistingPostgres, openPostgres } from '../../../src/adapters/postgres/open.ts';
import { placeOf } from '../../../src/adapters/postgres/place.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { hurriedTimers } from '../../support/hurried-timers.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres.ts';
import { at, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';

const clock = { now: () => at(0) };
const newFolder = temporaryFolders();

describe.skipIf(postgresPrograms === undefined)('a storage on PostgreSQL after a failover', () => {
  let former: PostgresServer;
  let present: PostgresServer;
  let url: string;
  let address: string;
  let storage: Storage;

  const insert = (id: string) => storage.transaction((tx) => tx.runs.insert(runState(id)));
  const ids = async () => (await storage.read.runs.list({})).map(({ id }) => id);

  /** What the name of a host is elsewhere. */
  function lead(to: PostgresServer): void {
    rmSync(address, { force: true });
    symlinkSync(to.folder, address);
  }

  beforeEach(async () => {
    address = join(newFolder(), 'server');
    // Durable, so that the standby has each commit before anybody hears of it.
    former = await startPostgres({ durable: true });
    url = (await former.newMigrated()).replace(former.folder, address);
    present = await former.standby();
    lead(former);
    storage = await openPostgres(placeOf(url), { clock, timers: hurriedTimers() });
    await insert('run1');
    await former.down('fast');
    await present.query('SELECT pg_promote()');
    // The primary of before comes back as a standby, and the address still leads there.
    writeFileSync(join(former.folder, 'data', 'standby.signal'), '');
    await former.up();
  });
  afterEach(async () => {
    await storage?.close();
    await present?.remove();
    await former?.remove();
  });

  it('neither writes nor reads on the primary of before, and is not ready', async () => {
    const refused = {
      code: 'storage.unavailable',
      message: expect.stringMatching(/only reads, as a standby does: let DATABASE_URL name the primary\.$/),
    };
    await expect(storage.check()).rejects.toMatchObject(refused);
    await expect(insert('run2')).rejects.toMatchObject(refused);
    await expect(ids()).rejects.toMatchObject(refused);
    await expect(storage.version()).rejects.toMatchObject(refused);
    await expect(storage.check()).rejects.toMatchObject(refused);
  });

  it('goes on without a restart as soon as its address leads to the new primary', async () => {
    // Several at once, so that several connections are open.
    await Promise.allSettled([insert('run2'), ids(), ids(), ids(), storage.check()]);
    lead(present);
    await expect(storage.check()).resolves.toBeUndefined();
    expect(await ids()).toEqual(['run1']);
    await insert('run3');
    expect(await ids()).toEqual(['run3', 'run1']);
  });

  it('reads on the new primary what another process has written there', async () => {
    await Promise.allSettled([ids(), ids(), ids(), ids()]);
    lead(present);
    const other = await openPostgres(placeOf(url), { clock });
    await other.transaction((tx) => tx.runs.insert(runState('run2')));
    await other.close();
    const found = await Promise.all([ids(), ids(), ids(), ids()]);
    expect(found).toEqual(found.map(() => ['run2', 'run1']));
  });

  it('reads on a standby for a command that only reads', async () => {
    const reading = await openExistingPostgres(placeOf(url), { clock, isReadOnly: true });
    expect((await reading.storage.read.runs.list({})).map(({ id }) => id)).toEqual(['run1']);
    await expect(reading.storage.check()).resolves.toBeUndefined();
    await reading.storage.close();
  });
});
