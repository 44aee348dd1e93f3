import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { createIntake, recordIn } from '../../../src/entrypoints/webhook/delivery/intake.ts';
import { fakeStorage, webhook } from './support.ts';

function intakeOver({ storage, queue }: ReturnType<typeof fakeStorage>, maxGroup?: number) {
  return createIntake({
    recorder: recordIn(storage, queue),
    clock: systemClock,
    ...(maxGroup === undefined ? {} : { maxGroup }),
  });
}

const guids = (count: number) => Array.from({ length: count }, (_, index) => `guid-${index}`);

describe('intake', () => {
  it('records all webhooks of one turn of the event loop in one transaction', async () => {
    const fake = fakeStorage();
    const intake = intakeOver(fake);
    // Immediates of one turn run one after another, each with its microtasks, as the requests of one turn do.
    await Promise.all(guids(16).map((guid) => nextTurn().then(() => intake.accept(webhook(guid)))));
    expect(fake.groups).toEqual([16]);
  });

  it('includes those that come a turn or two later', async () => {
    const fake = fakeStorage();
    const intake = intakeOver(fake);
    const first = intake.accept(webhook('first'));
    for (let turn = 0; turn < 2; turn++) await nextTurn();
    await Promise.all([first, intake.accept(webhook('second'))]);
    expect(fake.groups).toEqual([2]);
  });

  it('answers the first of a stream that never pauses', async () => {
    const intake = intakeOver(fakeStorage());
    let answered = false;
    void intake.accept(webhook('first')).then(() => {
      answered = true;
    });
    for (let n = 0; n < 200 && !answered; n++) {
      void intake.accept(webhook(`later-${n}`));
      await nextTurn();
    }
    expect(answered).toBe(true);
  });

  it('records what arrives during a transaction in the next one', async () => {
    const gate = Promise.withResolvers<void>();
    const fake = fakeStorage(() => gate.promise);
    const intake = intakeOver(fake);
    const first = intake.accept(webhook('first'));
    // More turns than it gathers for, so that its transaction is under way.
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    const later = guids(3).map((guid) => intake.accept(webhook(guid)));
    gate.resolve();
    await Promise.all([first, ...later]);
    expect(fake.groups).toEqual([1, 3]);
  });

  it('splits a group that is too large for one transaction', async () => {
    const fake = fakeStorage();
    const intake = intakeOver(fake, 4);
    await Promise.all(guids(10).map((guid) => intake.accept(webhook(guid))));
    expect(fake.groups).toEqual([4, 4, 2]);
  });

  it('answers nobody before the commit', async () => {
    const gate = Promise.withResolvers<void>();
    const intake = intakeOver(fakeStorage(() => gate.promise));
    let answered = false;
    const accepted = intake.accept(webhook('a')).then(() => {
      answered = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(answered).toBe(false);
    gate.resolve();
    await accepted;
    expect(answered).toBe(true);
  });

  it('notifies the queue after the commit, not before', async () => {
    const fake = fakeStorage();
    const intake = intakeOver(fake);
    await Promise.all([intake.accept(webhook('a')), intake.accept(webhook('b'))]);
    expect(fake.wokenAfter).toEqual([['a', 'b']]);
  });

  it('records a GUID that arrives twice in one turn once, and reports the second as a duplicate', async () => {
    const fake = fakeStorage();
    const intake = intakeOver(fake);
    const receipts = await Promise.all([intake.accept(webhook('a')), intake.accept(webhook('a'))]);
    expect(receipts).toEqual(['recorded', 'duplicate']);
  });

  it('accepts the other deliveries of a group in which one cannot be recorded', async () => {
    const fake = fakeStorage(async (deliveries) => {
      if (deliveries.some(({ guid }) => guid === 'bad')) throw new Error('cannot be stored');
    });
    const intake = intakeOver(fake);
    const results = await Promise.allSettled(['a', 'bad', 'c'].map((guid) => intake.accept(webhook(guid))));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect([...fake.recorded.keys()]).toEqual(['a', 'c']);
  });

  it('works again after a transaction that failed', async () => {
    let broken = true;
    const fake = fakeStorage(async () => {
      if (broken) throw new Error('disk full');
    });
    const intake = intakeOver(fake);
    await expect(intake.accept(webhook('a'))).rejects.toThrow('disk full');
    broken = false;
    await expect(intake.accept(webhook('a'))).resolves.toBe('recorded');
  });
});
