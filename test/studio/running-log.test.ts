// @module-tag slow
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MOST_PRINTED } from '../../src/engine/sessions/printed-lines.ts';
import { LINES_CUT } from '../../src/messages/run/running-log.ts';
import type { Shell } from '../../src/ports/shell.ts';
import { isSandboxAvailable } from '../../src/skills/kinds/agent/sandbox.ts';
import { createShell } from '../../src/skills/shell/shell.ts';
import { countersign, open, start } from '../scenario/support.ts';
import { only } from '../scenario/support-scene.ts';
import { addressOfEvents, eventsOf } from '../support/events.ts';
import { pause, plannedTimers, printingShell } from '../support/printing-step.ts';
import { startStudio } from '../support/served-studio.ts';
import { watchDatabases } from '../support/statements.ts';
import { until } from '../support/until.ts';

const TRY = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: try, action: shell, requires_approval: true, with: { run: "COMMAND" } }
`;

/** A pull request whose step is about to run a command. */
async function asked(shell: Shell, command = 'npm test') {
  const timers = plannedTimers();
  const files = only({ flow: TRY.replace('COMMAND', command) }, 'shell: allow\n');
  const harness = await start({ files, shell, timers, pollMs: 3_600_000 });
  const { number } = await open(harness);
  const [run] = await harness.app.storage.read.runs.list({ chain: 'flow' });
  if (!run) throw new Error('no run began');
  return { harness, timers, run, countersigned: () => countersign(harness, number) };
}

/** The same, with its page. The command runs until it ends by itself, or until the test ends it. */
async function running(shell: Shell, command?: string) {
  const { countersigned, ...scene } = await asked(shell, command);
  const { harness, timers, run } = scene;
  const studio = await startStudio(harness);
  onTestFinished(() => studio.stop());
  const over = countersigned();
  const page = () => studio.text(`/runs/${run.id}`);
  return {
    ...scene,
    studio,
    over,
    page,
    /** Lets time pass until the page shows this. */
    shows: (text: string) =>
      until(`"${text}" on the page`, async () => {
        timers.pass(1_000);
        const shown = await page();
        return shown.includes(text) ? shown : undefined;
      }),
  };
}

/** The lines that a page shows of a running step. */
function linesIn(page: string): string | undefined {
  return /<pre id="lines-[^>]*data-follows>([\s\S]*?)<\/pre>/.exec(page)?.[1];
}

/** The lines that an event adds to those with this id. */
function addedIn(data: string) {
  const added = /^<hx-partial hx-target="#([\w-]+)" hx-swap="beforeend">([\s\S]*)<\/hx-partial>$/.exec(data);
  return added && { id: added[1], lines: added[2] };
}

const TOKEN = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_');

test('the page of a run shows the lines that a running step has printed so far, without secrets', async () => {
  const step = printingShell();
  const { over, page, shows } = await running(step.shell);
  await step.begun();
  step.print(`\u001b[32mcompiling\u001b[0m <b>\nwith ${TOKEN}\nnot yet a li`);
  expect(linesIn(await shows('compiling'))).toBe('compiling &lt;b&gt;\nwith [redacted: GitHub token]\n');
  step.print('ne\n');
  expect(linesIn(await shows('not yet a line'))).toContain('\nnot yet a line\n');
  step.end();
  await over;
  const last = await page();
  expect([linesIn(last), last.includes('The whole log')]).toEqual([undefined, true]);
});

test('a stream adds the lines that a step prints, also after a restart of Studio, each once', async () => {
  const step = printingShell();
  const { studio, over, page, timers, run, harness } = await running(step.shell);
  await step.begun();
  const nextOf = async (events: Awaited<ReturnType<typeof eventsOf>>, text: string) => {
    step.print(text);
    timers.pass(1_500);
    return events.next();
  };
  const address = addressOfEvents(await page());
  const before = await eventsOf(studio, address);
  const first = await nextOf(before, 'one\n');
  expect(linesIn(first.data)).toBe('one\n');
  const id = /<pre id="(lines-[\w-]+)"/.exec(first.data)?.[1];
  const second = await nextOf(before, 'two <2>\n');
  expect(addedIn(second.data)).toEqual({ id, lines: 'two &lt;2&gt;\n' });

  await studio.restart();
  step.print('three\n');
  timers.pass(1_000);
  const again = await eventsOf(studio, address, second.id);
  const third = await again.next();
  expect(addedIn(third.data)).toEqual({ id, lines: 'three\n' });

  // The run changes beside the step. A browser keeps the lines that it has, and the next ones follow them.
  await pause(harness, run.id);
  const changed = await again.next();
  expect([changed.data.includes(', paused'), linesIn(changed.data)]).toEqual([
    true,
    'one\ntwo &lt;2&gt;\nthree\n',
  ]);
  const late = await eventsOf(studio, address, second.id);
  expect((await late.next()).data).toContain(', paused');
  expect(addedIn((await late.next()).data)).toEqual({ id, lines: 'three\n' });
  expect(addedIn((await nextOf(again, 'four\n')).data)).toEqual({ id, lines: 'four\n' });

  step.end();
  await over;
  let last = await again.next();
  while (!last.data.includes('The whole log')) last = await again.next();
  expect([linesIn(last.data), last.id.includes('|')]).toEqual([undefined, false]);
});

test('a step that ends at once adds no statement for its lines', async () => {
  const step = printingShell();
  const database = watchDatabases();
  onTestFinished(() => database.stop());
  const { harness, timers, countersigned } = await asked(step.shell);
  database.reset();
  const over = countersigned();
  await step.begun();
  step.print('done\n');
  step.end();
  await over;
  timers.pass(10_000);
  // Transactions run in their order.
  await harness.app.storage.transaction(async () => undefined);
  expect(database.work().histogram).not.toContain('session_logs');
});

test('the lines of a running step end with a sentence after 256 KB, and a page shows the last 200 of them', async () => {
  const step = printingShell();
  const { over, shows, run, harness } = await running(step.shell);
  await step.begun();
  step.print(`${'x'.repeat(99)}\n`.repeat(4_000));
  const lines = linesIn(await shows(LINES_CUT))?.split('\n') ?? [];
  expect([lines.length, lines.at(-2)]).toEqual([202, LINES_CUT]);
  expect(lines[0]).toContain('after 236,100 bytes');
  step.print('more\n');
  const { sessionLogs, runs } = harness.app.storage.read;
  const [session] = await runs.sessionsOf(run.id);
  const own = { runId: run.id, sessionId: session?.id ?? '' };
  expect((await sessionLogs.read(own, { most: 1_000_000 }))?.to).toBe(MOST_PRINTED + LINES_CUT.length + 1);
  step.end();
  await over;
  expect(await sessionLogs.read(own, { most: 1_000_000 })).toBeUndefined();
});

test.skipIf(!(await isSandboxAvailable()))(
  'the page of a run shows what a command in the sandbox has printed, before it ends',
  async () => {
    let head = '';
    const shell = createShell({
      allowed: true,
      gitAccess: async () => ({ url: 'https://git.example/octo/app.git', token: 'ghs_x' }),
      async head(folder) {
        head = folder;
        mkdirSync(join(folder, 'src'));
        return [];
      },
    });
    const waits = `echo installing; echo with ${TOKEN} >&2; until [ -e /work/go ]; do sleep 0.05; done; echo tested; exit 3`;
    const { over, page, shows } = await running(shell, waits);
    expect(linesIn(await shows('redacted'))).toBe('installing\nwith [redacted: GitHub token]\n');
    writeFileSync(join(head, 'go'), '');
    await over;
    const last = await page();
    expect([linesIn(last), last.includes('exited with 3'), last.includes('tested')]).toEqual([
      undefined,
      true,
      true,
    ]);
  },
);
