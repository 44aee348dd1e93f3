import { expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import { createRunningLogs } from '../../../src/engine/sessions/running-logs.ts';
import type { Storage, Tx } from '../../../src/ports/storage.ts';
import { at } from '../../support/builders.ts';
import { plannedTimers } from '../../support/printing-step.ts';

type Appended = Parameters<Tx['sessionLogs']['append']>[0];

/** The log of a step that has just begun, and what is stored of it. */
function begun() {
  const timers = plannedTimers();
  const stored: Appended[] = [];
  const broken = { is: false };
  const transaction: Storage['transaction'] = async (work) => {
    if (broken.is) throw new Error('the database is locked');
    const append = async (lines: Appended) => void stored.push(lines);
    return work({ sessionLogs: { append } } as unknown as Tx);
  };
  const clock = { now: () => at(0) };
  const logOf = createRunningLogs({ storage: { transaction }, clock, timers, log: silentLog });
  const log = logOf({ runId: 'run_1', sessionId: 'ses_1' });
  /** Lets that time pass, and what is due then happen. */
  const pass = async (ms: number) => {
    timers.pass(ms);
    for (let turns = 0; turns < 10; turns++) await Promise.resolve();
  };
  return { log, stored, broken, pass, texts: () => stored.map(({ text }) => text) };
}

test('the lines of a step are stored 1.5 s after it began at the earliest, then at most once a second', async () => {
  const { log, pass, stored, texts } = begun();
  log.add('one\n');
  await pass(1_499);
  expect(texts()).toEqual([]);
  log.add('two\n');
  await pass(1);
  expect(texts()).toEqual(['one\ntwo\n']);
  for (const line of ['three\n', 'four\n']) log.add(line);
  await pass(999);
  expect(texts()).toHaveLength(1);
  await pass(1);
  expect(texts()).toEqual(['one\ntwo\n', 'three\nfour\n']);
  expect(stored.map(({ isFirst }) => isFirst)).toEqual([true, false]);
});

test('nothing is stored while a step prints nothing, or no whole line', async () => {
  const { log, pass, texts } = begun();
  await pass(10_000);
  log.add('half a li');
  await pass(10_000);
  expect(texts()).toEqual([]);
  log.add('ne\n');
  await pass(1_000);
  expect(texts()).toEqual(['half a line\n']);
});

test('a step that ends within 1.5 s stores none of its lines', async () => {
  const { log, pass, texts } = begun();
  log.add('one\n');
  log.end();
  log.add('late\n');
  await pass(10_000);
  expect(texts()).toEqual([]);
});

test('lines that could not be stored are stored with the next', async () => {
  const { log, broken, pass, stored } = begun();
  broken.is = true;
  log.add('one\n');
  await pass(1_500);
  broken.is = false;
  log.add('two\n');
  await pass(1_000);
  expect(stored).toMatchObject([{ text: 'one\ntwo\n', isFirst: true }]);
});
