// @module-tag slow
import { gzipSync } from 'node:zlib';
import BetterSqlite3 from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { CI_AND_MERGE, countersign, open, reportCi, start } from '../scenario/support.ts';
import { addressOfEvents, eventsOf } from '../support/events.ts';
import type { Harness } from '../support/harness.ts';
import { startStudio } from '../support/served-studio.ts';

async function opened(chain = CI_AND_MERGE) {
  const harness = await start({ chain });
  const studio = await startStudio(harness);
  onTestFinished(() => studio.stop());
  await harness.settle();
  const { number, headSha } = await open(harness);
  const [run] = await harness.app.storage.read.runs.list({});
  if (!run) throw new Error('no run began');
  return { harness, studio, number, headSha, run };
}

async function merged(harness: Harness, number: number, headSha: string): Promise<void> {
  await reportCi(harness, headSha, 'success');
  await harness.advance(60_000);
  await countersign(harness, number);
}

test('the page of a run says what the check run says, and links each step of its way from the delivery to GitHub', async () => {
  const { harness, studio, number, headSha, run } = await opened();
  await merged(harness, number, headSha);
  const page = await studio.text(`/runs/${run.id}?step=merge`);
  const effects = await harness.app.storage.read.effects.ofRun(run.id);
  const check = effects.find(({ effect }) => effect.kind === 'check_run')?.effect;
  expect(check).toBeDefined();
  if (check?.kind === 'check_run') expect(page).toContain(check.content.title);
  expect(page).toContain(`<a href="/operations/deliveries/${run.deliveryId}">`);
  const delivery = await studio.get(`/operations/deliveries/${run.deliveryId}`);
  expect([delivery.status, (await delivery.text()).includes(`href="/runs/${run.id}"`)]).toEqual([200, true]);
  for (const part of [
    '<svg class="graph"',
    '<svg class="timeline"',
    'waited for a person',
    'Step merge',
    'Merge of #',
  ])
    expect(page).toContain(part);
  expect(page).not.toContain('style=');
});

test('what nobody may see, and what is not there, is not found', async () => {
  const { studio } = await opened();
  const paths = ['/runs/run_none', '/runs/run_none/events', '/runs/run_none/configuration'];
  const answers = await Promise.all(paths.map((path) => studio.get(path)));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
});

test('the page of a run follows what happens, and after a restart it gets what it missed', async () => {
  const { harness, studio, number, headSha, run } = await opened();
  const page = await studio.text(`/runs/${run.id}`);
  const address = addressOfEvents(page);
  expect(page).toContain('Waiting for CI');
  const before = await eventsOf(studio, address);
  await reportCi(harness, headSha, 'success');
  await harness.advance(60_000);
  let event = await before.next();
  while (!event.data.includes('Waiting for a maintainer to countersign')) event = await before.next();

  await studio.restart();
  const again = await eventsOf(studio, address, event.id);
  await countersign(harness, number);
  let last = await again.next();
  while (!last.data.includes('Merged: countersigned by mia')) last = await again.next();
  expect(last.id).not.toBe(event.id);
});

test('the run page sends less than 60 KB without its logs, also after 5,000 changes, attempts, writes and artifacts, and says what it leaves out', async () => {
  const { harness, studio, run } = await opened();
  const state = await harness.app.storage.read.runs.load(run.id);
  const [step] = state?.invocations ?? [];
  if (!state || !step) throw new Error('the run has no step');
  await harness.app.storage.transaction(async (tx) => {
    for (let round = 0; round < 2_500; round++) {
      for (const status of ['running', 'waiting_ci'] as const)
        await tx.runs.save(
          { ...state, invocations: [{ ...step, status }, ...state.invocations.slice(1)] },
          { kind: 'time' },
        );
    }
    const [session] = await tx.runs.sessionsOf(run.id);
    const about = { runId: run.id, invocationId: step.id, sessionId: session?.id ?? '', kind: 'file' };
    const content = { content: '{}', filePath: null, createdAt: harness.clock.now() };
    for (let n = 0; n < 5_000; n++)
      await tx.artifacts.insert({ id: `art_more${n}`, name: `file-${n}.txt`, ...about, ...content });
  });
  // Only what the page reads: 5,000 of each through the engine would take minutes.
  const database = new BetterSqlite3(harness.config.databaseUrl.replace('sqlite:', ''));
  onTestFinished(() => void database.close());
  const copy = (table: string, id: string, others: string) =>
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO ${table} SELECT ${others} FROM n, (SELECT * FROM ${table} WHERE ${id} LIMIT 1) AS x`);
  const columnsOf = (table: string, changed: Record<string, string>) =>
    (database.pragma(`table_info(${table})`) as { name: string }[])
      .map(({ name }) => changed[name] ?? `x.${name}`)
      .join();
  copy('sessions', `invocation_id = '${step.id}'`, columnsOf('sessions', { id: "'ses_more' || i" }));
  copy(
    'effects',
    `run_id = '${run.id}'`,
    columnsOf('effects', { id: "'eff_more' || i", key: "x.key || ':' || i" }),
  );
  const page = await studio.text(`/runs/${run.id}?step=${step.stepId}`);
  for (const words of [
    'of more than 1,000 changes',
    'The newest 30 attempts; there are older ones.',
    'The newest 50 writes; there are older ones.',
    'The newest 30 artifacts.',
  ])
    expect(page).toContain(words);
  expect(gzipSync(page).length).toBeLessThan(60_000);
});

test('the list of runs keeps only what its filters say, and the failed ones are a link', async () => {
  const { studio, run } = await opened();
  const link = `href="/runs/${run.id}"`;
  const all = await studio.text('/runs');
  expect(all).toContain('href="/runs?status=failed_only"');
  const shown = await Promise.all(
    [
      '',
      '?text=octo',
      '?chain=pr-review&repository=octo/app',
      '?text=nothing-like-it',
      '?status=failed_only',
    ].map(async (query) => (await studio.text(`/runs${query}`)).includes(link)),
  );
  expect(shown).toEqual([true, true, true, false, false]);
});
