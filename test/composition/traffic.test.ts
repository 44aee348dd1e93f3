import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTraffic } from '../../src/composition/intake/hosted.ts';
import type { Webhook } from '../../src/entrypoints/webhook/delivery/intake.ts';

const webhook: Webhook = { guid: 'g', event: 'ping', body: new Uint8Array(), facts: {} as Webhook['facts'] };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function started() {
  const traffic = createTraffic(() => Date.now());
  const wakes: number[] = [];
  const begun = Date.now();
  traffic.onQuiet(() => wakes.push(Date.now() - begun));
  const intake = traffic.counted({ accept: async () => 'recorded' });
  return { traffic, wakes, deliver: () => intake.accept(webhook) };
}

it('the engine gives way from a delivery’s arrival until 10 ms after the last one, and is woken then', async () => {
  const { traffic, wakes, deliver } = started();
  expect(traffic.isBusy()).toBe(false);
  const first = deliver();
  expect(traffic.isBusy()).toBe(true);
  await first;
  await vi.advanceTimersByTimeAsync(9);
  await deliver();
  await vi.advanceTimersByTimeAsync(9);
  expect([traffic.isBusy(), wakes]).toEqual([true, []]);
  await vi.advanceTimersByTimeAsync(1);
  expect([traffic.isBusy(), wakes]).toEqual([false, [19]]);
});

it('the engine is woken every 250 ms of a stream that does not end', async () => {
  const { traffic, wakes, deliver } = started();
  for (let ms = 0; ms < 1_000; ms += 5) {
    await deliver();
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(wakes).toEqual([250, 500, 750]);
  expect(traffic.isBusy()).toBe(true);
});
