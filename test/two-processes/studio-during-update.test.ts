// @module-tag slow
import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import type { FromStudio, ToStudio } from '../../src/composition/studio/messages.ts';
import { runStudio } from '../../src/composition/studio/run.ts';
import { readConfig } from '../../src/config/config.ts';
import { appEnvironment } from '../support/app-environment.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import {
  databaseOf,
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  WITHOUT_POSTGRES,
} from '../support/postgres.ts';
import { temporaryFolders } from '../support/temp.ts';

describe.skipIf(postgresPrograms === undefined)(
  `a database that a newer version has migrated${WITHOUT_POSTGRES}`,
  () => {
    const newFolder = temporaryFolders();
    let server: PostgresServer;
    let github: GitHubStandIn;
    let url: string;

    beforeAll(async () => {
      [server, github] = await Promise.all([startPostgres(), startGitHub({ now: () => new Date() })]);
      url = await server.newMigrated();
      await server.query(
        "INSERT INTO schema_migrations VALUES (9000, '9000_of_the_next_version.sql', 'x', '2030-01-01T00:00:00.000Z')",
        databaseOf(url),
      );
    });
    afterAll(async () => {
      await github?.stop();
      await server?.remove();
    });

    it('is not opened by an older version that starts', async () => {
      await expect(openStorage(url)).rejects.toMatchObject({ code: 'migration.newer_database' });
    });

    it('is opened by Studio of an older version that had opened it before, and is read and written there', async () => {
      const storage = await openStorage(url, { isOpenHere: true });
      await storage.transaction((tx) => tx.cursors.set('one', 1, new Date()));
      expect(await storage.read.cursors.get('one')).toBe(1);
      await storage.close();

      const read = readConfig({
        ...appEnvironment(github, { databaseUrl: url, artifactsUrl: `file:${newFolder()}` }),
        LOG_LEVEL: 'error',
      });
      if (!read.ok || read.config.kind === 'setup') throw new Error('the settings are wrong');
      const { port1, port2 } = new MessageChannel();
      const said = once(port1, 'message');
      const studio = runStudio({ config: read.config, secrets: {} }, port2);
      const [heard] = (await Promise.race([said, studio.then(() => [])])) as [FromStudio];
      expect(heard).toMatchObject({ kind: 'listening' });
      port1.postMessage({ kind: 'close' } satisfies ToStudio);
      await studio;
      port1.close();
    });
  },
);
