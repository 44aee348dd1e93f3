// @module-tag slow
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { systemClock } from '../../src/core/clock.ts';
import { WORKS_NOW } from '../../src/messages/cli/process.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { openWithActors } from '../chaos/actors.ts';
import { problemsOf } from '../chaos/compare.ts';
import { STORIES } from '../chaos/story.ts';
import type { AppProcess } from '../crash/app-process.ts';
import { withoutReview } from '../crash/stories.ts';
import { isAccepted } from '../crash/supervisor.ts';
import { freePort } from '../support/app-environment.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { hasNginx, startNginx, WITHOUT_NGINX } from '../support/nginx.ts';
import {
  databaseOf,
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  WITHOUT_POSTGRES,
} from '../support/postgres.ts';
import { temporaryFolders } from '../support/temp.ts';
import { type Fleet, startFleet } from './fleet.ts';

/** How many deliveries are under way at once while processes end, and how many are answered between two ends. */
const SENDERS = 16;
const BETWEEN = 100;

const newFolder = temporaryFolders();

describe.skipIf(postgresPrograms === undefined || !hasNginx)(
  `two processes behind the proxy of deploy/nginx.conf${WITHOUT_POSTGRES}${WITHOUT_NGINX}`,
  () => {
    let server: PostgresServer;
    let github: GitHubStandIn;
    let fleet: Fleet;
    let storage: Storage;
    let databaseUrl: string;
    let ports: number[];
    let proxy: Awaited<ReturnType<typeof startNginx>>;

    beforeAll(async () => {
      server = await startPostgres();
    });
    beforeEach(async () => {
      github = await startGitHub();
      for (const login of ['mia', 'max', 'ada', 'will', 'otto']) github.addUser(login);
      databaseUrl = await server.newMigrated();
      fleet = await startFleet(github, { databaseUrl, folder: newFolder() });
      storage = await openStorage(databaseUrl);
      ports = [await freePort(), await freePort()];
      proxy = await startNginx(ports.map((port) => `127.0.0.1:${port}`));
      github.setWebhookUrl(`${proxy.url}${WEBHOOK_PATH}`);
    });
    afterEach(async () => {
      await fleet.stop();
      await proxy.stop();
      await storage.close();
      await github.stop();
    });
    afterAll(() => server?.remove());

    const start = (index: number, environment = {}) =>
      fleet.add({ PORT: String(ports[index]), ...environment });

    async function killed(app: AppProcess): Promise<void> {
      app.kill();
      await app.gone;
    }

    /** As GitHub does, but without its record of it. @returns the status of the answer */
    async function deliver(guid: string): Promise<number> {
      const body = JSON.stringify({ zen: 'Practicality beats purity.' });
      const signature = createHmac('sha256', github.app.webhookSecret).update(body).digest('hex');
      const { status } = await fetch(`${proxy.url}${WEBHOOK_PATH}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'ping',
          'x-github-delivery': guid,
          'x-hub-signature-256': `sha256=${signature}`,
        },
        body,
      });
      return status;
    }

    async function recorded(): Promise<string[]> {
      const rows = await server.query('SELECT guid FROM deliveries ORDER BY guid', databaseOf(databaseUrl));
      return rows.map(({ guid }) => String(guid));
    }

    test.each([
      ['is killed', killed],
      ['stops for an update', (app: AppProcess) => app.stop()],
    ])('accept each delivery once and lose none while one after the other %s', async (_, end) => {
      let [first, second] = [await start(0), await start(1)];
      const guids: string[] = [];
      const statuses: number[] = [];
      let isOver = false;
      const sending = Array.from({ length: SENDERS }, async () => {
        while (!isOver) {
          const guid = randomUUID();
          guids.push(guid);
          statuses.push(await deliver(guid));
        }
      });
      const answered = (more: number) => {
        const count = statuses.length + more;
        return fleet.until(`${count} answers`, () => statuses.length >= count || undefined);
      };
      try {
        await answered(BETWEEN);
        await end(first);
        first = await start(0);
        await answered(BETWEEN);
        await end(second);
        second = await start(1);
        await answered(BETWEEN);
      } finally {
        isOver = true;
        await Promise.all(sending);
      }
      expect(statuses).toEqual(guids.map(() => 202));
      expect(await recorded()).toEqual(guids.toSorted());
    });

    test('record a delivery once that the first process was given while it got no processor time', async () => {
      // One that works could be halted in a write. It would keep the lock of all that write for 8 s, and the other could record nothing.
      const first = await start(0, { ROLE: 'web' });
      const second = await start(1);
      await fleet.until('the second to work', () => second.log.find((line) => line.includes(WORKS_NOW)));
      const guids = [randomUUID(), randomUUID()];
      process.kill(first.pid ?? 0, 'SIGSTOP');
      try {
        for (const guid of guids) expect(await deliver(guid)).toBe(202);
      } finally {
        process.kill(first.pid ?? 0, 'SIGCONT');
      }
      expect(await deliver(guids[0] ?? '')).toBe(202);
      expect(await recorded()).toEqual(guids.toSorted());
    });

    test('take a delivery that came first to a process without the role web', async () => {
      await start(0, { ROLE: 'worker' });
      await start(1, { ROLE: 'web' });
      const guids = Array.from({ length: 10 }, () => randomUUID());
      for (const guid of guids) expect(await deliver(guid)).toBe(202);
      expect(await recorded()).toEqual(guids.toSorted());
    });

    test('merge a pull request, and have GitHub deliver nothing twice, although the one that works on it is killed', async () => {
      await start(0);
      await start(1);
      github.addOrganization('octo');
      github.addRepository({
        owner: 'octo',
        name: 'app',
        files: { 'README.md': '# App\n', ...withoutReview.base },
        collaborators: { mia: 'maintain', max: 'admin', ada: 'write', will: 'write' },
      });
      github.installApp('octo');
      const pull = await openWithActors(github, systemClock, {
        repo: 'octo/app',
        name: 'one',
        story: STORIES.countersigned,
      });
      const owner = await fleet.until('a process to do the work of the installation', async () => {
        const [lease] = await server.query(
          'SELECT holder FROM installation_leases JOIN workers ON workers.id = worker WHERE installation_id > 0',
          databaseOf(databaseUrl),
        );
        return lease && fleet.running.find(({ pid }) => JSON.parse(String(lease.holder)).pid === pid);
      });
      await killed(owner);
      await fleet.until('people to act', async () => (await pull.goOn()) || undefined);
      await fleet.until(
        'all to be done',
        async () => (await problemsOf({ github, app: { storage } }, pull)).length === 0 || undefined,
      );
      await github.settle();
      expect(github.merges).toHaveLength(1);
      expect(github.deliveries.filter(({ status }) => !isAccepted(status))).toEqual([]);
      expect(github.deliveries.filter(({ attempts }) => attempts !== 1)).toEqual([]);
    });
  },
);
