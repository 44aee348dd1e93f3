import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startGitHub } from '../test/support/github/stand-in.ts';
import { startAppProcess, startStudioProcess } from './app-process.ts';
import { cleanChange, type Expected, pushedAgain, redCi, riskyChange } from './cases.ts';
import { readBack, type Verdict } from './read-back.ts';
import { createTeller } from './tell.ts';
import { seed } from './world.ts';

const HELP = `npm run demo [-- --json] [-- --keep]

Runs the main job on an embedded GitHub and a fresh SQLite file: four pull requests, from opened to merged or not.

  --json   one line of JSON for each thing that happens
  --keep   leave everything running at the end, until Ctrl-C
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const tell = createTeller(values.json, (line) => process.stdout.write(`${line}\n`));
  const folder = mkdtempSync(join(tmpdir(), 'countersign-demo-'));
  const github = await startGitHub();
  const app = await startAppProcess(github, folder);
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
    if (values.keep) {
      const studio = await startStudioProcess(app);
      await untilInterrupted(studio.link).finally(studio.stop);
    }
  } catch (error) {
    tell.say(`The demo failed: ${error instanceof Error ? error.message : String(error)}`, {
      log: app.logFile,
    });
    process.exitCode = 1;
  } finally {
    await app.stop();
    await github.stop();
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
    tell.say(
      [
        '',
        `The database lies at ${app.databaseUrl.slice('sqlite:'.length)}. To look further:`,
        `  export DATABASE_URL=${app.databaseUrl} ARTIFACTS_URL=${app.artifactsUrl}`,
        '  npm run countersign -- run list',
        `  npm run countersign -- run why ${verdicts[1]?.database.split(' ')[0] ?? '<run>'}`,
        `The app's log: ${app.logFile}`,
      ].join('\n'),
    );
  }

  async function untilInterrupted(studio: string): Promise<void> {
    tell.say(
      `\nEverything is left running: GitHub's API at ${github.url}, the app at ${app.url}. Ctrl-C ends it.\n` +
        `See the four pull requests in a browser, by a link that works once: ${studio}`,
      { studio },
    );
    await new Promise<void>((resolve) => process.once('SIGINT', () => resolve()));
  }
}

await main();
