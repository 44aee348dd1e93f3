import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, delivery } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersignOn, jobsIn, parsed, seed, tamper } from './support.ts';

const newFolder = temporaryFolders();
const body = new TextEncoder().encode(
  JSON.stringify({ action: 'opened', repository: { id: 70 }, pull_request: { number: 3 } }),
);

async function withDeliveries() {
  const path = join(newFolder(), 'countersign.db');
  await seed(path, (storage) =>
    storage.transaction(async ({ deliveries }) => {
      const recorded = await deliveries.record([
        delivery('guid-failed', { body }),
        delivery('guid-done', { body }),
        delivery('guid-new', { body }),
      ]);
      const [failed, done] = recorded.map(({ id }) => id);
      await deliveries.setStatus(failed ?? 0, 'failed', at(5), 'GitHub said no');
      await deliveries.setStatus(done ?? 0, 'done', at(5));
    }),
  );
  return { path, run: countersignOn(path) };
}

describe('delivery list', () => {
  it('shows deliveries, newest first, that match the options', async () => {
    const { run } = await withDeliveries();
    const { stdout } = await run('delivery', 'list');
    const [headings, ...rows] = stdout.trimEnd().split('\n');
    expect(headings).toMatch(/^DELIVERY +GUID +EVENT +STATUS +ATTEMPTS +RECEIVED +ERROR$/);
    expect(rows.map((row) => row.split(/ {2,}/)[1])).toEqual(['guid-new', 'guid-done', 'guid-failed']);
    expect(parsed(await run('delivery', 'list', '--status', 'failed', '--json'))).toEqual([
      {
        id: 1,
        guid: 'guid-failed',
        event: 'pull_request',
        action: 'opened',
        status: 'failed',
        attempts: 1,
        error: 'GitHub said no',
        received_at: at(0).toISOString(),
        finished_at: at(5).toISOString(),
      },
    ]);
  });
});

describe('delivery list with a damaged archive', () => {
  it('lists the others, names the archive and fails', { tags: 'slow' }, async () => {
    const path = join(newFolder(), 'countersign.db');
    await seed(path, async (storage) => {
      const names = Array.from({ length: 260 }, (_, index) => `guid-${index}`);
      await storage.transaction(async ({ deliveries }) => {
        const recorded = await deliveries.record(
          names.map((guid) => delivery(guid, { body, queueKey: null })),
        );
        for (const { id } of recorded) await deliveries.setStatus(id, 'done', at(5));
      });
      for (const _ of [1, 2]) {
        const archived = await storage.transaction((tx) => tx.deliveries.archive(at(9), at(9)));
        expect(archived).toBe(true);
      }
    });
    tamper(path, 'UPDATE delivery_archives SET content = zeroblob(40) WHERE first_id = 1');
    const { code, stdout, stderr } = await countersignOn(path)(
      'delivery',
      'list',
      '--limit',
      '1000',
      '--json',
    );
    const guids = (JSON.parse(stdout) as { guid: string }[]).map(({ guid }) => guid);
    expect(guids).toEqual(Array.from({ length: 132 }, (_, index) => `guid-${259 - index}`));
    expect(stderr).toMatch(/^The row 128 of the table delivery_archives cannot be read: /);
    expect(code).toBe(1);
  });
});

describe('delivery replay', () => {
  it.each(['guid-failed', 'guid-done'])('makes %s new and queues it under its pull request', async (guid) => {
    const { path, run } = await withDeliveries();
    const { code, stdout } = await run('delivery', 'replay', guid);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Asked for: the app processes ${guid} (pull_request.opened) again at once, or when it next runs.\n`,
    });
    const deliveries = parsed(await run('delivery', 'list', '--json')) as { id: number; guid: string }[];
    const replayed = deliveries.find((one) => one.guid === guid);
    expect(replayed).toMatchObject({ status: 'received', error: null, finished_at: null });
    expect(jobsIn(path)).toEqual([
      { kind: 'delivery', key: 'pr:70#3', payload: { deliveryId: replayed?.id } },
    ]);
  });

  it('takes the number of a delivery, too', async () => {
    const { run } = await withDeliveries();
    const [newest] = parsed(await run('delivery', 'list', '--status', 'done', '--json')) as { id: number }[];
    expect((await run('delivery', 'replay', String(newest?.id))).code).toBe(0);
  });

  it.each([
    ['guid-new', 'The delivery guid-new waits to be processed, so there is nothing to replay.\n'],
    [
      'guid-none',
      'There is no delivery guid-none: give the number or the GUID of one that countersign delivery list shows.\n',
    ],
  ])('of %s fails and queues nothing', async (guid, stderr) => {
    const { path, run } = await withDeliveries();
    expect(await run('delivery', 'replay', guid)).toEqual({ code: 1, stdout: '', stderr });
    expect(jobsIn(path)).toEqual([]);
  });
});
