import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import BetterSqlite3 from 'better-sqlite3';
import { openStorage } from '../../src/composition/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { RUN_ENDINGS } from '../../src/domain/run/ending.ts';
import type { Figure } from '../../src/domain/run/figures.ts';
import { inOrder, totalsOf } from '../../src/domain/run/report.ts';
import { readReport } from '../../src/engine/runs/read-report.ts';
import { reportPage } from '../../src/messages/studio/report.ts';
import { Visible } from '../../src/ports/visible.ts';

/**
 * How long the report takes for many repositories and runs: to read, as a page, and as a command. The figures are written by the app's
 * own code, as when runs end, and the pull requests by SQL. Exits with 1 if a target is missed.
 */
const { values: options } = parseArgs({
  options: {
    repositories: { type: 'string', default: '500' },
    runs: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '10' },
  },
});
const REPOSITORIES = Number(options.repositories);
const RUNS = Number(options.runs);
const DAYS = 90;
const DAY_MS = 86_400_000;
const MAX_MS = 1_000;
/** In one transaction. */
const BATCH = 2_000;

const folder = mkdtempSync(join(tmpdir(), 'countersign-report-bench-'));
try {
  const path = join(folder, 'countersign.db');
  const now = systemClock.now();
  const storage = await openStorage(`sqlite:${path}`, { clock: systemClock });
  await storage.transaction(async ({ repositoryStates }) => {
    for (let id = 1; id <= REPOSITORIES; id++)
      await repositoryStates.put(
        {
          repositoryId: id,
          installationId: 1,
          repository: `acme/service-${id}`,
          branch: 'main',
          rollout: { level: 'observe', by: 'organisation' },
          errors: id % 20 === 0 ? 1 : 0,
          first:
            id % 20 === 0
              ? { file: '.github/countersign.yml', line: 2, column: 1, message: 'unknown key' }
              : null,
        },
        now,
      );
  });
  for (let from = 0; from < RUNS; from += BATCH) {
    await storage.transaction(async ({ insight }) => {
      for (let run = from; run < Math.min(RUNS, from + BATCH); run++) insight.add(...figuresOf(run, now));
    });
  }
  mergePullRequests(path, now);

  const since = new Date(now.getTime() - (DAYS - 1) * DAY_MS);
  const read = () => readReport(storage.read, { visible: Visible.everything(), since });
  const reading = await timed(read);
  const { reports, figures } = await read();
  const page = await timed(async () => {
    const found = await read();
    String(
      await reportPage({
        period: DAYS,
        now,
        order: 'attention',
        owner: '',
        owners: ['acme'],
        text: '',
        totals: totalsOf(found.reports, found.figures),
        reports: inOrder(found.reports, 'attention').slice(0, 100),
        number: 1,
        isLast: false,
        githubUrl: 'https://github.com',
      }),
    );
  });
  await storage.close();
  const command = await timed(async () => {
    execFileSync(process.execPath, [
      'src/cli.ts',
      'report',
      '--since',
      `${DAYS}d`,
      '--database',
      `sqlite:${path}`,
    ]);
  });
  const { runs } = totalsOf(reports, figures);
  const counted = Object.values(runs).reduce((sum, count) => sum + count, 0);
  say(
    `${reports.length} repositories, ${counted} runs of ${DAYS} days, ${Math.round(statSync(path).size / 1e6)} MB`,
  );
  say(`reading: ${reading} ms; page: ${page} ms; command: ${command} ms (medians of ${options.rounds})`);
  process.exitCode = [page, command].some((ms) => ms > MAX_MS) || counted !== RUNS ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A run of any repository and day: how it ended, how long a step waited, and often an answer. */
function figuresOf(run: number, now: Date): Figure[] {
  const repositoryId = 1 + ((run * 7_919) % REPOSITORIES);
  const at = new Date(now.getTime() - ((run * 31) % DAYS) * DAY_MS);
  const name = RUN_ENDINGS[run % RUN_ENDINGS.length] ?? 'merged';
  const seconds = 60 * 1.3 ** (run % 23);
  return [
    { what: 'ended', repositoryId, name, at, amount: 1 },
    { what: 'waited', repositoryId, name: `step-${run % 3}`, at, amount: seconds },
    ...(run % 2 === 0 ? [{ what: 'answered' as const, repositoryId, name: '', at, amount: seconds }] : []),
  ];
}

function mergePullRequests(path: string, now: Date): void {
  const db = new BetterSqlite3(path);
  const insert = db.prepare(
    `INSERT INTO pull_requests (repository_id, number, repository, installation_id, updated_at, state, state_at, seen_at)
       VALUES (?, ?, ?, 1, ?, 'merged', ?, ?)`,
  );
  db.transaction(() => {
    for (let run = 0; run < RUNS / 2; run++) {
      const id = 1 + (run % REPOSITORIES);
      const at = now.getTime() - ((run * 31) % DAYS) * DAY_MS;
      const text = new Date(at).toISOString();
      insert.run(id, run, `acme/service-${id}`, text, text, new Date(at - run * 1_000).toISOString());
    }
  })();
  db.close();
}

/** The median of some rounds, in milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
