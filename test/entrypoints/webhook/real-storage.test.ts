import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import { WEBHOOK_PATH } from '../../../src/config/webhook-path.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createIntake, recordIn } from '../../../src/entrypoints/webhook/delivery/intake.ts';
import { jobsOfNewDeliveries } from '../../../src/entrypoints/webhook/delivery/new-jobs.ts';
import { countAnswers } from '../../../src/entrypoints/webhook/metrics-page.ts';
import { createHttpServer } from '../../../src/entrypoints/webhook/server.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { EXAMPLES, fullQueue, listen, SECRET, sign } from './support.ts';

let storage: Storage;
let closeAll: () => Promise<void>;
let url: string;

beforeEach(async () => {
  storage = await openStorage('sqlite::memory:');
  const server = createHttpServer({
    secret: SECRET,
    intake: createIntake({
      recorder: recordIn(storage, fullQueue()),
      clock: systemClock,
    }),
    health: { database: () => storage.check() },
    answers: countAnswers(),
    log: silentLog,
  });
  ({ url } = await listen(server));
  closeAll = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await storage.close();
  };
});
afterEach(() => closeAll());

async function post(
  guid: string,
  event: string,
  payload: object,
): Promise<{ status: number; answer: unknown }> {
  const body = JSON.stringify(payload);
  const response = await fetch(url + WEBHOOK_PATH, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': guid,
      'x-hub-signature-256': sign(body),
    },
  });
  return { status: response.status, answer: await response.json() };
}

const recorded = (guid: string) => ({ status: 202, answer: { delivery: guid, status: 'recorded' } });
const duplicate = (guid: string) => ({ status: 202, answer: { delivery: guid, status: 'duplicate' } });
/** What the queue is given to do; each job once. */
const pendingJobs = () => storage.transaction((tx) => jobsOfNewDeliveries(tx, 1_000));
const payload = {
  action: 'opened',
  installation: { id: 5 },
  repository: { id: 7 },
  pull_request: { number: 3 },
};

describe('a delivery', () => {
  it('is recorded as it was sent, to be processed', async () => {
    expect(await post('a', 'pull_request', payload)).toEqual(recorded('a'));
    const delivery = await storage.read.deliveries.byGuid('a');
    expect(delivery).toMatchObject({
      event: 'pull_request',
      action: 'opened',
      installationId: 5,
      status: 'received',
      attempts: 0,
    });
    expect(Buffer.from(delivery?.body ?? []).toString()).toBe(JSON.stringify(payload));
    expect(await pendingJobs()).toMatchObject([
      { kind: 'delivery', key: 'pr:7#3', payload: { deliveryId: delivery?.id } },
    ]);
  });

  it('that is repeated is accepted and not enqueued again, whether received or done', async () => {
    await post('a', 'pull_request', payload);
    expect(await post('a', 'pull_request', payload)).toEqual(duplicate('a'));
    const id = (await storage.read.deliveries.byGuid('a'))?.id ?? 0;
    await storage.transaction((tx) => tx.deliveries.setStatus(id, 'done', systemClock.now()));
    expect(await post('a', 'pull_request', payload)).toEqual(duplicate('a'));
    expect(await pendingJobs()).toHaveLength(1);
  });

  it('that failed is enqueued again when GitHub redelivers it', async () => {
    await post('a', 'pull_request', payload);
    const first = await pendingJobs();
    const id = (await storage.read.deliveries.byGuid('a'))?.id ?? 0;
    await storage.transaction((tx) => tx.deliveries.setStatus(id, 'failed', systemClock.now(), 'boom'));
    expect(await post('a', 'pull_request', payload)).toEqual(recorded('a'));
    expect(await pendingJobs()).toEqual(first);
    expect(await storage.read.deliveries.byGuid('a')).toMatchObject({ id, status: 'received', error: null });
  });

  it('that arrives many times at once is recorded once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('a', 'pull_request', payload)));
    expect(answers.filter(({ answer }) => JSON.stringify(answer).includes('recorded'))).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(await pendingJobs()).toHaveLength(1);
  });

  it('is refused with 503 while the database is gone, and the process keeps running', async () => {
    await storage.close();
    expect((await post('a', 'pull_request', payload)).status).toBe(503);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('GitHub’s 329 example payloads', () => {
  it('are all accepted, recorded with a job each, and leave the app healthy', { tags: 'slow' }, async () => {
    const sent = EXAMPLES.flatMap(({ name, examples }) =>
      examples.map((example) => ({ guid: randomUUID(), name, example })),
    );
    expect(sent).toHaveLength(329);
    const answers = await Promise.all(sent.map(({ guid, name, example }) => post(guid, name, example)));
    expect(answers).toEqual(sent.map(({ guid }) => recorded(guid)));
    for (const { guid, name, example } of sent) {
      const delivery = await storage.read.deliveries.byGuid(guid);
      expect(delivery?.event).toBe(name);
      expect(JSON.parse(Buffer.from(delivery?.body ?? []).toString())).toEqual(example);
    }
    expect(await pendingJobs()).toHaveLength(329);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});
