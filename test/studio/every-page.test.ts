/**
 * Every page in Debian's Chromium.
 *
 * @module-tag slow
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { playWeek } from '../../demo/shown.ts';
import { openStudio } from '../../src/composition/studio/run.ts';
import { noBrowser, openBrowser } from '../support/chromium.ts';
import type { Harness } from '../support/harness.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** https://www.w3.org/TR/WCAG22/ */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

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

  /** Each has a cookie of its own; the link works once, so the first one's is shared. */
  let cookies: Awaited<ReturnType<ReturnType<Page['context']>['cookies']>> | undefined;
  async function look(
    options: { colorScheme?: 'light' | 'dark'; width?: number; javaScriptEnabled?: boolean } = {},
  ) {
    const { width = 1_200, ...others } = options;
    const context = await browser.newContext({ viewport: { width, height: 900 }, ...others });
    if (cookies) await context.addCookies(cookies);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (line) => {
      // A page that is not found says so in its status, too.
      if (line.type() === 'error' && !line.text().includes('404')) errors.push(line.text());
    });
    if (!cookies) {
      await page.goto(studio.url);
      cookies = await context.cookies();
    }
    return { page, errors, close: () => context.close() };
  }

  it.each(PAGES)('breaks no rule of accessibility and logs no error, in light and dark: %s', async (path) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, errors, close } = await look({ colorScheme });
      await page.goto(addressOf(path));
      // As a debugger would, because the content security policy refuses it as a script of the page.
      const found = (await page.evaluate(
        `${AXE}; axe.run({ runOnly: ${JSON.stringify(RULES)} })`,
      )) as AxeResults;
      const broken = found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
      expect([colorScheme, broken, errors]).toEqual([colorScheme, [], []]);
      await close();
    }
  });

  it.each(PAGES)('fits a screen of 360 pixels, without JavaScript too: %s', async (path) => {
    const { page, close } = await look({ width: 360, javaScriptEnabled: false });
    await page.goto(addressOf(path));
    const [title, main] = [await page.title(), await page.locator('main').innerText()];
    expect(title).toContain('Countersign');
    expect(main.length).toBeGreaterThan(10);
    await close();
    const withScript = await look({ width: 360 });
    await withScript.page.goto(addressOf(path));
    expect(await withScript.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await withScript.close();
  });
});

it.runIf(noBrowser !== undefined)(`skips the pages of Studio: ${noBrowser}`, () => {
  expect(noBrowser).toContain('apt-get install chromium');
});
