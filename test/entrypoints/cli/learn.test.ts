import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mergeSettings, parseSettings } from '../../../src/domain/chain/settings.ts';
import { at, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersignOn, parsed, seed } from './support.ts';

const newFolder = temporaryFolders();

async function withAcceptances() {
  const path = join(newFolder(), 'countersign.db');
  await seed(path, (storage) =>
    storage.transaction(async ({ acceptedFindings, runs }) => {
      await runs.insert(runState('run_1', { createdAt: at(1) }));
      await runs.insert(
        runState('run_2', { createdAt: at(1), repository: 'acme/shop', repositoryId: 71, pullRequest: 8 }),
      );
      const rule = 'sql-migrations/drop-column';
      for (const [repositoryId, finding] of [
        [70, 'f1'],
        [70, 'f2'],
        [71, 'f3'],
      ] as const)
        await acceptedFindings.put({
          repositoryId,
          pullRequest: 3,
          headSha: 'a'.repeat(40),
          finding,
          rule,
          severity: 'high',
          by: { id: 10, login: 'mia' },
          because: 'intended',
          at: at(2),
        });
      await acceptedFindings.countFound({ repositoryId: 70, pullRequest: 3 }, new Map([[rule, 2]]), at(1));
    }),
  );
  return countersignOn(path);
}

test('learn prints each rule as JSON, with settings that leave it out', async () => {
  const run = await withAcceptances();
  const learned = parsed(await run('learn', '--repo', 'acme/rocket', '--json'));
  expect(learned).toEqual([
    {
      rule: 'sql-migrations/drop-column',
      found: 2,
      accepted: 2,
      by: [{ login: 'mia', count: 2 }],
      since: at(2).toISOString(),
      settings: 'review:\n  ignore:\n    - "sql-migrations/drop-column"',
    },
  ]);
  const { settings } = parseSettings((learned as { settings: string }[])[0]?.settings ?? '', 'x.yml');
  expect(mergeSettings(undefined, settings).review).toEqual({ ignore: ['sql-migrations/drop-column'] });
});

test('learn says so if no rule is mostly accepted', async () => {
  const run = await withAcceptances();
  const { code, stdout } = await run('learn', '--repo', 'acme/shop');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout:
      'No rule in acme/shop is mostly accepted. A rule is listed once people accepted at least two of its findings, and half of them.\n',
  });
});

test('learn refuses a repository that it has never seen', async () => {
  const run = await withAcceptances();
  const { code, stderr } = await run('learn', '--repo', 'acme/unknown');
  expect(code).toBe(1);
  expect(stderr).toContain('There has been no run for acme/unknown yet.');
});
