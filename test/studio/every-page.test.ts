/**
 * Every page in Debian's Chromium.
 *
 * @module-tag slow
 */
import type { Browser, Cookie, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { playWeek } from '../../demo/shown.ts';
import { openStudio } from '../../src/composition/studio/run.ts';
import { brokenRules } from '../support/axe.ts';
import { noBrowser, openBrowser } from '../support/chromium.ts';
import type { Harness } from '../support/harness.ts';

const PAGES = [
  '/',
  '/runs',
  '/runs/<run>',
  '/runs/<run>?step=review',
  '/octo/app/pull/1',
  '/octo/app/pull/2',
  '/artifacts',
  '/artifacts/<artifact>',
  '/chains',
  '/chains/pr-review',
  '/chains/check',
  '/chains/check?chain=dependabot',
  '/skills',
  '/skills/docs-review',
  '/insight',
  '/report',
  '/operations',
  '/operations/deliveries',
  '/operations/deliveries/<delivery>',
  '/operations/effects?status=done',
  '/operations/settings',
  '/no/such/page',
];

describe.skipIf(noBrowser !== undefined)('every page of Studio', () => {
  let harness: Harness;
  let browser: Browser;
  let studio: Awaited<ReturnType<typeof openStudio>>;
  let places: Record<string, string>;

  beforeAll(async () => {
    const week = await playWeek({ ids: 'real' });
    harness = week.harness;
    const { read } = harness.app.storage;
    const [run] = await read.runs.list({ pullRequest: week.sentBack, limit: 1 });
    const [artifact] = await read.artifacts.list({ limit: 1 });
    const { items } = await read.operations.deliveries({ event: 'pull_request', limit: 1 });
    places = { '<delivery>': items[0]?.guid ?? '', '<run>': run?.id ?? '', '<artifact>': artifact?.id ?? '' };
    studio = await openStudio({ ...harness.config, studio: { isPublic: false, operators: [] } }, 0);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await studio.stop();
    await harness.stop();
  });

  const addressOf = (page: string) =>
    new URL(
      page.replace(/<\w+>/, (name) => places[name] ?? name),
      studio.url,
    ).href;

  /** A page in a window of that width. The one-time link signs in the first window, and the others share its cookie. */
  let cookies: Cookie[] | undefined;
  async function openWindow(options: { width?: number; javaScriptEnabled?: boolean } = {}) {
    const { width = 1_200, ...others } = options;
    const context = await browser.newContext({ viewport: { width, height: 900 }, ...others });
    const page = await context.newPage();
    if (cookies) await context.addCookies(cookies);
    else await page.goto(studio.url);
    cookies ??= await context.cookies();
    return page;
  }

  describe('in a window of a desktop', () => {
    let page: Page;
    let errors: string[];
    beforeAll(async () => {
      page = await openWindow();
      page.on('pageerror', ({ message }) => errors.push(message));
      page.on('console', (line) => {
        // A page that is not found says so in its status, too.
        if (line.type() === 'error' && !line.text().includes('404')) errors.push(line.text());
      });
    });
    beforeEach(() => {
      errors = [];
    });

    it.each(PAGES)(
      'breaks no rule of accessibility and logs no error, in light and dark: %s',
      async (path) => {
        await page.emulateMedia({ colorScheme: 'light' });
        await page.goto(addressOf(path));
        expect(await brokenRules(page)).toEqual([]);
        await page.emulateMedia({ colorScheme: 'dark' });
        expect(await brokenRules(page, 'of colours')).toEqual([]);
        expect(errors).toEqual([]);
      },
    );
  });

  describe('in a window of 360 pixels', () => {
    let page: Page;
    let withoutScript: Page;
    beforeAll(async () => {
      page = await openWindow({ width: 360 });
      withoutScript = await openWindow({ width: 360, javaScriptEnabled: false });
    });

    it.each(PAGES)('fits: %s', async (path) => {
      await page.goto(addressOf(path));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    });

    it.each(PAGES)('breaks a long word in a sentence, such as a path: %s', async (path) => {
      await page.goto(addressOf(path));
      await page.evaluate(`
        for (const one of document.querySelectorAll('main p, main li, main dd')) one.append(' ' + 'x'.repeat(120));
      `);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    });

    it.each(PAGES)('has its content without JavaScript: %s', async (path) => {
      await withoutScript.goto(addressOf(path));
      expect(await withoutScript.title()).toContain('Countersign');
      expect((await withoutScript.locator('main').innerText()).length).toBeGreaterThan(10);
    });
  });
});

it.runIf(noBrowser !== undefined)(`skips the pages of Studio: ${noBrowser}`, () => {
  expect(noBrowser).toContain('apt-get install chromium');
});
