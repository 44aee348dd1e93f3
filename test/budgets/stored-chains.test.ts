// @module-tag slow
import { expect, onTestFinished, test } from 'vitest';
import { open, start } from '../scenario/support.ts';
import { REPO } from '../support/harness.ts';
import { watchLongLists } from '../support/long-lists.ts';
import { watchDatabases } from '../support/statements.ts';

/**
 * What deliveries cost beside chains that the operator stored for one repository. A tenth of them wait for labels of issues,
 * each for another one, and the others for merges. Then a label is added that no chain waits for, and one that one chain
 * waits for, and a pull request is opened.
 */
async function workBeside(chains: number) {
  const watch = watchDatabases();
  const lists = watchLongLists();
  onTestFinished(lists.stop);
  const harness = await start();
  await harness.app.storage.transaction(async (tx) => {
    const at = harness.clock.now();
    for (let index = 0; index < chains; index++) {
      const name = `chain-${index}`;
      const trigger =
        index % 10 === 5
          ? `{ event: issue.labeled, filter: { label: theirs-${index} } }`
          : `{ event: pr.merged, filter: { base: theirs-${index} } }`;
      const definition = `name: ${name}\ntrigger: ${trigger}\nsteps: [{ action: gh-comment, with: { body: hi } }]\n`;
      const row = {
        id: `chn_${index}`,
        owner: 'octo',
        repository: 'app',
        name,
        definition,
        status: 'active',
      } as const;
      await tx.chains.put({ ...row, createdAt: at, updatedAt: at });
    }
  });
  const measured = async <T>(work: () => Promise<T>) => {
    await harness.settle();
    watch.reset();
    lists.taken();
    const before = process.cpuUsage();
    const result = await work();
    await harness.settle();
    const { user, system } = process.cpuUsage(before);
    const { statements, commits } = watch.work();
    const ms = Math.round((user + system) / 1_000);
    return { result, statements, commits, entries: lists.taken(), ms };
  };
  const read = await measured(() => harness.github.createIssue(REPO, 'otto', 'A question'));
  const label = (name: string) => measured(() => harness.github.addLabel(REPO, read.result, 'will', name));
  await label('first');
  const unheard = await label('other');
  const heard = await label('theirs-5');
  await open(harness, { draft: true });
  const opened = await measured(() => open(harness, { branch: 'later', draft: true }));
  lists.stop();
  watch.stop();
  const runs = await harness.app.storage.read.runs.list({});
  return { read, unheard, heard, opened, runs: runs.map(({ chain }) => chain) };
}

test('What a delivery costs beside 10,000 stored chains depends on those that wait for its event', async () => {
  const few = await workBeside(10);
  const many = await workBeside(10_000);
  if (process.env.COUNTERSIGN_FIGURES) console.log(JSON.stringify({ few, many }, null, 1));
  expect(many.runs).toEqual(['chain-5']);
  // None for a pull request, and a few passes over those that wait for labels.
  expect(many.opened.entries).toBe(0);
  expect(many.unheard.entries).toBeLessThanOrEqual(5_000);
  expect(many.heard.entries).toBeLessThanOrEqual(5_000);
  // How many jobs share a transaction depends on the machine.
  expect(many.unheard.statements).toBeLessThan(few.unheard.statements + 30);
  expect(many.heard.statements).toBeLessThan(few.heard.statements + 30);
});
