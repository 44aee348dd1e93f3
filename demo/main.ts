import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { OAUTH_CLIENT } from '../test/support/github/oauth.ts';
import { startGitHub } from '../test/support/github/stand-in.ts';
import { postgresPrograms, startPostgres } from '../test/support/postgres.ts';
import { startAppProcess } from './app-process.ts';
import { cleanChange, type Expected, pushedAgain, redCi, riskyChange } from './cases.ts';
import { type Left, playMore } from './more.ts';
import { readBack, type Verdict } from './read-back.ts';
import { createTeller } from './tell.ts';
import { PEOPLE, REPO, seed } from './world.ts';

const HELP = `npm run demo [-- --json] [-- --keep] [-- --no-keep] [-- --database sqlite|postgres]

Runs the main job on an embedded GitHub and a fresh database: four pull requests, from opened to merged or not.

  --json       one line of JSON for each thing that happens
  --keep       leave everything running at the end, with open work for Studio, until Ctrl-C; the default at a terminal
  --database   sqlite: a file, the default; postgres: a server of its own in memory, which ends with the demo
`;

/** Why the demo cannot run on this database; `undefined` if it can. */
function refusalOf(database: string): string | undefined {
  if (database !== 'sqlite' && database !== 'postgres')
    return `--database must be sqlite or postgres, not "${database}".`;
  if (database === 'postgres' && postgresPrograms === undefined)
    return 'PostgreSQL is not installed where Debian and Ubuntu put it: apt-get install postgresql';
  return undefined;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean' },
      database: { type: 'string', default: 'sqlite' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowNegative: true,
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const refusal = refusalOf(values.database);
  if (refusal !== undefined) {
    process.stderr.write(`${refusal}\n`);
    process.exitCode = 2;
    return;
  }
  const tell = createTeller(values.json, (line) => process.stdout.write(`${line}\n`));
  const folder = mkdtempSync(join(tmpdir(), 'countersign-demo-'));
  const server = values.database === 'postgres' ? await startPostgres() : undefined;
  const github = await startGitHub();
  const settings = {
    GITHUB_CLIENT_ID: OAUTH_CLIENT.clientId,
    GITHUB_CLIENT_SECRET: OAUTH_CLIENT.clientSecret,
    STUDIO_OPERATORS: PEOPLE.maintainer,
  };
  const app = await startAppProcess(github, folder, settings, await server?.newDatabase());
  github.setWebhookUrl(`${app.url}/api/github/webhooks`);
  seed(github);
  tell.say('Countersign: the main job on an embedded GitHub, with the real app and a fresh database.', {
    github: github.url,
    app: app.url,
    database: app.databaseUrl,
  });
  tell.say('mia maintains octo/shop, will and ada write to it, otto is an outsider.');

  try {
    const stage = { github, tell };
    const expectations: Expected[] = [];
    for (const play of [cleanChange, riskyChange, pushedAgain, redCi]) expectations.push(await play(stage));
    const verdicts = await readBack(github, app.databaseUrl, expectations);
    summarise(verdicts);
    process.exitCode = verdicts.every((verdict) => verdict.diagnostics.length === 0) ? 0 : 1;
    // A person wants to see it; a script wants it to end.
    if (values.keep ?? (process.stdout.isTTY && !values.json)) {
      const left = await playMore(stage);
      github.signInAs(PEOPLE.maintainer);
      await untilInterrupted(left);
    }
  } catch (error) {
    tell.say(`The demo failed: ${error instanceof Error ? error.message : String(error)}`, {
      log: app.logFile,
    });
    process.exitCode = 1;
  } finally {
    await app.stop();
    await github.stop();
    await server?.remove();
  }

  function summarise(verdicts: readonly Verdict[]): void {
    for (const verdict of values.json ? verdicts : []) {
      tell.say(verdict.diagnostics.length === 0 ? 'as expected' : verdict.diagnostics.join('; '), {
        ...verdict,
      });
    }
    if (values.json) return;
    const rows = verdicts.map(({ expected, github: seen, database, diagnostics }) => [
      `${expected.case}. ${expected.title}`,
      `#${expected.number}`,
      seen,
      database,
      diagnostics.length === 0 ? '✔ as expected' : `✘ ${diagnostics.join('; ')}`,
    ]);
    const all = [['case', 'pull request', 'on GitHub', 'in the database', ''], ...rows];
    const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
    tell.say('');
    for (const row of all) tell.say(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
    tell.say('');
    tell.say(
      server
        ? 'The database was made for the demo, on a server of PostgreSQL of its own. While that runs (-- --keep), to look further:'
        : `The database lies at ${app.databaseUrl.slice('sqlite:'.length)}. To look further:`,
    );
    tell.say(
      [
        `  export DATABASE_URL='${app.databaseUrl}' ARTIFACTS_URL='${app.artifactsUrl}'`,
        '  npm run countersign -- run list',
        `  npm run countersign -- run why ${verdicts[1]?.database.split(' ')[0] ?? '<run>'}`,
        `The app's log: ${app.logFile}`,
      ].join('\n'),
    );
  }

  async function untilInterrupted({ asked, waiting }: Left): Promise<void> {
    const studio = `${app.url}/sign-in`;
    tell.say(
      [
        '',
        `Everything is left running: GitHub's API at ${github.url}, the app at ${app.url}. Ctrl-C ends it.`,
        '',
        `Studio, signed in as ${PEOPLE.maintainer}: ${studio}`,
        `  ${app.url}/${REPO}/pull/${asked}  waits for you: press Countersign, and it merges`,
        `  ${app.url}/${REPO}/pull/2  was sent back: see its findings`,
        `  ${app.url}/${REPO}/pull/${waiting}  waits for CI, which never ends here`,
        `  ${app.url}/runs?status=failed_only  has the weekly chain, which failed`,
      ].join('\n'),
      { studio },
    );
    await new Promise<void>((resolve) => process.once('SIGINT', () => resolve()));
  }
}

await main();
