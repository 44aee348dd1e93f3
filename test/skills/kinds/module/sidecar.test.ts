import { AsyncLocalStorage } from 'node:async_hooks';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createSidecar,
  type Host,
  MAX_ENDS,
  type Sidecar,
  type SidecarDeps,
  type Task,
} from '../../../../src/skills/kinds/module/sidecar.ts';
import { ManualClock } from '../../../support/clock.ts';
import { eachFirstQuick } from '../../../support/each-first-quick.ts';

const FAKE = fileURLToPath(new URL('fake.mjs', import.meta.url));
const clock = new ManualClock('2026-03-02T09:00:00.000Z');
let sidecar: Sidecar;
let starts = 0;
afterEach(() => sidecar.stop());

/** A sidecar whose process does this; a list gives each of its lives one entry. */
function behaving(behaviour: string | string[], more: Partial<SidecarDeps> = {}): Sidecar {
  starts = 0;
  sidecar = createSidecar({
    clock,
    command: async () => {
      const now = typeof behaviour === 'string' ? behaviour : (behaviour[starts] ?? 'answer');
      starts += 1;
      return { command: process.execPath, args: [FAKE, now] };
    },
    ...more,
  });
  return sidecar;
}

const nobody: Host = async () => ({ because: 'nobody is asked here' });
const PROGRAM = { instruction: 'x', inputs: [], outputs: [], tools: [], steps: 1, demos: [] };
const task = (over: Partial<Task> = {}): Task => ({
  ask: { service: 'execute', program: PROGRAM, inputs: {} },
  host: nobody,
  timeoutMs: 100_000,
  signal: new AbortController().signal,
  ...over,
});
const doing = (what: string, over: Partial<Task> = {}) =>
  task({ ask: { service: 'execute', program: PROGRAM, inputs: { do: what } }, ...over });

describe('the process of the sidecar', () => {
  it('starts with the first task, serves later ones too, and ends when idle for a while', async () => {
    let idle = () => {};
    const one = behaving('answer', {
      later(_ms, then) {
        idle = then;
        return () => {};
      },
    });
    expect(starts).toBe(0);
    const first = await one.perform(task());
    expect(first).toEqual({ kind: 'done', value: one.pid() });
    expect(await one.perform(task())).toEqual(first);
    expect(starts).toBe(1);
    idle();
    await expect.poll(() => one.pid()).toBeUndefined();
    expect(await one.perform(task())).not.toEqual(first);
    expect(starts).toBe(2);
  });

  it('starts once for concurrent tasks', { tags: 'slow' }, async () => {
    const one = behaving('answer');
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => one.perform(task())));
    expect(others).toEqual([first, first]);
    expect(starts).toBe(1);
  });

  it('does not end for being idle while a task is under way', { tags: 'slow' }, async () => {
    const taken: boolean[] = [];
    const one = behaving('answer', { later: () => () => void taken.push(true) });
    await one.perform(task());
    await one.perform(task());
    expect(taken).toEqual([true]);
  });

  it('starts again when it dies, with the task that was under way', async () => {
    const one = behaving(['die', 'die', 'answer']);
    expect(await one.perform(task())).toMatchObject({ kind: 'done' });
    expect(starts).toBe(3);
  });

  it('loses no task when it is killed from outside during a question', { tags: 'slow' }, async () => {
    const one = behaving(['ask', 'answer']);
    const killed: number[] = [];
    const host: Host = async (_, signal) => {
      process.kill(one.pid() ?? 0, 'SIGKILL');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      killed.push(1);
      return { because: 'too late' };
    };
    expect(await one.perform(task({ host }))).toMatchObject({ kind: 'done' });
    expect(killed).toEqual([1]);
  });

  it('is unavailable after it died three times, until a while has passed', async () => {
    const one = behaving(['die', 'die', 'die', 'answer']);
    const because = { kind: 'died', detail: 'exit code 3' };
    expect(await one.perform(task())).toEqual({ kind: 'unavailable', because });
    expect(starts).toBe(MAX_ENDS);
    expect(await one.perform(task())).toEqual({ kind: 'unavailable', because });
    expect(starts).toBe(MAX_ENDS);
    clock.advance(300_000);
    expect(await one.perform(task())).toMatchObject({ kind: 'done' });
  });

  it('is unavailable if it cannot be started', { tags: 'slow' }, async () => {
    const missing = behaving('', { command: async () => ({ command: '/nowhere/node', args: [] }) });
    expect(await missing.perform(task())).toMatchObject({
      kind: 'unavailable',
      because: { kind: 'not_started', detail: expect.stringContaining('ENOENT') },
    });
    // Also for several tasks at a time: a failed start counts once.
    let tries = 0;
    const often = behaving('', {
      command: async () => {
        tries += 1;
        if (tries < MAX_ENDS) throw new Error('not yet');
        return { command: process.execPath, args: [FAKE, 'answer'] };
      },
    });
    const ends = await Promise.all([1, 2, 3, 4].map(() => often.perform(task())));
    expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['done']));
    await often.stop();
    const broken = behaving('', { command: () => Promise.reject(new Error('the package is not installed')) });
    expect(await broken.perform(task())).toEqual({
      kind: 'unavailable',
      because: { kind: 'not_started', detail: 'the package is not installed' },
    });
  });

  it('is killed at its task’s time limit if it hangs, and the other tasks start again', {
    tags: 'slow',
  }, async () => {
    const one = behaving('silent');
    const other = one.perform(doing('ask', { host: async () => ({ value: 'go on' }) }));
    const hung = one.perform(doing('loop', { timeoutMs: 300 }));
    // Started while the loop keeps the process from reading it.
    const late = one.perform(doing('answer'));
    expect(await hung).toEqual({ kind: 'timed_out' });
    expect(await late).toMatchObject({ kind: 'done' });
    expect(await other).toMatchObject({ kind: 'done' });
    expect(starts).toBe(2);
  });

  it('ends with the app, and its tasks fail', async () => {
    const one = behaving('silent');
    const under = one.perform(task());
    await expect.poll(() => one.pid()).toBeDefined();
    const pid = one.pid() ?? 0;
    await one.stop();
    expect(await under).toEqual({ kind: 'unavailable', because: { kind: 'stopped' } });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await one.perform(task())).toEqual({ kind: 'unavailable', because: { kind: 'stopped' } });
  });

  it('continues the other tasks when a task is aborted', { tags: 'slow' }, async () => {
    const one = behaving('silent');
    const controller = new AbortController();
    const aborted = one.perform(task({ signal: controller.signal }));
    const before = await one.perform(doing('answer'));
    controller.abort(new Error('superseded'));
    await expect(aborted).rejects.toThrow('superseded');
    expect(await one.perform(doing('answer'))).toEqual(before);
  });
});

describe('the output of the sidecar', () => {
  eachFirstQuick([
    ['prose, and a verdict in another form', ['nonsense', 'wrong', 'answer']],
    ['a question for an unknown task, and a line without end', ['other', 'endless', 'answer']],
  ])('ends the sidecar if it is not a message: %s', async (_, lives) => {
    const one = behaving(lives);
    expect(await one.perform(task())).toEqual({ kind: 'done', value: one.pid() });
    expect(starts).toBe(3);
  });

  it('makes the sidecar unavailable if it is never a message', { tags: 'slow' }, async () => {
    const end = await behaving('nonsense').perform(task());
    expect(end).toEqual({ kind: 'unavailable', because: { kind: 'no_message' } });
  });

  it('is answered in the context of its own task, not of the one that started the process', {
    tags: 'slow',
  }, async () => {
    const context = new AsyncLocalStorage<string>();
    const one = behaving('ask');
    const host: Host = async () => ({ value: context.getStore() ?? null });
    for (const name of ['first', 'second']) {
      const end = await context.run(name, () => one.perform(task({ host })));
      expect(end).toMatchObject({ value: { value: name } });
    }
  });

  it('is answered under its own number, or refused with a reason', async () => {
    const one = behaving('ask');
    expect(await one.perform(task({ host: async () => ({ value: ['yes'] }) }))).toEqual({
      kind: 'done',
      value: { kind: 'answer', id: 1, value: ['yes'] },
    });
    expect(await one.perform(task({ host: async () => ({ because: 'no budget' }) }))).toEqual({
      kind: 'done',
      value: { kind: 'refusal', id: 2, because: 'no budget' },
    });
    const broken = () => Promise.reject(new Error('out of order'));
    await expect(one.perform(task({ host: broken }))).rejects.toThrow('out of order');
    expect(starts).toBe(1);
  });
});
