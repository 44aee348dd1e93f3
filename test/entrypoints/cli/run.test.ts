import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTools } from '../../../src/cli-tools.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { aboutNothing } from '../../../src/domain/audit/entry.ts';
import { reason } from '../../../src/domain/explanation/reason.ts';
import { cognitiveStateSchema } from '../../../src/domain/expression/state-schema.ts';
import type { Tools } from '../../../src/entrypoints/cli/context.ts';
import { runJsonSchema, runWithWritesSchema, whyJsonSchema } from '../../../src/messages/cli/run-json.ts';
import { JOB_PAYLOADS } from '../../../src/ports/jobs.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { at, invocation, merged, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { answered, countersignOn, jobsIn, parsed, seed } from './support.ts';

const newFolder = temporaryFolders();

async function withRuns() {
  const path = join(newFolder(), 'countersign.db');
  await seed(path, (storage) =>
    storage.transaction(async ({ runs, pullRequests }) => {
      await runs.insert(runState('run_old', { createdAt: at(1), status: 'running' }));
      await runs.insert(
        runState('run_done', {
          createdAt: at(2),
          status: 'completed',
          reason: reason('run.completed', 'merged'),
          finishedAt: at(9),
        }),
      );
      await runs.insert(
        runState('run_other', {
          createdAt: at(3),
          repository: 'acme/shop',
          repositoryId: 71,
          pullRequest: 8,
        }),
      );
      await pullRequests.upsert({
        repositoryId: 70,
        number: 3,
        repository: 'acme/rocket',
        installationId: 99,
        pausedBy: null,
        headSha: null,
        previousHeadSha: null,
        headSeenAt: null,
        updatedAt: at(3),
      });
    }),
  );
  return { path, run: countersignOn(path) };
}

describe('run list', () => {
  it('shows runs, newest first, as a table', async () => {
    const { run } = await withRuns();
    const { code, stdout, stderr } = await run('run', 'list');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [headings, ...rows] = stdout.trimEnd().split('\n');
    expect(headings).toMatch(/^RUN +CHAIN +PULL REQUEST +HEAD +STATUS +OUTCOME +UPDATED$/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, -1))).toEqual([
      ['run_other', 'pr-review', 'acme/shop#8', 'aaaaaaa', 'running'],
      ['run_done', 'pr-review', 'acme/rocket#3', 'aaaaaaa', 'completed', 'done'],
      ['run_old', 'pr-review', 'acme/rocket#3', 'aaaaaaa', 'running'],
    ]);
  });

  it('prints the public shape of each run as JSON, filtered by the options', async () => {
    const { run } = await withRuns();
    const ids = async (...options: string[]) => {
      const runs = z.array(runJsonSchema).parse(parsed(await run('run', 'list', '--json', ...options)));
      return runs.map(({ id }) => id);
    };
    expect(await ids()).toEqual(['run_other', 'run_done', 'run_old']);
    expect(await ids('--repo', 'acme/rocket', '--pr', '3', '--active')).toEqual(['run_old']);
    expect(await ids('--status', 'completed')).toEqual(['run_done']);
    expect(await ids('--limit', '1')).toEqual(['run_other']);
    expect(await ids('--status', 'failed')).toEqual([]);
  });
});

describe('run show and run why', () => {
  it('show the run, its steps and why it is in its status', async () => {
    const { run } = await withRuns();
    const shown = await run('run', 'show', 'run_old');
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/^acme\/rocket#3 at aaaaaaa, chain pr-review, run run_old\n/);
    expect(shown.stdout).toMatch(/\nSTEP +STATE +TOOK +REASON\nreview +/);
    const why = await run('run', 'why', 'run_old');
    expect(why.stdout).toMatch(/^… .+\n {2}… review has not started\n {2}… merge has not started\n$/);
  });

  it('print the public shapes as JSON', async () => {
    const { run } = await withRuns();
    expect(runWithWritesSchema.parse(parsed(await run('run', 'show', 'run_done', '--json')))).toMatchObject({
      id: 'run_done',
      status: 'completed',
      reason: { code: 'run.completed' },
    });
    expect(whyJsonSchema.parse(parsed(await run('run', 'why', 'run_old', '--json'))).status).toBe('pending');
  });
});

describe('run show --state', () => {
  async function withConcluded() {
    const path = join(newFolder(), 'countersign.db');
    await seed(path, (storage) =>
      storage.transaction(({ runs }) => {
        const { run, invocations } = runState('run_said');
        const said = { status: 'completed', outcome: merged } as const;
        return runs.insert({ run, invocations: invocations.with(1, invocation('run_said', 1, said)) });
      }),
    );
    return countersignOn(path);
  }

  it('adds the run’s limits and what its steps remember, with sources', async () => {
    const run = await withConcluded();
    const { stdout } = await run('run', 'show', 'run_said', '--state');
    expect(stdout).toMatch(
      /\nGoal: chain pr-review: pull request #3 of acme\/rocket, commit aaaaaaa into main\n/,
    );
    expect(stdout).toMatch(/\nREMEMBERED +STEP +AS +TEXT\nmessages +merge +Merged as abc\.\n/);
    expect(stdout).toMatch(
      /\nSTEP +READ +WROTE +FROM\nmerge +trigger\.pr_number +messages 1 +sha256:[0-9a-f]{12}\n$/,
    );
    expect((await run('run', 'show', 'run_said')).stdout).not.toContain('Goal:');
  });

  it('prints them as JSON beside the run', async () => {
    const run = await withConcluded();
    const { state, ...rest } = z
      .looseObject({ state: cognitiveStateSchema })
      .parse(parsed(await run('run', 'show', 'run_said', '--state', '--json')));
    expect(runWithWritesSchema.parse(rest).id).toBe('run_said');
    expect(state.working.messages).toEqual([{ step: 'merge', text: 'Merged as abc.' }]);
  });
});

describe('run cancel', () => {
  it('leaves a signal for the app, which changes the run', async () => {
    const { path, run } = await withRuns();
    const { code, stdout } = await run('run', 'cancel', 'run_old');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'Asked for: the app cancels run_old (pr-review, acme/rocket#3) at once, or when it next runs.\n',
    });
    const [job, ...others] = jobsIn(path);
    expect(others).toEqual([]);
    expect(job).toMatchObject({ kind: 'signal', key: 'run:run_old' });
    expect(JOB_PAYLOADS.signal.parse(job?.payload)).toEqual({
      runId: 'run_old',
      by: { kind: 'operator' },
      signal: {
        kind: 'end',
        status: 'cancelled',
        reason: reason('run.cancelled.by_person', 'cancelled by an operator'),
      },
    });
    expect(parsed(await run('run', 'show', 'run_old', '--json'))).toMatchObject({ status: 'running' });
  });

  it('counts as an operator’s, also if an older version queued it without saying so', () => {
    const because = reason('run.cancelled.by_person', 'cancelled by an operator');
    const older = { runId: 'run_old', signal: { kind: 'end', status: 'cancelled', reason: because } };
    expect(JOB_PAYLOADS.signal.parse(older).by).toEqual({ kind: 'operator' });
  });

  it.each([
    ['run_done', 'cli.run_is_over', /^The run run_done is over already \(completed, .+ ago\)/],
    ['run_none', 'cli.unknown_run', /^There is no run run_none; countersign run list/],
  ])('of %s fails and queues nothing', async (id, code, message) => {
    const { path, run } = await withRuns();
    const ended = await run('run', 'cancel', id, '--json');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    const { error } = JSON.parse(ended.stderr);
    expect(error).toEqual({ code, message: expect.stringMatching(message) });
    expect(jobsIn(path)).toEqual([]);
  });
});

describe('chain fire', () => {
  it('leaves the event of a chain fired by hand, for the newest known installation', async () => {
    const { path, run } = await withRuns();
    const options = [
      '--repo',
      'acme/rocket',
      '--pr',
      '3',
      '--input',
      'environment=staging',
      '--input',
      'note=a=b c',
    ];
    const { code, stdout } = await run('chain', 'fire', 'deploy', '--no-wait', ...options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Asked for: the app fires deploy for acme\/rocket#3 at once/);
    expect(jobsIn(path)).toEqual([
      {
        kind: 'event',
        key: 'pr:70#3',
        payload: {
          event: {
            kind: 'manual.fired',
            installation_id: 99,
            repository: { id: 70, owner: 'acme', name: 'rocket' },
            asked_by: { verb: 'fire', given: expect.objectContaining({ line: 0 }) },
            run_id: expect.stringMatching(/^run_/),
            chain: 'deploy',
            pull_request: 3,
            actor: 'an operator',
            inputs: { environment: 'staging', note: 'a=b c' },
          },
        },
      },
    ]);
  });

  it('leaves the event of a chain fired for a branch, with inputs after its name', async () => {
    const { path, run } = await withRuns();
    const place = ['--repo', 'acme/rocket', '--ref', 'release'];
    const { code, stdout } = await run(
      'chain',
      'fire',
      'deploy',
      '--no-wait',
      ...place,
      'note=a=b c',
      'dry=',
    );
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Asked for: the app fires deploy for the branch release of acme\/rocket at once/,
      ),
    });
    expect(jobsIn(path)).toMatchObject([
      {
        key: 'repository:70',
        payload: { event: { pull_request: null, ref: 'release', inputs: { note: 'a=b c', dry: '' } } },
      },
    ]);
  });

  it('uses the installation of the newest run if the pull request is unknown', async () => {
    const { path, run } = await withRuns();
    const { stdout } = await run(
      'chain',
      'fire',
      'deploy',
      '--repo',
      'acme/shop',
      '--pr',
      '12',
      '--json',
      '--no-wait',
    );
    expect(JSON.parse(stdout)).toEqual({
      queued: true,
      begun: null,
      run_id: expect.stringMatching(/^run_/),
      chain: 'deploy',
      repository: 'acme/shop',
      pull_request: 12,
      inputs: {},
    });
    expect(jobsIn(path)).toMatchObject([{ key: 'pr:71#12', payload: { event: { installation_id: 7 } } }]);
  });

  /** The command line, and what the app does while it waits. */
  async function waiting(during: (storage: Storage, runId: string) => Promise<void>) {
    const { path } = await withRuns();
    let pauses = 0;
    const tools: Tools = {
      ...createTools({ DATABASE_URL: `sqlite:${path}` }),
      async pause() {
        pauses += 1;
        if (pauses > 1) return;
        const { event } = z
          .object({ event: z.object({ run_id: z.string() }) })
          .parse(jobsIn(path)[0]?.payload);
        await seed(path, (storage) => during(storage, event.run_id));
      },
    };
    const args = ['chain', 'fire', 'deploy', '--repo', 'acme/shop', '--pr', '12'];
    return { ...(await answered(args, { cwd: process.cwd(), clock: systemClock, tools })), pauses };
  }

  it('waits until the app says why the chain cannot run', async () => {
    const { code, err } = await waiting((storage, run_id) =>
      storage.transaction((tx) =>
        tx.audit.record({
          kind: 'command.refused',
          ...aboutNothing({ kind: 'operator' }),
          repository: { id: 71, name: 'acme/shop' },
          pull_request: 12,
          run_id,
          verb: 'fire',
          chain: 'deploy',
          because: 'there is no chain "deploy"; allowed: pr-review',
        }),
      ),
    );
    expect({ code, err }).toEqual({
      code: 1,
      err: 'Not fired: there is no chain "deploy"; allowed: pr-review.\n',
    });
  });

  it('ends with 2 if the app refuses the inputs', async () => {
    const because = 'the chain "deploy" cannot run with these inputs: "environment" is missing';
    const { code, err } = await waiting((storage, run_id) =>
      storage.transaction((tx) =>
        tx.audit.record({
          kind: 'command.refused',
          ...aboutNothing({ kind: 'operator' }),
          repository: { id: 71, name: 'acme/shop' },
          run_id,
          verb: 'fire',
          chain: 'deploy',
          because,
          of: 'inputs',
        }),
      ),
    );
    expect({ code, err }).toEqual({ code: 2, err: `Not fired: ${because}.\n` });
  });

  it('ends with 1 and says so if the app does not answer within a minute', async () => {
    const { code, out, pauses } = await waiting(async () => {});
    expect(code).toBe(1);
    expect(out).toMatch(
      /^The app has not answered within 60 s: it fires deploy for acme\/shop#12 when it next runs\.\n/,
    );
    expect(pauses).toBe(241);
  });

  it('says that the repository is unknown', async () => {
    const { path, run } = await withRuns();
    const ended = await run('chain', 'fire', 'deploy', '--repo', 'acme/nowhere', '--pr', '1');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^Nothing has run for acme\/nowhere yet/);
    expect(jobsIn(path)).toEqual([]);
  });
});
