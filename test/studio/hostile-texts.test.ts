/**
 * Hostile texts on the pages of Studio, in Debian's Chromium. `test/security/studio-markup.test.ts` reads the markup of more pages;
 * this sees what a browser makes of it, and what the live updates do to it.
 *
 * @module-tag slow
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noBrowser, openBrowser } from '../support/chromium.ts';
import { drawnTexts } from '../support/hostile/drawn.ts';
import { addressesAt, NOT_STORED } from '../support/hostile/places.ts';
import { startWithHostileTexts, type WithHostileTexts } from '../support/hostile/started.ts';
import { ALL_AT_ONCE, HOSTILE_TEXTS } from '../support/hostile/texts.ts';
import { type StudioRoute, studioParameters, studioRoutes } from '../support/studio-routes.ts';

/** Runs in each page before anything else. */
const WATCH = `
  window.seen = [];
  window.hit = () => window.seen.push('a text was executed');
  for (const name of ['alert', 'confirm', 'prompt', 'print', 'open'])
    window[name] = () => window.seen.push(name + ' was called');
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    window.seen.push('the policy refused ' + violatedDirective + ' ' + blockedURI));
`;

/** What happened, and elements with the names of their attributes but those with which htmx marks what it works on. */
const LOOK = `({
  seen: window.seen,
  shapes: [...new Set([...document.querySelectorAll('*')].map(({ localName, namespaceURI, attributes }) =>
    [namespaceURI.split('/').at(-1), localName, ...[...attributes].map(({ name }) => name).filter((name) => !['class', 'data-htmx-powered'].includes(name)).sort()].join(' ')))],
})`;

interface Look {
  seen: string[];
  shapes: string[];
}

describe.skipIf(noBrowser !== undefined)('in Chromium', () => {
  let harness: WithHostileTexts['harness'];
  let store: WithHostileTexts['store'];
  let browser: Browser;
  let context: BrowserContext;
  let routes: StudioRoute[];
  let usual: Set<string>;
  /** Requests that leave the server. */
  const left: string[] = [];

  beforeAll(async () => {
    const started = await startWithHostileTexts();
    ({ harness, store } = started);
    routes = (await studioRoutes(harness)).filter(
      ({ method, path }) => method === 'GET' && !/\/(events|download)$/.test(path) && !NOT_STORED.test(path),
    );
    browser = await openBrowser();
    context = await browser.newContext();
    const value = started.browser.cookies.get('countersign') ?? '';
    await context.addCookies([{ name: 'countersign', value, url: harness.app.url }]);
    await context.addInitScript(WATCH);
    context.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${harness.app.url}/`) && !url.startsWith('data:')) left.push(url);
    });
    usual = new Set();
    for (const text of ['some `code`\nand words', 'https://ci.example/page']) {
      const place = await store(text);
      for (const route of routes)
        for (const address of addressesAt(route, place))
          for (const shape of (await look(address)).shapes) usual.add(shape);
    }
  });
  afterAll(async () => {
    await browser.close();
    await harness.stop();
  });

  async function open(address: string): Promise<Page> {
    const page = await context.newPage();
    onTestFinished(() => page.close());
    page.on('dialog', (dialog) => dialog.accept());
    await page.goto(`${harness.app.url}${address}`, { waitUntil: 'load' });
    return page;
  }

  let used: Page | undefined;
  async function look(address: string): Promise<Look> {
    used ??= await context.newPage();
    await used.goto(`${harness.app.url}${address}`, { waitUntil: 'load' });
    const found = (await used.evaluate(LOOK)) as Look;
    const where = new URL(used.url()).pathname;
    expect(where).toBe(new URL(address, harness.app.url).pathname);
    return found;
  }

  const oddIn = ({ seen, shapes }: Look) => [
    ...seen,
    ...shapes.filter((shape) => !usual.has(shape)),
    ...left,
  ];

  it('runs nothing of a text that ends whatever it may be in, on any page', async () => {
    const place = await store(ALL_AT_ONCE);
    const query = studioParameters().map((name): [string, string] => [name, ALL_AT_ONCE.slice(0, 60)]);
    for (const route of routes) {
      const addresses = addressesAt(route, place);
      for (const address of [...addresses, `${addresses[0]}?${new URLSearchParams(query)}`])
        expect([address, oddIn(await look(address))]).toEqual([address, []]);
    }
  });

  it.each(drawnTexts())('runs nothing of $name', async ({ text, at }) => {
    const place = await store(text);
    const given = new URLSearchParams({ q: text, text, chain: text, repository: text, event: text });
    // Each text on each page would take many minutes: each is on the page of its run, and on one other.
    const others = routes.filter(({ path }) => path !== '/runs/:id');
    const other = others[at % others.length];
    if (other === undefined) throw new Error('there is only one page');
    const addresses = addressesAt(other, place);
    const isList = !other.path.includes(':');
    const address = isList
      ? `${other.path}?${given.toString().slice(0, 6_000)}`
      : addresses[at % addresses.length];
    for (const shown of [`/runs/${place.run}`, address ?? '/'])
      expect([shown, oddIn(await look(shown))]).toEqual([shown, []]);
  });

  it.each([
    { name: 'a text that ends whatever it may be in', text: ALL_AT_ONCE },
    ...HOSTILE_TEXTS.filter(({ name }) => /mutation|htmx|stream/.test(name)),
  ])('runs nothing when a live update replaces a page with $name', async ({ text }) => {
    const place = await store(text);
    const page = await open(`/runs/${place.run}`);
    const { storage } = harness.app;
    const state = await storage.read.runs.load(place.run);
    if (!state) throw new Error('the run is gone');
    const at = harness.clock.now();
    const failed = { ...state.run, status: 'failed', updatedAt: at, finishedAt: at } as const;
    await storage.transaction((tx) =>
      tx.runs.save({ ...state, run: failed }, { kind: 'person', login: text }),
    );
    await page.locator('p.sentence.failed').waitFor();
    expect(oddIn((await page.evaluate(LOOK)) as Look)).toEqual([]);
  });
});

it.runIf(noBrowser !== undefined)(`skips hostile texts in a browser: ${noBrowser}`, () => {
  expect(noBrowser).toContain('apt-get install chromium');
});
