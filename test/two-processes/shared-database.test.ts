// @module-tag slow
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/adapters/postgres/open.ts';
import { placeOf } from '../../src/adapters/postgres/place.ts';
import { systemClock } from '../../src/core/clock.ts';
import { SERVED_BY_ANOTHER_NOW, WORKS_NOW } from '../../src/messages/cli/process.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { type Actors, openWithActors } from '../chaos/actors.ts';
import { problemsOf } from '../chaos/compare.ts';
import { draw } from '../chaos/draw.ts';
import { STORIES, type StoryName } from '../chaos/story.ts';
import type { AppProcess } from '../crash/app-process.ts';
import { withoutReview } from '../crash/stories.ts';
import { redeliverUnanswered } from '../crash/supervisor.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { hasPgBouncer, startPgBouncer, WITHOUT_PGBOUNCER } from '../support/pgbouncer.ts';
import {
  databaseOf,
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  WITHOUT_POSTGRES,
} from '../support/postgres.ts';
import { temporaryFolders } from '../support/temp.ts';
import { type Fleet, send, startFleet } from './fleet.ts';
import { checkOutFormerVersion, hasFormerVersion, WITHOUT_FORMER_VERSION } from './former-version.ts';
import { startPostgresProxy } from './postgres-proxy.ts';

/** `COUNTERSIGN_LONG=1` has 200 pull requests, and kills one of three processes every few seconds. */
const LONG = process.env.COUNTERSIGN_LONG === '1';
const SEED = Number(process.env.COUNTERSIGN_SEED ?? 20_260_302);
const PULL_REQUESTS = LONG ? 200 : 4;
const OWNERS = LONG ? 20 : 2;
const KILLS = LONG ? 40 : 2;

/** Those in which nobody pauses for minutes. */
const QUICK: readonly StoryName[] = [
  'countersigned',
  'pushed again after the question',
  'countersigned by thumb',
  'merged by hand',
  'closed after the question',
  'pushed again before anybody was asked',
  'left alone',
];

const newFolder = temporaryFolders();

describe.skipIf(postgresPrograms === undefined)(`processes that share a database${WITHOUT_POSTGRES}`, () => {
  let server: PostgresServer;
  let github: GitHubStandIn;
  let fleet: Fleet;
  let storage: Storage;
  let databaseUrl: string;

  beforeAll(async () => {
    server = await startPostgres();
  });
  beforeEach(async () => {
    github = await startGitHub();
    for (const login of ['mia', 'max', 'ada', 'will', 'otto']) github.addUser(login);
    databaseUrl = await server.newMigrated();
    fleet = await startFleet(github, { databaseUrl, folder: newFolder() });
    storage = await openPostgres(placeOf(databaseUrl), { clock: systemClock });
  });
  afterEach(async () => {
    await fleet.stop();
    await storage.close();
    await github.stop();
  });
  afterAll(() => server?.remove());

  const installations = new Map<string, number>();
  const installationOf = (repo: string) => installations.get(repo) ?? 0;

  function addRepository(owner: string): string {
    github.addOrganization(owner);
    github.addRepository({
      owner,
      name: 'app',
      files: { 'README.md': '# App\n', ...withoutReview.base },
      collaborators: { mia: 'maintain', max: 'admin', ada: 'write', will: 'write' },
    });
    installations.set(`${owner}/app`, github.installApp(owner));
    return `${owner}/app`;
  }

  const open = (repo: string, name: string, story: StoryName) =>
    openWithActors(github, systemClock, { repo, name, story: STORIES[story] });

  /** One after another: the reads of hundreds would wait for each other for longer than a connection may take. */
  async function problems(pulls: readonly Actors[]): Promise<string[]> {
    const found: string[] = [];
    for (const pull of pulls) found.push(...(await problemsOf({ github, app: { storage } }, pull)));
    return found;
  }

  /** Until people have done everything, and all is as it must be. */
  async function settled(pulls: readonly Actors[]): Promise<void> {
    try {
      for (const pull of pulls)
        await fleet.until('people to act', async () => (await pull.goOn()) || undefined);
      await fleet.until('all to be done', async () => (await problems(pulls)).length === 0 || undefined);
    } catch (error) {
      expect(await problems(pulls)).toEqual([]);
      throw error;
    }
  }

  const saying = (text: string) => (line: string) => line.includes(text);

  /** The process that does the work of the repository's installation, and the others. */
  async function ownerOf(repo: string): Promise<{ owner: AppProcess; others: AppProcess[] }> {
    const owner = await fleet.until('a process to do the work of the installation', async () => {
      const holders = await leases();
      return fleet.running.find(({ pid }) => holders.get(installationOf(repo)) === pid);
    });
    return { owner, others: fleet.running.filter((one) => one !== owner) };
  }

  /** By the id of the installation: the process that has its lease. */
  async function leases(): Promise<Map<number, number>> {
    const rows = await server.query(
      'SELECT installation_id, holder FROM installation_leases JOIN workers ON workers.id = worker',
      databaseOf(databaseUrl),
    );
    return new Map(
      rows.map((row) => [Number(row.installation_id), JSON.parse(String(row.holder)).pid as number]),
    );
  }

  const works = (app: AppProcess) =>
    fleet.until('the process to work', () => app.log.find(saying(WORKS_NOW)));

  test('divide the installations between them, each of which is worked on by one', async () => {
    const token = 'a-token-only-for-tests';
    const first = await fleet.add({ METRICS_TOKEN: token });
    await works(first);
    const repositories = ['octo', 'hexa', 'tri'].map(addRepository);
    const pulls: Actors[] = [];
    for (const repo of repositories) pulls.push(await open(repo, 'one', 'countersigned'));
    await settled(pulls);
    const second = await fleet.add({ METRICS_TOKEN: token });
    await works(second);
    // By chance, the second may get none of the first three, but perhaps the app's own work, which has the number 0.
    const haveInstallations = async () =>
      new Set([...(await leases())].filter(([id]) => id > 0).map(([, pid]) => pid)).size;
    for (let n = 0; (await haveInstallations()) < 2; n++) {
      const pull = await open(addRepository(`more-${n}`), 'one', 'countersigned');
      pulls.push(pull);
      await settled([pull]);
    }
    for (const repo of repositories) pulls.push(await open(repo, 'two', 'countersigned'));
    await settled(pulls);
    const had = (app: AppProcess) => app.log.some(saying('this process now does the work of installation'));
    expect(fleet.running.map(had)).toEqual([true, true]);
    const shown = async ({ url }: { url: string }) => {
      const headers = { authorization: `Bearer ${token}` };
      const text = await (await fetch(new URL('/metrics', url), { headers })).text();
      return Number(/^countersign_leases\{of="installations"\} (\d+)$/m.exec(text)?.[1]);
    };
    await fleet.until('the metrics to show the leases', async () => {
      const holders = [...(await leases())].filter(([id]) => id > 0).map(([, pid]) => pid);
      const counts = [first, second].map(({ pid }) => holders.filter((holder) => holder === pid).length);
      return String(await Promise.all([first, second].map(shown))) === String(counts) || undefined;
    });
    expect(github.merges).toHaveLength(pulls.length);
  });

  test('go on with the work of the one that is killed', async () => {
    const repo = addRepository('octo');
    await works(await fleet.add());
    await works(await fleet.add());
    const pull = await open(repo, 'one', 'countersigned');
    await fleet.until('people to act', async () => (await pull.goOn()) || undefined);
    const { owner } = await ownerOf(repo);
    owner.kill();
    await owner.gone;
    await settled([pull]);
  });

  test('keep the pause that GitHub asked the killed one for', async () => {
    const pauseMs = 40_000;
    const repo = addRepository('octo');
    await works(await fleet.add());
    await fleet.add();
    const first = await open(repo, 'first', 'countersigned');
    await settled([first]);
    const { owner } = await ownerOf(repo);

    const ofInstallation = ({ path }: { path: string }) => path.startsWith(`/repos/${repo}`);
    const refused = github.fail(ofInstallation, {
      status: 403,
      headers: { 'retry-after': String(pauseMs / 1_000) },
      body: { message: 'You have exceeded a secondary rate limit.' },
    });
    const sentAt: number[] = [];
    github.onRequest((request) => {
      if (ofInstallation(request)) sentAt.push(Date.now());
    });
    const second = await open(repo, 'second', 'countersigned');
    await fleet.until('GitHub to ask for a pause', () => sentAt[0]);
    await fleet.until(
      'the pause to be recorded',
      async () =>
        (
          await server.query(
            "SELECT name FROM cursors WHERE name LIKE 'github-limit:%'",
            databaseOf(databaseUrl),
          )
        )[0],
    );
    const pausedAt = Date.now();
    const before = sentAt.length;
    owner.kill();
    refused();
    await settled([second]);
    expect(sentAt[before]).toBeGreaterThan(pausedAt + pauseMs - 5_000);
  });

  test('go on at once with the work of the one that stops', async () => {
    const repo = addRepository('octo');
    await works(await fleet.add());
    await works(await fleet.add());
    const pulls = [await open(repo, 'one', 'countersigned')];
    await settled(pulls);
    const { owner, others } = await ownerOf(repo);
    await owner.stop();
    await fleet.until('the other to have the lease', async () =>
      (await leases()).get(installationOf(repo)) === others[0]?.pid ? true : undefined,
    );
    pulls.push(await open(repo, 'two', 'countersigned'));
    await settled(pulls);
  });

  test('do nothing twice when one gets no processor time for longer than its lease', async () => {
    const repo = addRepository('octo');
    await works(await fleet.add());
    await works(await fleet.add());
    const pull = await open(repo, 'one', 'countersigned');
    await fleet.until('people to act', async () => (await pull.goOn()) || undefined);
    const { owner, others } = await ownerOf(repo);
    process.kill(owner.pid ?? 0, 'SIGSTOP');
    await fleet.until('the other to have the lease', async () =>
      (await leases()).get(installationOf(repo)) === others[0]?.pid ? true : undefined,
    );
    process.kill(owner.pid ?? 0, 'SIGCONT');
    expect(await owner.gone).toEqual({ code: 1, signal: null });
    expect(owner.log.some(saying(SERVED_BY_ANOTHER_NOW))).toBe(true);
    await settled([pull]);
  });

  test.each([
    ['is healed', 'resume'],
    ['is healed for new connections only', 'forgotten'],
  ] as const)(
    'do nothing twice when the network between one and the database is cut, and %s',
    async (_, old) => {
      const repo = addRepository('octo');
      const network = await startPostgresProxy(server.folder);
      try {
        const first = await fleet.add({ DATABASE_URL: network.urlFor(databaseUrl) });
        await fleet.until('the first to work', () => first.log.find(saying(WORKS_NOW)));
        const pull = await open(repo, 'one', 'countersigned');
        await fleet.until('people to act', async () => (await pull.goOn()) || undefined);
        network.cut();
        await fleet.add();
        await pull.goOn();
        await settled([pull]);
        expect(first.log.some(saying(SERVED_BY_ANOTHER_NOW))).toBe(false);
        network.heal(old);
        expect(await first.gone).toEqual({ code: 1, signal: null });
        expect(first.log.some(saying(SERVED_BY_ANOTHER_NOW))).toBe(true);
        const merges = github.merges.length;
        await settled([pull, await open(repo, 'two', 'countersigned')]);
        expect(github.merges).toHaveLength(merges + 1);
      } finally {
        await network.stop();
      }
    },
  );

  test.each([
    ['ahead', 60_000],
    ['behind', -60_000],
  ])('agree on who works when the clock of one is a minute %s', async (_, aheadMs) => {
    const repo = addRepository('octo');
    const first = await fleet.add();
    await fleet.until('the first to work', () => first.log.find(saying(WORKS_NOW)));
    const second = await fleet.add({
      NODE_OPTIONS: `--import=${new URL('shifted-clock.ts', import.meta.url)}`,
      COUNTERSIGN_CLOCK_AHEAD_MS: String(aheadMs),
    });
    await works(second);
    // The one whose clock is wrong takes these webhooks, whoever works on them.
    const pulls = [await open(repo, 'one', 'countersigned')];
    await settled(pulls);
    pulls.push(await open(repo, 'two', 'countersigned'));
    await fleet.until('people to act', async () => (await pulls[1]?.goOn()) || undefined);
    const { owner } = await ownerOf(repo);
    owner.kill();
    await owner.gone;
    await settled(pulls);
    expect(github.merges.map(({ number }) => number).sort()).toEqual(pulls.map(({ number }) => number));
  });

  test.skipIf(!hasFormerVersion)(
    `hand the work over from the former version to this one, which changes its tables meanwhile${WITHOUT_FORMER_VERSION}`,
    async () => {
      const former = checkOutFormerVersion('alone');
      try {
        const repo = addRepository('octo');
        const own = { DATABASE_URL: await server.newDatabase() };
        const pulls: Actors[] = [];
        const openOne = async () => {
          const pull = await open(repo, `part-${pulls.length}`, 'countersigned');
          pulls.push(pull);
          await fleet.until('people to act', async () => (await pull.goOn()) || undefined);
        };
        const old = await fleet.add(own, former.root);
        await fleet.until('the former version to work', () =>
          old.log.find(saying('this process does the work now')),
        );
        await openOne();
        const present = await fleet.add(own);
        await storage.close();
        storage = await openPostgres(placeOf(own.DATABASE_URL), { clock: systemClock });
        // This one takes the webhook, and the former one works on it.
        await openOne();
        await settled(pulls);
        expect(present.log.some(saying(WORKS_NOW))).toBe(false);
        await openOne();
        await old.stop();
        await fleet.until('this version to work', () => present.log.find(saying(WORKS_NOW)));
        await openOne();
        await settled(pulls);
        expect(github.merges).toHaveLength(pulls.length);
      } finally {
        former.remove();
      }
    },
  );

  test.skipIf(!hasFormerVersion)(
    `divide the work between the former version and this one, which changes its tables meanwhile${WITHOUT_FORMER_VERSION}`,
    async () => {
      const former = checkOutFormerVersion('sharing');
      try {
        databaseUrl = await server.newDatabase();
        const own = { DATABASE_URL: databaseUrl };
        const repositories = ['octo', 'hexa', 'tri', 'tetra', 'penta', 'deca'].map(addRepository);
        const old = await fleet.add(own, former.root);
        await works(old);
        const pulls: Actors[] = [];
        const openEverywhere = async (name: string) => {
          for (const repo of repositories) pulls.push(await open(repo, name, 'countersigned'));
        };
        await openEverywhere('one');
        await storage.close();
        storage = await openPostgres(placeOf(databaseUrl), { clock: systemClock });
        await settled(pulls);

        const present = await fleet.add(own);
        await works(present);
        // By chance, this one may get none of the first six.
        for (let n = 0; new Set((await leases()).values()).size < 2; n++) {
          const pull = await open(addRepository(`more-${n}`), 'one', 'countersigned');
          pulls.push(pull);
          await settled([pull]);
        }
        await openEverywhere('two');
        await settled(pulls);
        await openEverywhere('three');
        old.kill();
        await settled(pulls);
        expect(present.log.some(saying('this process now does the work of installation'))).toBe(true);
        expect(github.merges).toHaveLength(pulls.length);
      } finally {
        former.remove();
      }
    },
  );

  test.skipIf(!hasPgBouncer)(`work through PgBouncer in transaction mode${WITHOUT_PGBOUNCER}`, async () => {
    const repo = addRepository('octo');
    const bouncer = await startPgBouncer(server.folder);
    try {
      const through = { DATABASE_URL: bouncer.urlFor(databaseUrl) };
      const first = await fleet.add(through);
      await fleet.until('the first to work', () => first.log.find(saying(WORKS_NOW)));
      const second = await fleet.add(through);
      const pull = await open(repo, 'one', 'countersigned');
      await fleet.until('people to act', async () => (await pull.goOn()) || undefined);
      first.kill();
      await first.gone;
      await settled([pull]);
      await second.stop();
    } finally {
      await bouncer.stop();
    }
  });

  test('go on when their database fails over to a standby that has every commit', async () => {
    const primary = await startPostgres({ durable: true });
    const url = await primary.newMigrated();
    const standby = await primary.standby();
    // What an address of the service is elsewhere.
    const address = join(newFolder(), 'server');
    symlinkSync(primary.folder, address);
    try {
      const app = await fleet.add({ DATABASE_URL: url.replace(primary.folder, address) });
      const pulls = [
        await open(addRepository('octo'), 'one', 'countersigned'),
        await open(addRepository('hexa'), 'two', 'countersigned'),
      ];
      await fleet.until('people to act', async () => (await pulls[0]?.goOn()) || undefined);
      await primary.down('immediate');
      await standby.query('SELECT pg_promote()');
      rmSync(address);
      symlinkSync(standby.folder, address);
      await storage.close();
      storage = await openPostgres(placeOf(url.replace(primary.folder, standby.folder)), {
        clock: systemClock,
      });
      await settled(pulls);
      await app.stop();
    } finally {
      await standby.remove();
      await primary.remove();
    }
  });

  test('have the roles of their settings: one takes webhooks, one works, one does what belongs to no installation', async () => {
    const repo = addRepository('octo');
    const worker = await fleet.add({ ROLE: 'worker' });
    const scheduler = await fleet.add({ ROLE: 'scheduler' });
    const web = await fleet.add({ ROLE: 'web' });
    expect(await send(worker.url, {}, Buffer.from('{}'))).toBe(503);
    // So a proxy must know otherwise which processes take webhooks.
    expect((await fetch(new URL('/readyz', worker.url))).status).toBe(200);
    await settled([await open(repo, 'one', 'countersigned')]);
    expect(web.log.some(saying(WORKS_NOW))).toBe(false);
    const divided = await leases();
    expect([divided.get(0), divided.get(installationOf(repo))]).toEqual([scheduler.pid, worker.pid]);
    const pages = await Promise.all([worker, web].map(({ url }) => fetch(new URL('/', url))));
    expect(pages.map(({ status }) => status)).toEqual([404, 404]);
  });

  test('show in Studio of one that does not work what the one that works does, as it happens', async () => {
    const repo = addRepository('octo');
    const first = await fleet.add();
    await fleet.until('the first to work', () => first.log.find(saying(WORKS_NOW)));
    const second = await fleet.add({ ROLE: 'web,studio', STUDIO: 'on', STUDIO_PUBLIC: 'read' });
    const pull = await open(repo, 'one', 'countersigned');
    const page = async (path: string) => (await fetch(new URL(path, second.url))).text();
    const run = await fleet.until('the run', async () => /run_\w+/.exec(await page('/runs'))?.[0]);
    const stream = await fetch(new URL(`/runs/${run}/events`, second.url));
    let received = '';
    const reading = (async () => {
      for await (const text of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        received += text;
        if (received.includes('Merged: countersigned by')) return;
      }
    })();
    expect(received).not.toContain('Merged: countersigned by');
    await settled([pull]);
    await fleet.until('the page to change', () => received.includes('Merged: countersigned by') || undefined);
    await reading;
    expect(second.log.some(saying(WORKS_NOW))).toBe(false);
  });

  test(`end ${PULL_REQUESTS} pull requests correctly while one of three is killed again and again`, async () => {
    const repositories = Array.from({ length: OWNERS }, (_, index) => addRepository(`owner-${index}`));
    for (let index = 0; index < 3; index++) await fleet.add();
    const pulls: Actors[] = [];
    for (let index = 0; index < PULL_REQUESTS; index++) {
      const [repo = '', story = 'countersigned'] = [
        repositories[index % OWNERS],
        QUICK[(index + Math.floor(draw(SEED, 'first') * QUICK.length)) % QUICK.length],
      ];
      pulls.push(await open(repo, `part-${index}`, story));
      if (index % Math.ceil(PULL_REQUESTS / KILLS) === 0) await killOne(index);
      for (const pull of pulls) await pull.goOn();
    }
    await redeliverUnanswered(github);
    await settled(pulls);
    const merged = github.merges.map(({ repo, number }) => `${repo}#${number}`);
    expect(new Set(merged).size).toBe(merged.length);
  });

  async function killOne(index: number): Promise<void> {
    const victim = fleet.running[Math.floor(draw(SEED, 'victim', index) * fleet.running.length)];
    victim?.kill();
    await victim?.gone;
    await fleet.add();
  }
});
