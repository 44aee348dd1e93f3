import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mergeSettings, parseSettings } from '../../../src/domain/chain/settings.ts';
import { at, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersignOn, parsed, seed } from './support.ts';

const newFolder = temporaryFolders();

const LOCKS = 'sql/index-locks-writes';

/** A rule whose findings people accepted on three of four pull requests of acme/rocket. */
async function withLearnedRule() {
  const path = join(newFolder(), 'countersign.db');
  await seed(path, (storage) =>
    storage.transaction(async ({ acceptedFindings, runs }) => {
      await runs.insert(runState('run_1', { createdAt: at(1) }));
      for (const pullRequest of [3, 4, 5, 6]) {
        await acceptedFindings.countFound({ repositoryId: 70, pullRequest }, new Map([[LOCKS, 9]]), at(1));
        if (pullRequest === 6) continue;
        await acceptedFindings.put({
          repositoryId: 70,
          pullRequest,
          headSha: 'a'.repeat(40),
          finding: 'f1',
          rule: LOCKS,
          severity: 'medium',
          by: { id: 10, login: 'mia' },
          because: 'the table is small',
          at: at(2),
        });
      }
    }),
  );
  return countersignOn(path);
}

test('learn lists rules whose findings are not shown, until somebody has it forget them', async () => {
  const run = await withLearnedRule();
  expect((await run('learn', '--repo', 'acme/rocket')).stdout).toContain(
    `REPOSITORY   RULE                    UP TO   PULL REQUESTS  ACCEPTED BY\nacme/rocket  ${LOCKS}  medium  3 of 4         mia`,
  );
  expect(parsed(await run('learn', '--json'))).toMatchObject([
    { rule: LOCKS, not_shown_in: [{ up_to: 'medium', accepted_on: 3, found_on: 4 }] },
  ]);
  expect((await run('learn', '--repo', 'acme/rocket', '--forget', LOCKS)).stdout).toBe(
    `Forgot that ${LOCKS} was accepted on 3 pull requests of acme/rocket. The next reviews show its findings.\n`,
  );
  expect((await run('learn', '--repo', 'acme/rocket')).stdout).not.toContain(LOCKS);
  expect((await run('audit', 'export')).stdout).toContain('"kind":"rule.forgotten"');
});

test.each([
  ['without a repository', ['--forget', LOCKS], 2, '--forget needs the repository'],
  [
    'a rule of which nobody accepted anything',
    ['--forget', 'a/b', '--repo', 'acme/rocket'],
    1,
    'Nobody in acme/rocket has accepted a finding of a/b since it was last forgotten.',
  ],
])('learn does not forget %s', async (_, args, expected, message) => {
  const run = await withLearnedRule();
  const { code, stderr } = await run('learn', ...args);
  expect(code).toBe(expected);
  expect(stderr).toContain(message);
});

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
      not_shown_in: [],
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
