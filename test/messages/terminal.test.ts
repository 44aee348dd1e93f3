import { describe, expect, it } from 'vitest';
import { table } from '../../src/messages/cli/table.ts';
import { deliveryList, runList, runShow } from '../../src/messages/cli/terminal.ts';
import { PLAIN } from '../../src/messages/text/screen.ts';
import { at, makeRun } from './builders.ts';
import { SCENES } from './scenes.ts';

describe('tables for the terminal', () => {
  it('align their columns, wide characters included', () => {
    expect(
      `\n${table(
        ['A', 'BRANCH', 'C'],
        [
          ['1', '日本', 'x'],
          ['22', 'fix-🚀', 'y'],
          ['3', 'café', 'z'],
        ],
      )}`,
    ).toMatchInlineSnapshot(`
      "
      A   BRANCH  C
      1   日本    x
      22  fix-🚀  y
      3   café    z"
    `);
  });

  it('cut a cell that would push the others off the screen', () => {
    expect(table(['A', 'B'], [['x'.repeat(500), 'y']]).split('\n')[1]).toBe(`${'x'.repeat(59)}…  y`);
  });

  it('list runs', () => {
    const runs = [
      makeRun({ id: 'run_02', status: 'waiting_approval' }),
      makeRun({
        id: 'run_01',
        pullRequest: null,
        chain: 'nightly',
        status: 'failed',
        updatedAt: at('09:00'),
      }),
    ];
    expect(
      `\n${runList(
        runs.map((run) => ({ run })),
        at('12:08'),
      )}`,
    ).toMatchInlineSnapshot(`
      "
      RUN     CHAIN      PULL REQUEST  HEAD     STATUS            UPDATED
      run_02  pr-review  acme/shop#7   abc1234  waiting_approval  3 min ago
      run_01  nightly    acme/shop     abc1234  failed            3 h 8 min ago"
    `);
    expect(runList([], at('12:08'))).toBe('No runs.');
  });

  it('show one run', () => {
    const { state, approval } = SCENES['changes requested'] ?? { state: undefined, approval: null };
    expect(state && `\n${runShow(state, approval, at('12:08'))}`).toMatchInlineSnapshot(`
      "
      acme/shop#7 at abc1234, chain pr-review, run run_01
      Changes requested: 1 critical, 1 high, 1 medium
      Created 2025-03-01T12:00:00.000Z, updated 3 min ago

      STEP     STATE       TOOK   REASON
      review   not passed  1 min  1 critical and 1 high finding in 3 files must be fixed firs…
      ci       skipped            the review did not pass
      merge    skipped            the review did not pass
      changes  done               commented on #7

      ✘ not merged: review: 1 critical and 1 high finding in 3 files must be fixed first; 1 medium finding can wait.
        ✘ review: 1 critical and 1 high finding in 3 files must be fixed first; 1 medium finding can wait.
          ✘ critical: A cloud access key is written into the code. (src/config.ts:12, finding cdd0967c)
          ✘ high: A value from outside is put into an SQL statement. (src/db.ts:8, finding 11002f85)
        ✘ ci was skipped because the review did not pass
        ✘ merge was skipped because the review did not pass"
    `);
  });

  it('list what came of runs, and keep ids and the most telling columns on a narrow screen', () => {
    const runs = ['changes requested', 'merged', 'superseded by a push', 'waiting for a countersign'].flatMap(
      (scene, index) => {
        const state = SCENES[scene]?.state;
        if (!state) throw new Error(`there is no scene ${scene}`);
        const id = `run_01k2x7m9q${index}zzzzzzzzzzzzzzz`;
        const run = { ...state.run, id, repository: 'a-long-organisation/and-a-longer-repository' };
        return { run, state: { ...state, run } };
      },
    );
    expect(`\n${runList(runs, at('12:08'))}`).toMatchInlineSnapshot(`
      "
      RUN                            CHAIN      PULL REQUEST                                   HEAD     STATUS            OUTCOME            UPDATED
      run_01k2x7m9q0zzzzzzzzzzzzzzz  pr-review  a-long-organisation/and-a-longer-repository#7  abc1234  completed         changes requested  3 min ago
      run_01k2x7m9q1zzzzzzzzzzzzzzz  pr-review  a-long-organisation/and-a-longer-repository#7  abc1234  completed         merged             3 min ago
      run_01k2x7m9q2zzzzzzzzzzzzzzz  pr-review  a-long-organisation/and-a-longer-repository#7  abc1234  cancelled         superseded         3 min ago
      run_01k2x7m9q3zzzzzzzzzzzzzzz  pr-review  a-long-organisation/and-a-longer-repository#7  abc1234  waiting_approval                     3 min ago"
    `);
    for (const columns of [70, 80, 100]) {
      const shown = runList(runs, at('12:08'), { ...PLAIN, columns });
      expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
      for (const { run } of runs) expect(shown).toContain(run.id);
      expect(`\n${shown}`).toMatchSnapshot(`${columns} columns`);
    }
  });

  it('list deliveries', () => {
    const delivery = {
      id: 3,
      guid: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      event: 'pull_request',
      action: 'opened',
      installationId: 1,
      receivedAt: at('12:00'),
      status: 'failed' as const,
      attempts: 2,
      error: 'GitHub did not answer\nsecond line',
      finishedAt: null,
    };
    expect(
      `\n${deliveryList([delivery, { ...delivery, id: 2, event: 'ping', action: null, error: null }], at('12:08'))}`,
    ).toMatchInlineSnapshot(`
      "
      DELIVERY  GUID                                  EVENT                STATUS  ATTEMPTS  RECEIVED   ERROR
      3         72d3162e-cc78-11e3-81ab-4c9367dc0958  pull_request.opened  failed  2         8 min ago  GitHub did not answer second line
      2         72d3162e-cc78-11e3-81ab-4c9367dc0958  ping                 failed  2         8 min ago"
    `);
    expect(deliveryList([], at('12:08'))).toBe('No deliveries.');
  });
});
