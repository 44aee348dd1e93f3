import { expect, test } from 'vitest';
import { octokitsWithKey } from '../../src/adapters/octokit/sign-in.ts';
import { openPlatform } from '../../src/composition/platform.ts';
import { readConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { WorkShare } from '../../src/ports/work-share.ts';
import { appEnvironment } from '../support/app-environment.ts';
import { startGitHub } from '../support/github/stand-in.ts';
import { temporaryFolders } from '../support/temp.ts';

const newFolder = temporaryFolders();

/** Of a process that is cut off from its database. */
const cutOff: WorkShare = {
  worker: 'one',
  clock: systemClock,
  has: () => true,
  leases: () => ({ installations: 1, ownWork: true }),
  mayWrite: () => false,
  onGained() {},
  begin() {},
  retire() {},
};

test('a process that shares its work writes to GitHub only while its share lets it', async () => {
  const github = await startGitHub();
  github.addOrganization('octo');
  github.addRepository({ owner: 'octo', name: 'app', files: {} });
  const installation = github.installApp('octo');
  const urls = { databaseUrl: 'sqlite::memory:', artifactsUrl: `file:${newFolder()}` };
  const read = readConfig(appEnvironment(github, urls));
  if (!read.ok || read.config.kind === 'setup') throw new Error('the settings are wrong');
  const source = octokitsWithKey({
    appId: github.app.id,
    privateKey: github.app.privateKey,
    apiUrl: github.url,
  });
  const platform = await openPlatform(read.config, source, silentLog, {}, cutOff);
  const repo = { owner: 'octo', name: 'app' };
  await expect(platform.github.reader(installation).repository(repo)).resolves.toBeDefined();
  await expect(platform.github.writer(installation).label(repo, 1, ['x'])).rejects.toThrow('not sent');
  await platform.storage.close();
  await github.stop();
});
