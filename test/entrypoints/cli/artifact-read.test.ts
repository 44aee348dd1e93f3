import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Artifact } from '../../../src/domain/artifact/artifact.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { completed, runState, session } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, tamper } from './support.ts';

const DAY = 86_400_000;
const newFolder = temporaryFolders();
const ago = (days: number) => new Date(Date.now() - days * DAY);

let env: Record<string, string>;
let folder: string;
let storage: Storage;

beforeEach(async () => {
  folder = newFolder();
  const url = `sqlite:${join(folder, 'countersign.db')}`;
  env = { DATABASE_URL: url, ARTIFACTS_URL: `file:${folder}` };
  storage = await openStorage(url, { clock: systemClock });
  onTestFinished(() => storage.close());
});

const cli = async (...words: string[]) => {
  const { code, stdout: out, stderr: err } = await countersign(words, { cwd: folder, env });
  return { code, out, err };
};

/** A run that ended some days ago, with these artifacts. */
async function addRun(
  id: string,
  days: number,
  artifacts: readonly (Partial<Artifact> & { id: string })[],
  over: Partial<Run> = {},
) {
  const createdAt = ago(days);
  const blobs = await createTools(env).blobs();
  for (const { filePath } of artifacts) if (filePath) await blobs.put(filePath, `content of ${filePath}\n`);
  await storage.transaction(async (tx) => {
    const state = runState(id, { status: 'completed', reason: completed, finishedAt: createdAt, ...over });
    await tx.runs.insert(state);
    await tx.runs.insertSession(session(`ses-${id}`, `${id}-inv0`));
    for (const more of artifacts)
      await tx.artifacts.insert({
        runId: id,
        invocationId: `${id}-inv0`,
        sessionId: `ses-${id}`,
        createdAt,
        kind: 'review_verdict',
        name: 'Round 1 verdict',
        content: null,
        filePath: null,
        ...more,
      });
  });
}

const verdict = (passed: boolean | null) => JSON.stringify({ outcome_kind: 'review_verdict', passed });
const ids = (out: string) => (JSON.parse(out) as { id: string }[]).map(({ id }) => id);

describe('artifact list', () => {
  beforeEach(async () => {
    await addRun('run-old', 30, [{ id: 'art-old', content: verdict(false) }]);
    await addRun('run-a', 3, [
      { id: 'art-failed', content: verdict(false) },
      { id: 'art-ci', kind: 'ci_result', name: 'CI result', content: verdict(false) },
      { id: 'art-log', kind: 'log', name: 'skill.log', filePath: 'run-a/ses-run-a/skill.log' },
    ]);
    await addRun('run-b', 1, [
      { id: 'art-passed', content: verdict(true) },
      { id: 'art-none', content: verdict(null) },
    ]);
  });

  it('finds all failed reviews of this week', async () => {
    const { out, code } = await cli(
      ...['artifact', 'list', '--kind', 'review_verdict', '--failed', '--since', '7d', '--json'],
    );
    expect([code, ids(out)]).toEqual([0, ['art-failed']]);
  });

  it('refuses a misspelled kind, and not one of a package', async () => {
    const { code, err } = await cli('artifact', 'list', '--kind', 'reveiw_verdict');
    expect(code).toBe(2);
    expect(err).toContain('did you mean "review_verdict"?');
    expect((await cli('artifact', 'list', '--kind', 'octo/coverage')).code).toBe(0);
  });

  it('lists the newest first, with the name and the verdict of each', async () => {
    const { out } = await cli('artifact', 'list', '--limit', '2');
    const [, first, second, ...rest] = out.trim().split('\n');
    expect(first).toMatch(/^art-passed +review_verdict +Round 1 verdict +yes +run-b /);
    expect(second).toMatch(/^art-none +review_verdict +Round 1 verdict +- /);
    expect(rest).toEqual([]);
  });

  it('finds them in archived runs too, in their order', { tags: 'slow' }, async () => {
    await addRun('run-c', 2, [{ id: 'art-archived', content: verdict(false) }], { pullRequest: null });
    await storage.transaction((tx) => tx.runs.archive(['run-c'], new Date()));
    const db = new BetterSqlite3(join(folder, 'countersign.db'), { readonly: true });
    expect(db.prepare('SELECT count(*) FROM run_archives').pluck().get()).toBe(1);
    db.close();
    const { out } = await cli('artifact', 'list', '--failed', '--kind', 'review_verdict', '--json');
    expect(ids(out)).toEqual(['art-archived', 'art-failed', 'art-old']);
    const { out: one } = await cli('artifact', 'list', '--run', 'run-c', '--limit', '1', '--json');
    expect(ids(one)).toEqual(['art-archived']);
  });
});

describe('artifact list with a damaged archive', () => {
  it('lists the others, names the archive and fails', { tags: 'slow' }, async () => {
    await addRun('run-a', 3, [{ id: 'art-row', content: verdict(false) }]);
    for (const id of ['run-b', 'run-c'])
      await addRun(id, 2, [{ id: `art-${id}`, content: verdict(false) }], { pullRequest: null });
    await storage.transaction((tx) => tx.runs.archive(['run-b', 'run-c'], new Date()));
    tamper(
      join(folder, 'countersign.db'),
      `UPDATE run_archives SET content = substr(content, 1, length(content) / 2)
        WHERE id = (SELECT archive_id FROM chain_runs WHERE id = 'run-b')`,
    );
    const { out, err, code } = await cli('artifact', 'list', '--json');
    expect(ids(out)).toEqual(['art-run-c', 'art-row']);
    expect(err).toMatch(/^The row \d+ of the table run_archives cannot be read: /);
    expect(code).toBe(1);
  });
});

describe('artifact show and get', () => {
  beforeEach(() =>
    addRun('run-a', 1, [
      { id: 'art-1', content: JSON.stringify({ passed: false, summary: 'no\u001b[2J' }) },
      { id: 'art-2', kind: 'file', name: 'review.md', filePath: 'run-a/ses-run-a/review.md' },
    ]),
  );

  it('show an outcome with its members, and nothing that a terminal obeys', { tags: 'slow' }, async () => {
    const { out } = await cli('artifact', 'show', 'art-1');
    expect(out).toContain('"passed": false');
    expect(out).not.toContain('\u001b');
  });

  it('print the content of a file', { tags: 'slow' }, async () => {
    expect((await cli('artifact', 'get', 'art-2')).out).toBe('content of run-a/ses-run-a/review.md\n');
    expect((await cli('artifact', 'show', 'art-2')).out).toContain('37 bytes');
  });

  it('write the content to a new file, and to no existing one', { tags: 'slow' }, async () => {
    const file = join(folder, 'out.md');
    expect((await cli('artifact', 'get', 'art-2', '--output', file)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('content of run-a/ses-run-a/review.md\n');
    expect((await cli('artifact', 'get', 'art-1', '--output', file)).code).toBe(1);
    expect(readFileSync(file, 'utf8')).toContain('review.md');
  });

  it('do not print what a terminal could obey', { tags: 'slow' }, async () => {
    const blobs = await createTools(env).blobs();
    await blobs.put('run-a/ses-run-a/review.md', 'a\u001b[2Jb');
    const { out, err, code } = await cli('artifact', 'get', 'art-2');
    expect([out, code]).toEqual(['', 1]);
    expect(err).toContain('write it to a file with --output');
  });

  it('say that there is no such artifact', async () => {
    const { err, code } = await cli('artifact', 'get', 'nobody');
    expect([err, code]).toEqual([
      'There is no artifact nobody; countersign artifact list shows those there are.\n',
      1,
    ]);
    expect(existsSync(join(folder, 'nobody'))).toBe(false);
  });
});

describe('state show-session', () => {
  it('shows how an attempt ended and what it left', async () => {
    await addRun('run-a', 1, [{ id: 'art-1', content: verdict(false) }]);
    const { out, code } = await cli('state', 'show-session', 'ses-run-a');
    expect(code).toBe(0);
    expect(out).toMatch(/^ses-run-a\nrun +run-a /);
    expect(out).toMatch(/art-1 +review_verdict +Round 1 verdict +no/);
  });
});

describe('run why', () => {
  it('takes a pull request', async () => {
    await addRun('run-a', 1, []);
    const run = await storage.read.runs.get('run-a');
    const subject = `${run?.repository}#${run?.pullRequest}`;
    const { out, code } = await cli('run', 'why', subject);
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe(`${run?.chain} (run-a)`);
    const { out: json } = await cli('run', 'why', subject, '--json');
    expect(JSON.parse(json)).toMatchObject([{ run_id: 'run-a', why: { status: expect.any(String) } }]);
    expect((await cli('run', 'why', 'octo/none#1')).code).toBe(1);
  });
});
