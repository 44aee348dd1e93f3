import { expect, it, vi } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import type { Webhook } from '../../../src/entrypoints/webhook/delivery/intake.ts';
import { countAnswers } from '../../../src/entrypoints/webhook/metrics-page.ts';
import { recordEvents } from '../../../src/entrypoints/webhook/probot.ts';

const event = { id: 'a-guid', name: 'ping', payload: { zen: 'Keep it logically awesome.' } };

it('an event of a Probot server is recorded with its GUID, its name and its payload as JSON', async () => {
  const accepted: Webhook[] = [];
  const record = recordEvents({
    intake: {
      async accept(webhook) {
        accepted.push(webhook);
        return 'recorded';
      },
    },
    answers: countAnswers(),
    log: silentLog,
  });
  await record(event);
  expect(accepted).toMatchObject([{ guid: 'a-guid', event: 'ping' }]);
  expect(JSON.parse(Buffer.from(accepted[0]?.body ?? []).toString())).toEqual(event.payload);
});

it('an event that GitHub delivers again is accepted again', async () => {
  const record = recordEvents({
    intake: { accept: async () => 'duplicate' },
    answers: countAnswers(),
    log: silentLog,
  });
  await expect(record(event)).resolves.toBeUndefined();
});

it('an event that cannot be recorded before Probot gives up is refused, so that GitHub counts it as failed', async () => {
  vi.useFakeTimers();
  try {
    const record = recordEvents({
      intake: { accept: () => new Promise(() => {}) },
      answers: countAnswers(),
      log: silentLog,
    });
    const refused = expect(record(event)).rejects.toThrow('The delivery could not be recorded');
    await vi.advanceTimersByTimeAsync(8_000);
    await refused;
  } finally {
    vi.useRealTimers();
  }
});

it.each([
  [{ ...event, id: 'no guid' }, 'X-GitHub-Delivery'],
  [{ ...event, name: '../ping' }, 'X-GitHub-Event'],
])('the event %j is refused', async (wrong, header) => {
  const record = recordEvents({
    intake: { accept: async () => 'recorded' },
    answers: countAnswers(),
    log: silentLog,
  });
  await expect(record(wrong)).rejects.toThrow(header);
});
