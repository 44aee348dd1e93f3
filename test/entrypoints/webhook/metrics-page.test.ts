import type { Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import { countAnswers, createMetricsServer } from '../../../src/entrypoints/webhook/metrics-page.ts';
import { createHttpServer } from '../../../src/entrypoints/webhook/server.ts';
import { listen, SECRET } from './support.ts';

const TOKEN = 'a-token-only-for-tests';
const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** The page on the port of the webhooks, or on its own. */
async function pageOn(port: 'main' | 'own', token?: string, engineMetrics = async () => '') {
  const answers = countAnswers();
  const server =
    port === 'own'
      ? createMetricsServer({ answers, engineMetrics, token, log: silentLog })
      : createHttpServer({
          secret: SECRET,
          intake: { accept: () => Promise.reject(new Error('nothing is sent')) },
          health: {},
          answers,
          engine: {
            metrics: engineMetrics,
            readiness: async () => ({ failures: [], warnings: [] }),
            silentMs: () => 0,
          },
          metricsToken: token,
          log: silentLog,
        });
  open.push(server);
  return listen(server);
}

const get = (url: string, authorization?: string) =>
  fetch(`${url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });

it('the port of the webhooks shows no metrics without a token, computes none, and says where they are', async () => {
  let made = 0;
  const { url } = await pageOn('main', undefined, async () => String(made++));
  const response = await get(url, `Bearer ${TOKEN}`);
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    error:
      'The metrics are not served on this port, which everybody reaches: they have one of their own, METRICS_PORT. ' +
      'To read them here, set METRICS_TOKEN and send it as "Authorization: Bearer …".',
  });
  expect(made).toBe(0);
});

it.each(['main', 'own'] as const)(
  'with a token, the %s port shows metrics only to those who send it',
  async (port) => {
    let made = 0;
    const { url } = await pageOn(port, TOKEN, async () => String(made++));
    for (const wrong of [
      undefined,
      'Bearer',
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      `Basic ${TOKEN}`,
      TOKEN,
    ]) {
      const refused = await get(url, wrong);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await refused.text()).not.toContain(TOKEN);
    }
    expect(made).toBe(0);
    expect((await get(url, `Bearer ${TOKEN}`)).status).toBe(200);
  },
);

it('the separate port needs no token if none is set, and serves only metrics', async () => {
  const { url } = await pageOn('own');
  expect((await get(url)).status).toBe(200);
  const other = await Promise.all(['/', '/healthz', '/api/github/webhooks'].map((path) => fetch(url + path)));
  expect(other.map(({ status }) => status)).toEqual([404, 404, 404]);
});

it('concurrent scrapers share one page, and a later one gets its own', async () => {
  let made = 0;
  const gate = Promise.withResolvers<void>();
  const { url } = await pageOn('own', undefined, () => {
    made++;
    return gate.promise.then(() => '');
  });
  const together = Array.from({ length: 20 }, () => get(url));
  await expect.poll(() => made).toBe(1);
  gate.resolve();
  expect((await Promise.all(together)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  const before = made;
  await get(url);
  expect(made).toBe(before + 1);
});

it('a failed page does not prevent the next one', async () => {
  let made = 0;
  const { url } = await pageOn('own', undefined, async () => {
    if (made++ === 0) throw new Error('broken');
    return '';
  });
  expect([(await get(url)).status, (await get(url)).status]).toEqual([500, 200]);
});
