// @module-tag slow
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LOCK } from '../../../src/adapters/postgres/lock.ts';
import { placeOf } from '../../../src/adapters/postgres/place.ts';
import { openPool } from '../../../src/adapters/postgres/pool.ts';
import { startApp } from '../../../src/app.ts';
import { awaitTurn } from '../../../src/composition/serving.ts';
import { readConfig } from '../../../src/config/config.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import { ENGINE_STARTS_LATER } from '../../../src/messages/cli/process.ts';
import { appEnvironment } from '../../support/app-environment.ts';
import { startGitHub } from '../../support/github/stand-in.ts';
import {
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  WITHOUT_POSTGRES,
} from '../../support/postgres.ts';
import { temporaryFolders } from '../../support/temp.ts';

const newFolder = temporaryFolders();

describe.skipIf(postgresPrograms === undefined)(`a process that gets its turn${WITHOUT_POSTGRES}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.remove());

  it('begins the work when somebody else has written for longer than a transaction waits, and does not end', async () => {
    const databaseUrl = await server.newMigrated();
    const github = await startGitHub();
    onTestFinished(() => github.stop());
    const read = readConfig(appEnvironment(github, { databaseUrl, artifactsUrl: `file:${newFolder()}` }));
    if (!read.ok || read.config.kind !== 'app') throw new Error('the settings are not those of an app');
    const does = { installations: true, ownWork: true };
    const onFailed = vi.fn();
    const turn = await awaitTurn(databaseUrl, { does, log: silentLog, onLost: onFailed });
    onTestFinished(() => turn.end());
    await turn.comes;
    const pool = openPool(placeOf(databaseUrl));
    const other = await pool.connect();
    onTestFinished(() => {
      other.release(true);
      return pool.end();
    });
    await other.script(`BEGIN; ${LOCK}`);

    const said: string[] = [];
    const log: Log = { ...silentLog, warn: (_, message) => void said.push(message) };
    const app = await startApp(read.config, log, {}, { turn, onFailed });
    onTestFinished(() => app.stop());
    await expect.poll(() => said).toContain(ENGINE_STARTS_LATER);
    await other.script('ROLLBACK');
    // The first jobs look for what was missed.
    const asked = () => github.requests.map(({ path }) => path).join('\n');
    await expect.poll(asked).toContain('/app/hook/deliveries');
    expect(onFailed).not.toHaveBeenCalled();
  });
});
