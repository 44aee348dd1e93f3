import { openStorage } from '../../src/composition/storage.ts';
import { serveStudio } from '../../src/composition/studio/run.ts';
import { silentLog } from '../../src/core/log.ts';
import { oneTimeLink } from '../../src/entrypoints/studio/one-time-link.ts';
import { listen } from '../../src/entrypoints/webhook/listen.ts';
import type { Harness } from './harness.ts';

export interface StudioForTests {
  url: string;
  /** The header of somebody who opened the link. */
  cookie: string;
  get(path: string, init?: RequestInit): Promise<Response>;
  text(path: string): Promise<string>;
  /** Ends it and starts it again at the same address, with the same session. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Studio as `countersign studio` serves it: by connections of its own to the harness's database, for somebody on the machine. */
export async function startStudio(harness: Harness): Promise<StudioForTests> {
  let running = await start(0);
  const url = running.url;
  const opened = await fetch(`${url}${LINK}`, { redirect: 'manual' });
  const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const get = (path: string, init?: RequestInit) =>
    fetch(`${url}${path}`, { ...init, headers: { cookie, ...init?.headers } });
  return {
    url,
    cookie,
    get,
    text: async (path) => (await get(path)).text(),
    async restart() {
      await running.stop();
      running = await start(Number(new URL(url).port));
    },
    stop: () => running.stop(),
  };

  async function start(port: number) {
    const storage = await openStorage(harness.config.databaseUrl, { clock: harness.clock });
    const { server, stop } = serveStudio(
      harness.config,
      { storage, clock: harness.clock, log: silentLog },
      { link: oneTimeLink(() => KEY) },
    );
    const url = await listen(server, { host: '127.0.0.1', port });
    return { url, stop: () => stop().finally(() => storage.close()) };
  }
}

const KEY = 'a-key-for-tests';
const LINK = `/open?key=${KEY}`;
