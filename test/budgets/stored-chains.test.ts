import { expect, test } from 'vitest';
import { start } from '../scenario/support.ts';
import { REPO } from '../support/harness.ts';
import { watchDatabases } from '../support/statements.ts';

/**
 * What two deliveries cost beside chains that the operator stored for one repository: a label that no chain waits for, and
 * one that one chain waits for.
 */
async function workBeside(chains: number) {
  const watch = watchDatabases();
  const harness = await start();
  await harness.app.storage.transaction(async (tx) => {
    const at = harness.clock.now();
    for (let index = 0; index < chains; index++) {
      const name = `chain-${index}`;
      const definition = `name: ${name}\ntrigger: { event: issue.labeled, filter: { label: theirs-${index} } }\nsteps: [{ action: gh-comment, with: { body: hi } }]\n`;
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
    const before = process.cpuUsage();
    const result = await work();
    await harness.settle();
    const { user, system } = process.cpuUsage(before);
    const { statements, commits } = watch.work();
    return { result, statements, commits, ms: Math.round((user + system) / 1_000) };
  };
  const read = await measured(() => harness.github.createIssue(REPO, 'otto', 'A question'));
  const label = (name: string) => measured(() => harness.github.addLabel(REPO, read.result, 'will', name));
  await label('first');
  const unheard = await label('other');
  const heard = await label('theirs-5');
  watch.stop();
  const runs = await harness.app.storage.read.runs.list({});
  return { read, unheard, heard, runs: runs.map(({ chain }) => chain) };
}

test('10,000 stored chains cost a delivery hardly more statements than 10', { tags: 'slow' }, async () => {
  const few = await workBeside(10);
  const many = await workBeside(10_000);
  if (process.env.COUNTERSIGN_FIGURES) console.log(JSON.stringify({ few, many }, null, 1));
  expect(many.runs).toEqual(['chain-5']);
  // How many jobs share a transaction depends on the machine.
  expect(many.unheard.statements).toBeLessThan(few.unheard.statements + 30);
  expect(many.heard.statements).toBeLessThan(few.heard.statements + 30);
});
