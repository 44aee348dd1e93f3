// @module-tag slow
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type App, startApp } from '../../../src/app.ts';
import { WEBHOOK_PATH } from '../../../src/config/webhook-path.ts';
import { silentLog } from '../../../src/core/log.ts';
import { runWithHistorySchema } from '../../../src/messages/cli/history.ts';
import type { RunJson } from '../../../src/messages/cli/run-json.ts';
import { type GitHubStandIn, startGitHub } from '../../support/github/stand-in.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { countersignOn, countersignProcess, parsed } from './support.ts';

const newFolder = temporaryFolders();
let github: GitHubStandIn;
let app: App;
/** The commands that write run in another process, as in production; those that read need not. */
let run: ReturnType<typeof countersignOn>;
let read: ReturnType<typeof countersignOn>;

beforeEach(async () => {
  const folder = newFolder();
  const path = join(folder, 'countersign.db');
  github = await startGitHub();
  github.addOrganization('octo');
  for (const login of ['mia', 'ada']) github.addUser(login);
  const collaborators = { mia: 'maintain', ada: 'write' } as const;
  github.addRepository({ owner: 'octo', name: 'app', files: { 'README.md': '# App\n' }, collaborators });
  github.installApp('octo');
  app = await startApp(
    {
      kind: 'app',
      appId: github.app.id,
      privateKey: github.app.privateKey,
      webhookSecret: github.app.webhookSecret,
      githubApiUrl: github.url,
      host: '127.0.0.1',
      port: 0,
      metricsAccess: {},
      publicUrl: undefined,
      databaseUrl: `sqlite:${path}`,
      artifactsUrl: `file:${join(folder, 'artifacts')}`,
      logLevel: 'silent',
      settings: [],
    },
    silentLog,
    { intake: 'here' },
  );
  github.setWebhookUrl(`${app.url}${WEBHOOK_PATH}`);
  run = countersignOn(path, countersignProcess);
  read = countersignOn(path);
});

afterEach(async () => {
  await app.stop();
  await github.stop();
});

/** The app notices within a second what another process wrote. */
const eventually = (isSo: () => Promise<boolean>) =>
  until('what was asked of the app', async () => (await isSo()) || undefined);

const runsOf = (chain: string) => app.storage.read.runs.list({ chain });

test('a running app does what the command line asks', async () => {
  const files = { 'src/one.ts': 'export const one = 1;\n' };
  const { number } = await github.openPullRequest({
    repo: 'octo/app',
    author: 'ada',
    branch: 'one',
    title: 'One',
    files,
  });
  await eventually(async () => (await runsOf('pr-review')).length === 1);

  const [first] = parsed(await read('run', 'list', '--active', '--json')) as RunJson[];
  expect(first).toMatchObject({ chain: 'pr-review', repository: 'octo/app', pull_request: number });
  expect(await run('run', 'cancel', first?.id ?? '')).toMatchObject({ code: 0 });
  await eventually(async () => (await runsOf('pr-review'))[0]?.status === 'cancelled');
  expect((await runsOf('pr-review'))[0]?.reason).toMatchObject({
    code: 'run.cancelled.by_person',
    summary: 'cancelled by an operator',
  });
  const { history } = runWithHistorySchema.parse(
    parsed(await read('run', 'show', first?.id ?? '', '--history', '--json')),
  );
  expect(history.findLast(({ what }) => what === 'run')).toMatchObject({
    to: 'cancelled',
    reason_code: 'run.cancelled.by_person',
    by: { kind: 'operator' },
  });

  const fired = await run('chain', 'fire', 'pr-review', '--repo', 'octo/app', '--pr', String(number));
  expect(fired).toMatchObject({ code: 0, stdout: expect.stringContaining(' has begun.') });
  const unknown = await run('chain', 'fire', 'pr-reviw', '--repo', 'octo/app', '--pr', String(number));
  expect(unknown).toMatchObject({
    code: 1,
    stderr: 'Not fired: there is no chain "pr-reviw": did you mean "pr-review"? Allowed: pr-review.\n',
  });
  await eventually(async () => (await runsOf('pr-review')).length === 2);
  // Only the app can ask GitHub, and it answers at once.
  const absent = await run('chain', 'fire', 'pr-review', '--repo', 'octo/app', '--pr', '999');
  expect(absent).toMatchObject({
    code: 1,
    stderr: 'Not fired: there is no pull request 999 in octo/app.\n',
  });

  await github.push({
    repo: 'octo/app',
    branch: 'main',
    author: 'mia',
    files: {
      '.github/countersign/chains/health.yaml':
        'name: health\ntrigger: { event: manual.fired }\nsteps: [{ skill: ci }]\n',
    },
  });
  const forBranch = await run('chain', 'fire', 'health', '--repo', 'octo/app');
  expect(forBranch).toMatchObject({ code: 0, stdout: expect.stringContaining(' has begun.') });
  const needs = await run('chain', 'fire', 'pr-review', '--repo', 'octo/app');
  expect(needs).toMatchObject({
    code: 1,
    stderr:
      'Not fired: the chain "pr-review" is fired for a branch, and the step "review" cannot run: pr-review needs a pull request.\n',
  });

  const deliveries = parsed(await read('delivery', 'list', '--status', 'done', '--json'));
  const opened = (deliveries as { guid: string; event: string; action: string; attempts: number }[]).find(
    (delivery) => delivery.event === 'pull_request' && delivery.action === 'opened',
  );
  expect(opened).toMatchObject({ attempts: 1 });
  expect(await run('delivery', 'replay', opened?.guid ?? '')).toMatchObject({ code: 0 });
  await eventually(async () => {
    const again = await app.storage.read.deliveries.byGuid(opened?.guid ?? '');
    return again?.status === 'done' && again.attempts === 2;
  });
});
