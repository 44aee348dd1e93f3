import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CountersignError } from '../../../src/core/errors.ts';
import { runCli } from '../../../src/entrypoints/cli/command-line.ts';
import type { Tools } from '../../../src/entrypoints/cli/context.ts';
import { ManualClock } from '../../support/clock.ts';
import { countersign, countersignProcess } from './support.ts';

const untouched = () => {
  throw new Error('a command line that cannot be read touches nothing');
};
const noTools: Tools = {
  withDatabase: untouched,
  hasDatabase: untouched,
  migrate: untouched,
  backup: untouched,
  copyDatabase: untouched,
  vacuum: untouched,
  blobs: untouched,
  pages: untouched,
  enqueuer: untouched,
  eventsOf: untouched,
  deliveryJobs: untouched,
  chains: untouched,
  policy: untouched,
  hasToken: untouched,
  dryRun: untouched,
  lookAt: untouched,
  propose: untouched,
  person: untouched,
  chainCase: untouched,
  pause: untouched,
  stopRequested: untouched,
  skills: untouched,
  caseTools: untouched,
  model: untouched,
  withSkillRunner: untouched,
  selfCheck: untouched,
  serve: untouched,
  studio: untouched,
  ownCommand: untouched,
  demoFile: () => undefined,
};

async function said(line: string, tools: Partial<Tools> = {}) {
  const seen = { out: '', err: '' };
  const code = await runCli(line === '' ? [] : line.split(' '), {
    cwd: '/nowhere',
    clock: new ManualClock('2026-03-02T09:00:00.000Z'),
    tools: { ...noTools, ...tools },
    out: (text) => {
      seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
  });
  return { code, ...seen };
}

describe('an invalid command line', () => {
  it.each([
    ['rn list', "Unknown command 'rn' (did you mean run?).\n"],
    ['run lst', "Unknown command 'lst' (did you mean list?).\n"],
    ['run list --actve', "Unknown option '--actve' (did you mean --active?).\n"],
    ['frobnicate', "Unknown command 'frobnicate'; --help lists the commands.\n"],
    ['skill new naming --frobnicate', "Unknown option '--frobnicate'; --help lists the options.\n"],
    [
      'skill new naming --database sqlite:x',
      '--database is only for --draft: without it, no model is asked and no database is read.\n',
    ],
    ['run show', "Missing required argument 'id'; --help says what it can be.\n"],
    ['run show a b', "Too many arguments for 'show'. Expected 1 argument but got 2: a, b.\n"],
    [
      'run list --limit 0',
      "Option '--limit <count>' argument '0' is invalid. It must be a whole number from 1 to 1000.\n",
    ],
    [
      'run list --pr seven',
      "Option '--pr <number>' argument 'seven' is invalid. It must be the number of a pull request.\n",
    ],
    [
      'run list --repo shop',
      "Option '--repo <owner/name>' argument 'shop' is invalid. A repository is written owner/name.\n",
    ],
    [
      'run list --active --status failed',
      "Option '--active' cannot be used with option '--status <status>'.\n",
    ],
    [
      'chain fire deploy --repo a/b staging',
      'An input is written key=value, its key with letters, digits, _ and -.\n',
    ],
    [
      'chain fire deploy --repo a/b --pr 1 --ref main',
      "Option '--ref <branch>' cannot be used with option '--pr <number>'.\n",
    ],
    ['chain fire deploy --pr 1', "Required option '--repo <owner/name>' not specified.\n"],
    [
      'chain fire deploy --repo a/b --pr 1 --input x',
      "Option '--input <key=value>' argument 'x' is invalid. An input is written key=value, its key with letters, digits, _ and -.\n",
    ],
    [
      'chain fire deploy --repo a/b --pr 1 --input x=1 --input x=2',
      "Option '--input <key=value>' argument 'x=2' is invalid. The input x is given twice.\n",
    ],
    ['artifact prune', "Required option '--older-than <duration>' not specified.\n"],
    [
      'artifact prune --older-than 3months',
      "Option '--older-than <duration>' argument '3months' is invalid. A length of time is written 90d, 12h or 30m.\n",
    ],
    [
      'chain fire Deploy! --repo a/b --pr 1',
      'Deploy! is no name of a chain: small letters, digits and - are, and a letter comes first.\n',
    ],
    [
      'skill traces export a.jsonl --for-optimize',
      '--for-optimize needs --skill: examples are of one skill’s module.\n',
    ],
  ])('%s ends with 2 and one message', async (line, err) => {
    expect(await said(line)).toEqual({ code: 2, out: '', err });
  });

  it('shows the choices when a noun, or everything, is missing', async () => {
    for (const line of ['', 'run', 'chain']) {
      expect(await said(line)).toEqual({
        code: 2,
        out: '',
        err: expect.stringMatching(/^Usage: countersign/),
      });
    }
  });

  it('with --json is answered by one JSON document on standard error', async () => {
    for (const line of ['--json', 'run --json', 'rn --json', 'run list --json --limit x']) {
      const { code, out, err } = await said(line);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(JSON.parse(err)).toEqual({ error: { code: 'cli.misuse', message: expect.any(String) } });
    }
  });
});

describe('a command that fails', () => {
  const gone = () => Promise.reject(new CountersignError('storage.gone', 'The database is gone.'));

  it('ends with 1 and a sentence on standard error', async () => {
    expect(await said('db migrate', { migrate: gone })).toEqual({
      code: 1,
      out: '',
      err: 'The database is gone.\n',
    });
  });

  it('with --json prints code and message as a document', async () => {
    expect(await said('db migrate --json', { migrate: gone })).toEqual({
      code: 1,
      out: '',
      err: '{"error":{"code":"storage.gone","message":"The database is gone."}}\n',
    });
  });

  it('throws errors that are not the user’s', async () => {
    await expect(said('db migrate')).rejects.toThrow('touches nothing');
  });

  it('says that the demo needs a checkout when this is not one', async () => {
    expect(await said('demo')).toMatchObject({
      code: 1,
      err: 'The demo needs a checkout of the repository: clone it, run npm ci, then npm run demo.\n',
    });
  });

  it('says why the app does not start', async () => {
    const serve = () => Promise.resolve({ ok: false as const, code: 'config.invalid', message: 'No.\n' });
    expect(await said('serve', { serve })).toEqual({ code: 1, out: '', err: 'No.\n' });
  });
});

it('an invalid --database is a usage error, and an invalid DATABASE_URL is a failure', async () => {
  const given = await countersign(['run', 'list', '--database', 'mysql:x']);
  expect(given).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--database must be sqlite:/) });
  const set = await countersign(['run', 'list'], { env: { DATABASE_URL: 'mysql:x' } });
  expect(set).toMatchObject({ code: 1, stderr: expect.stringMatching(/^DATABASE_URL must be sqlite:/) });
});

describe('the process', () => {
  it('shows help on standard output and ends with 0', async () => {
    const { code, stdout, stderr } = await countersignProcess(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: countersign/);
  });

  it('ends with 2 on a usage error', { tags: 'slow' }, async () => {
    expect(await countersignProcess(['run', 'list', '--limt', '3'])).toEqual({
      code: 2,
      stdout: '',
      stderr: "Unknown option '--limt' (did you mean --limit?).\n",
    });
  });

  it('serve reads settings from the given file, and the environment overrides them', {
    tags: 'slow',
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-usage-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'settings.env'), 'APP_ID=x\nPORT=y\n');
    const serve = (env: Record<string, string>) =>
      countersignProcess(['serve', '--settings', 'settings.env'], { cwd: folder, env });
    const [fromFile, overruled] = await Promise.all([serve({}), serve({ PORT: '3000' })]);
    expect([fromFile.code, fromFile.stderr]).toEqual([1, expect.stringMatching(/^ {2}- PORT /m)]);
    expect(overruled.stderr).toMatch(/^ {2}- APP_ID /m);
    expect(overruled.stderr).not.toContain('PORT');
  });

  it('serve ends with 2 if the file with the settings does not exist', { tags: 'slow' }, async () => {
    expect(await countersignProcess(['serve', '--settings', '/gone/settings.env'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^--settings: \/gone\/settings\.env cannot be read: ENOENT.+\n$/),
    });
  });

  it('serve ends with 1 and every error if settings are missing', { tags: 'slow' }, async () => {
    const { code, stdout, stderr } = await countersignProcess(['serve'], { env: { APP_ID: 'x' } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Countersign cannot start\. 3 settings are wrong:\n( {2}- \w+ .+\n){3}$/);
  });
});
