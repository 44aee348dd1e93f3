import { MessageChannel } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { answerFetches, fetchOver } from '../../../src/adapters/octokit/fetch-elsewhere.ts';
import type { Fetch } from '../../../src/adapters/octokit/transport.ts';
import { bounded } from '../../../src/core/bounded-fetch.ts';

const URL = 'https://api.example/x';

/** A `fetch` whose requests are sent by the given one, at the other end of a port. */
function through(fetch: Fetch): Fetch {
  const { port1, port2 } = new MessageChannel();
  answerFetches(port1, fetch);
  const over = fetchOver(port2);
  // As the thread's port does.
  port2.ref();
  onTestFinished(() => port2.close());
  return over;
}

it('a request is sent elsewhere as it is, and its answer comes back as it is', async () => {
  const sent: unknown[] = [];
  const fetch = through(async (url, init) => {
    sent.push([url, init?.method, new Headers(init?.headers).get('authorization'), init?.body]);
    return new Response('{"id":7}', { status: 201, headers: { etag: '"a"' } });
  });
  const response = await fetch(URL, { method: 'POST', headers: { authorization: 'token x' }, body: '{}' });
  expect(sent).toEqual([[URL, 'POST', 'token x', '{}']]);
  expect([response.status, response.headers.get('etag')]).toEqual([201, '"a"']);
  expect(await response.json()).toEqual({ id: 7 });
});

it('an answer without a body has none', async () => {
  const response = await through(async () => new Response(null, { status: 304 }))(URL);
  expect([response.status, response.body]).toEqual([304, null]);
});

it('answers belong to their requests, whatever order they come in', async () => {
  const first = Promise.withResolvers<void>();
  const fetch = through(async (url) => {
    if (String(url).endsWith('1')) await first.promise;
    else first.resolve();
    return new Response(String(url));
  });
  const texts = await Promise.all(['1', '2'].map(async (n) => (await fetch(URL + n)).text()));
  expect(texts).toEqual([`${URL}1`, `${URL}2`]);
});

it('a request that fails elsewhere fails here, for the reason in its cause', async () => {
  const fetch = through(async () => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  });
  await expect(fetch(URL)).rejects.toThrow('connect ECONNREFUSED');
});

it('a request that takes too long is ended here and elsewhere', async () => {
  const ended = Promise.withResolvers<unknown>();
  const fetch = through(
    (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => {
          ended.resolve('ended');
          reject(new Error('aborted'));
        });
      }),
  );
  const stop = new AbortController();
  const asked = fetch(URL, { signal: stop.signal });
  stop.abort(new Error('too late'));
  await expect(asked).rejects.toThrow('too late');
  expect(await ended.promise).toBe('ended');
});

it('an answer that takes too long is ended here and elsewhere', async () => {
  const ended = Promise.withResolvers<unknown>();
  const endless = new ReadableStream({ cancel: () => ended.resolve('ended') });
  const stop = new AbortController();
  const response = await through(async () => new Response(endless))(URL, { signal: stop.signal });
  const read = response.text();
  stop.abort(new Error('too late'));
  await expect(read).rejects.toThrow('too late');
  expect(await ended.promise).toBe('ended');
});

it('an answer that is too large is not read to its end', async () => {
  const ended = Promise.withResolvers<unknown>();
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
    cancel: () => ended.resolve('ended'),
  });
  const fetch = bounded(
    through(async () => new Response(endless)),
    { timeoutMs: 60_000, maxBytes: 10_000 },
  );
  await expect(fetch(URL)).rejects.toThrow('larger than 10,000 bytes');
  expect(await ended.promise).toBe('ended');
});
