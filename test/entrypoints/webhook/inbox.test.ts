import { cpSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type InboxWriter, openInbox, readInbox } from '../../../src/adapters/sqlite/inbox.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createDrain, takenFrom } from '../../../src/entrypoints/webhook/delivery/drain.ts';
import type { NewDelivery, Storage } from '../../../src/ports/storage.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { fullQueue } from './support.ts';

const newFolder = temporaryFolders();

function delivery(guid: string, body = `{"guid":"${guid}"}`): NewDelivery {
  return {
    guid,
    event: 'push',
    action: null,
    installationId: 7,
    body: Buffer.from(body),
    receivedAt: new Date('2026-03-02T09:00:00.000Z'),
    queueKey: 'repo:1',
  };
}

/** An inbox with its reader, and a database, in files that can be closed and opened again. */
async function scene() {
  const path = join(newFolder(), 'countersign.db-inbox');
  const storage = await openStorage(`sqlite:${path.slice(0, -'-inbox'.length)}`);
  onTestFinished(() => storage.close());
  let inbox = openInbox(path);
  onTestFinished(() => inbox.close());
  const taken: number[] = [];
  const errors: object[] = [];
  const remove = () => {
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
  };
  return {
    path,
    storage,
    errors,
    taken,
    inbox: () => inbox,
    /** @param meanwhile happens to the file while it is closed */
    async reopen(meanwhile = () => {}): Promise<InboxWriter> {
      inbox.close();
      meanwhile();
      inbox = openInbox(path);
      inbox.startAfter(await takenFrom(inbox, storage));
      return inbox;
    },
    remove,
    /** Returns what puts the copy back. */
    copy(): () => void {
      const copied = `${path}-copy`;
      inbox.close();
      cpSync(path, copied);
      inbox = openInbox(path);
      return () => {
        remove();
        cpSync(copied, path);
      };
    },
    drainOf: (to: Pick<Storage, 'transaction' | 'read'> = storage) =>
      createDrain({
        inbox: readInbox(path),
        storage: to,
        queue: fullQueue(),
        onTaken: (last) => void taken.push(last),
        clock: systemClock,
        log: { ...silentLog, error: (fields) => void errors.push(fields) },
      }),
    read: () => readInbox(path),
    guids: async () => (await storage.read.deliveries.list({ limit: 100 })).map(({ guid }) => guid).reverse(),
  };
}

describe('the inbox', () => {
  it('gives back what was recorded, byte for byte and in order', async () => {
    const { inbox, read } = await scene();
    const all = [delivery('a', '{"text":"ü\\u0000"}'), delivery('b', 'x'.repeat(600_000)), delivery('c')];
    inbox().record(all);
    inbox().record([delivery('d')]);
    const reader = read();
    onTestFinished(() => reader.close());
    const found = reader.after(0, 100).flatMap(({ deliveries }) => deliveries);
    expect(found.map(({ guid }) => guid)).toEqual(['a', 'b', 'c', 'd']);
    for (const [index, { body, ...rest }] of [...all, delivery('d')].entries()) {
      const { body: foundBody, ...foundRest } = found[index] ?? delivery('none');
      expect(Buffer.from(foundBody).equals(body)).toBe(true);
      expect(foundRest).toEqual(rest);
    }
  });

  it('never gives a number out again, although everything before was forgotten and the file opened again', async () => {
    const { inbox, reopen, read } = await scene();
    inbox().record([delivery('a')]);
    const first = read();
    const [{ id } = { id: 0 }] = first.after(0, 1);
    first.close();
    inbox().forget(id);
    (await reopen()).record([delivery('b')]);
    const second = read();
    expect(second.after(0, 10).map((commit) => commit.id)).toEqual([id + 1]);
    second.close();
  });
});

describe('the log of the inbox', () => {
  it('has its space before the first delivery, and does not grow with those that come', async () => {
    const { inbox, path, read } = await scene();
    inbox().allocateLog();
    const allocated = statSync(`${path}-wal`).size;
    expect(allocated).toBeGreaterThan(8_000_000);
    // More than the log holds.
    for (let index = 1; index <= 40; index++) {
      inbox().record([delivery(`${index}`, 'x'.repeat(240_000))]);
      inbox().forget(index - 1);
    }
    expect(statSync(`${path}-wal`).size).toBe(allocated);
    const reader = read();
    onTestFinished(() => reader.close());
    expect(reader.after(0, 1_000).map(({ id }) => id)).toEqual([39, 40]);
  });

  it('leaves nothing in the inbox, also if the process dies before the first delivery', async () => {
    const { inbox, path } = await scene();
    inbox().allocateLog();
    const copied = `${path}-copy`;
    for (const end of ['', '-wal']) cpSync(path + end, copied + end);
    const found = openInbox(copied);
    onTestFinished(() => found.close());
    const reader = readInbox(copied);
    onTestFinished(() => reader.close());
    expect(reader.after(0, 10)).toEqual([]);
    found.record([delivery('a')]);
    expect(reader.after(0, 10).map(({ id, deliveries }) => [id, deliveries[0]?.guid])).toEqual([[1, 'a']]);
  });
});

describe('the drain', () => {
  it('moves everything to the database, once, and tells the inbox', async () => {
    const { inbox, drainOf, storage, guids, taken } = await scene();
    inbox().record([delivery('a'), delivery('b')]);
    inbox().record([delivery('c')]);
    const drain = drainOf();
    await drain.drain();
    await drain.drain();
    await drain.stop();
    expect(await guids()).toEqual(['a', 'b', 'c']);
    expect(taken).toEqual([2]);
    expect(new TextDecoder().decode((await storage.read.deliveries.byGuid('b'))?.body)).toBe('{"guid":"b"}');
  });

  it('does not move again what a process had moved that died before the inbox forgot it', async () => {
    const { inbox, drainOf, storage } = await scene();
    inbox().record([delivery('a')]);
    const before = drainOf();
    await before.drain();
    await before.stop();
    const { id = 0 } = (await storage.read.deliveries.byGuid('a')) ?? {};
    await storage.transaction((tx) => tx.deliveries.setStatus(id, 'failed', new Date(), 'unreadable'));
    const after = drainOf();
    await after.drain();
    await after.stop();
    expect((await storage.read.deliveries.byGuid('a'))?.status).toBe('failed');
  });

  it('moves what comes to an inbox that took the place of another one', async () => {
    const { inbox, reopen, remove, drainOf, guids } = await scene();
    inbox().record([delivery('a')]);
    inbox().record([delivery('b')]);
    const before = drainOf();
    await before.drain();
    await before.stop();
    (await reopen(remove)).record([delivery('c')]);
    const after = drainOf();
    await after.drain();
    await after.stop();
    expect(await guids()).toEqual(['a', 'b', 'c']);
  });

  it('moves what comes to an older copy of the inbox, as after a backup was put back', async () => {
    const { inbox, copy, reopen, drainOf, guids } = await scene();
    inbox().record([delivery('a')]);
    const putBack = copy();
    inbox().record([delivery('b')]);
    inbox().record([delivery('c')]);
    const before = drainOf();
    await before.drain();
    await before.stop();
    (await reopen(putBack)).record([delivery('d')]);
    const after = drainOf();
    await after.drain();
    inbox().record([delivery('e')]);
    await after.drain();
    await after.stop();
    expect(await guids()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('moves what came after a commit that cannot be read any more, and logs whose bodies are lost', async () => {
    const { inbox, path, drainOf, guids, errors } = await scene();
    inbox().record([delivery('a'), delivery('b')]);
    inbox().record([delivery('c')]);
    const raw = new BetterSqlite3(path);
    raw.prepare("UPDATE recorded SET bytes = x'00' WHERE id = 1").run();
    raw.close();
    const drain = drainOf();
    await drain.drain();
    await drain.stop();
    expect(await guids()).toEqual(['c']);
    expect(errors).toEqual([expect.objectContaining({ deliveries: ['a', 'b'] })]);
  });

  it('tries again after the database failed, and loses nothing', { tags: 'slow' }, async () => {
    const { inbox, drainOf, storage, guids, taken } = await scene();
    inbox().record([delivery('a')]);
    let failures = 1;
    const drain = drainOf({
      read: storage.read,
      transaction(work) {
        if (failures-- > 0) return Promise.reject(new Error('the disk is full'));
        return storage.transaction(work);
      },
    });
    drain.wake();
    await expect.poll(guids).toEqual(['a']);
    await expect.poll(() => taken).toEqual([1]);
    await drain.stop();
  });
});
