// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { WORKS_NOW } from '../../src/messages/cli/process.ts';
import { openWithActors } from '../chaos/actors.ts';
import { STORIES } from '../chaos/story.ts';
import { withoutReview } from '../crash/stories.ts';
import { countersignProcess } from '../entrypoints/cli/support.ts';
import { post, signedIn } from '../support/browser.ts';
import { OAUTH_CLIENT } from '../support/github/oauth.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import {
  databaseOf,
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  WITHOUT_POSTGRES,
} from '../support/postgres.ts';
import { temporaryFolders } from '../support/temp.ts';
import { type Fleet, startFleet } from './fleet.ts';

const REPO = 'octo/app';
const HOUR_MS = 3_600_000;

/** A machine whose clock is an hour ahead, so that no slow test takes a right time for a wrong one. */
const AHEAD = {
  NODE_OPTIONS: `--import=${new URL('shifted-clock.ts', import.meta.url)}`,
  COUNTERSIGN_CLOCK_AHEAD_MS: String(HOUR_MS),
};

describe.skipIf(postgresPrograms === undefined)(
  `what people ask for on a machine whose clock is ahead of the database's${WITHOUT_POSTGRES}`,
  () => {
    const newFolder = temporaryFolders();
    let server: PostgresServer;
    let github: GitHubStandIn;
    let fleet: Fleet;
    let databaseUrl: string;
    let number: number;

    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server?.remove());

    /** A run. Nobody works any more, so what they ask for stays where it is. */
    beforeEach(async () => {
      github = await startGitHub();
      for (const login of ['mia', 'max', 'ada', 'will', 'otto']) github.addUser(login);
      github.addOrganization('octo');
      github.addRepository({
        owner: 'octo',
        name: 'app',
        files: { 'README.md': '# App\n', ...withoutReview.base },
        collaborators: { mia: 'maintain', max: 'admin', ada: 'write', will: 'write' },
      });
      github.installApp('octo');
      databaseUrl = await server.newMigrated();
      fleet = await startFleet(github, { databaseUrl, folder: newFolder() });
      const worker = await fleet.add();
      await fleet.until('the process to work', () => worker.log.find((line) => line.includes(WORKS_NOW)));
      ({ number } = await openWithActors(github, systemClock, {
        repo: REPO,
        name: 'one',
        story: STORIES['left alone'],
      }));
      await fleet.until('the run', async () => (await query('SELECT 1 FROM chain_runs'))[0]);
      await worker.stop();
    });
    afterEach(async () => {
      await fleet.stop();
      await github.stop();
    });

    const query = (sql: string) => server.query(sql, databaseOf(databaseUrl));

    /** Whether these moments are not in the future by the database's clock. */
    async function havePassed(...moments: unknown[]): Promise<boolean> {
      const [row] = await query('SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now');
      const times = moments.map((moment) => Date.parse(String(moment)));
      expect(times.every(Number.isFinite)).toBe(true);
      return times.every((time) => time <= Number(row?.now) + HOUR_MS / 2);
    }

    it('by a button of Studio or a webhook is due at once, and has the time at which they did', async () => {
      const { url } = await fleet.add({
        ...AHEAD,
        ROLE: 'web,studio',
        STUDIO: 'on',
        GITHUB_CLIENT_ID: OAUTH_CLIENT.clientId,
        GITHUB_CLIENT_SECRET: OAUTH_CLIENT.clientSecret,
      });
      const app = { url: new URL(url).origin };
      const browser = await signedIn({ app, github } as Parameters<typeof signedIn>[0], 'mia');
      const [row] = await query(
        'SELECT repository_id AS repository, number AS pull, head_sha AS head FROM pull_requests',
      );
      const fields = Object.fromEntries(
        Object.entries(row ?? {}).map(([name, value]) => [name, String(value)]),
      );
      expect((await post(browser, '/commands', { ...fields, verb: 'pause', to: '/runs' })).status).toBe(303);
      const [job] = await query(
        `SELECT run_at, payload FROM jobs WHERE payload LIKE '%"command.issued"%' AND payload LIKE '%"studio"%'`,
      );
      const { event } = JSON.parse(String(job?.payload)) as { event: { via: { at: string } } };
      expect(await havePassed(job?.run_at, event.via.at)).toBe(true);

      await github.comment(REPO, number, 'mia', '/countersign resume');
      const came = await fleet.until(
        'the webhook',
        async () =>
          (
            await query(
              "SELECT received_at FROM deliveries WHERE event = 'issue_comment' ORDER BY id DESC LIMIT 1",
            )
          )[0],
      );
      expect(await havePassed(came.received_at)).toBe(true);
    });

    it('on the command line is due at once, and has the time at which they did', async () => {
      const [run] = await query('SELECT id FROM chain_runs');
      const env = { ...AHEAD, DATABASE_URL: databaseUrl };
      const ended = await countersignProcess(['run', 'cancel', String(run?.id)], { env });
      expect(ended).toMatchObject({ code: 0 });
      const [job] = await query("SELECT run_at FROM jobs WHERE kind = 'signal'");
      const [command] = await query("SELECT given_json FROM applied_commands WHERE verb = 'cancel'");
      const given = JSON.parse(String(command?.given_json)) as { second: string };
      expect(await havePassed(job?.run_at, given.second)).toBe(true);
    });
  },
);
