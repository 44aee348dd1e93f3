/**
 * A page that follows what happens, in Debian's Chromium.
 *
 * @module-tag slow
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startListening } from '../crash/app-process.ts';
import { CI_AND_MERGE, countersign, MERGE_ONLY, open, reportCi, start } from '../scenario/support.ts';
import { only } from '../scenario/support-scene.ts';
import { freePort } from '../support/app-environment.ts';
import { noBrowser, openBrowser } from '../support/chromium.ts';
import { startGitHub } from '../support/github/stand-in.ts';
import { pause, plannedTimers, printingShell } from '../support/printing-step.ts';
import { type StudioForTests, startStudio } from '../support/served-studio.ts';
import { temporaryFolders } from '../support/temp.ts';
import { until } from '../support/until.ts';

const newFolder = temporaryFolders();

describe.skipIf(noBrowser !== undefined)('an open page of a run', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  /** The page in a window of its own, which must not load it again. */
  async function windowOf(
    { url, cookie }: Pick<StudioForTests, 'url'> & Partial<StudioForTests>,
    path: string,
    prepare: (page: Page) => Promise<void> = async () => {},
  ): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1_200, height: 600 } });
    onTestFinished(() => context.close());
    const [name = '', value = ''] = cookie?.split('=') ?? [];
    if (cookie !== undefined) await context.addCookies([{ name, value, url }]);
    const page = await context.newPage();
    const loads: string[] = [];
    page.on('pageerror', ({ message }) => loads.push(message));
    page.on('domcontentloaded', () => loads.push('loaded'));
    await prepare(page);
    await page.goto(`${url}${path}`);
    onTestFinished(() => expect(loads).toEqual(['loaded']));
    return page;
  }

  async function opened() {
    const harness = await start({ chain: CI_AND_MERGE });
    const studio = await startStudio(harness);
    onTestFinished(() => studio.stop());
    const { headSha, number } = await open(harness);
    const [run] = await harness.app.storage.read.runs.list({});
    if (!run) throw new Error('no run began');
    const passes = async () => {
      await reportCi(harness, headSha, 'success');
      await harness.advance(60_000);
    };
    return { harness, studio, run, number, passes };
  }

  const asksFor = (page: Page) => page.getByText('Waiting for a maintainer to countersign').first().waitFor();

  test('keeps what a person opened, the focus and the place where they read', async () => {
    const { studio, run, passes } = await opened();
    const page = await windowOf(studio, `/runs/${run.id}`);
    await page.getByText('The timeline as a table').click();
    const read = page.getByRole('heading', { name: 'Steps' });
    await read.evaluate((heading) => heading.scrollIntoView());
    const link = page.getByRole('link', { name: 'merge', exact: true }).first();
    await link.focus();
    const seen = async () => ({
      table: await page.locator('details table').isVisible(),
      focused: await link.evaluate((element) => element === element.ownerDocument.activeElement),
      heading: Math.abs(Math.round((await read.boundingBox())?.y ?? Number.NaN)),
    });
    const before = await seen();
    expect(before).toMatchObject({ table: true, focused: true });
    const scrolled = () => page.evaluate<number>('document.scrollingElement.scrollTop');
    const from = await scrolled();
    await passes();
    await asksFor(page);
    expect(await seen()).toEqual(before);
    // What comes above has grown.
    expect(await scrolled()).toBeGreaterThan(from);
  });

  test('shows the step that the run has come to, unless the person chose one', async () => {
    const { studio, run, passes } = await opened();
    const following = await windowOf(studio, `/runs/${run.id}`);
    const chosen = await windowOf(studio, `/runs/${run.id}?step=ci`);
    const step = (page: Page) => page.locator('#step-name').innerText();
    expect([await step(following), await step(chosen)]).toEqual(['Step ci', 'Step ci']);
    await passes();
    await Promise.all([asksFor(following), asksFor(chosen)]);
    expect([await step(following), await step(chosen)]).toEqual(['Step merge', 'Step ci']);
  });

  test('shows what has happened since the app was killed, as soon as another one is there', async () => {
    const folder = newFolder();
    const github = await startGitHub();
    onTestFinished(() => github.stop());
    github.addOrganization('octo');
    github.addRepository({
      owner: 'octo',
      name: 'app',
      files: { 'README.md': '# App\n', '.github/countersign/chains/pr-review.yaml': MERGE_ONLY },
      collaborators: { mia: 'maintain', ada: 'write' },
    });
    github.installApp('octo');
    const port = await freePort();
    const startApp = async () => {
      const app = await startListening(github, folder, {
        environment: { PORT: String(port), STUDIO_PUBLIC: 'read' },
      });
      github.setWebhookUrl(app.webhookUrl);
      onTestFinished(async () => {
        app.kill();
        await app.gone;
      });
      return app;
    };
    const app = await startApp();
    const { number } = await github.openPullRequest({
      repo: 'octo/app',
      author: 'ada',
      branch: 'change',
      title: 'Change something',
      files: { 'src/one.ts': 'export const one = 2;\n' },
    });
    const question = await until('the question', () =>
      github.comments('octo/app', number).find(({ body }) => body.includes('countersign:question')),
    );
    const url = `http://127.0.0.1:${port}`;
    const { runs } =
      (await (await fetch(`${url}/runs`)).text()).match(/\/runs\/(?<runs>run_\w+)/)?.groups ?? {};
    const page = await windowOf({ url }, `/runs/${runs}`);
    await asksFor(page);

    app.kill();
    await app.gone;
    await github.react('octo/app', question.id, 'mia', 'rocket');
    await startApp();
    await page.getByText('Merged: countersigned by mia').first().waitFor({ timeout: 90_000 });
    expect(github.merges).toMatchObject([{ number }]);
  });

  test('begins to follow as soon as it can if Studio did not answer at first', async () => {
    const { studio, run, passes } = await opened();
    let refused = 0;
    const page = await windowOf(studio, `/runs/${run.id}`, async (before) => {
      await before.route('**/events?*', (route) => {
        refused += 1;
        if (refused === 1) return route.abort();
        return refused === 2 ? route.fulfill({ status: 503 }) : route.continue();
      });
    });
    await passes();
    await asksFor(page);
    expect(refused).toBe(3);
  });

  test('shows the lines that a step prints as they come, and stays where the person reads in them', async () => {
    const step = printingShell();
    const timers = plannedTimers();
    const chain = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: try, action: shell, requires_approval: true, with: { run: npm test } }
`;
    const files = only({ flow: chain }, 'shell: allow\n');
    const harness = await start({ files, shell: step.shell, timers });
    const { number } = await open(harness);
    const [run] = await harness.app.storage.read.runs.list({});
    const studio = await startStudio(harness);
    onTestFinished(() => studio.stop());
    const over = countersign(harness, number);
    await step.begun();
    const page = await windowOf(studio, `/runs/${run?.id}`);
    const prints = async (from: number, to: number) => {
      step.print(Array.from({ length: to - from }, (_, index) => `line ${from + index} <b>\n`).join(''));
      timers.pass(1_500);
      await page.locator('.follow', { hasText: `line ${to - 1} <b>` }).waitFor();
    };
    const box = page.locator('.follow');
    const visible = () =>
      box.evaluate((element) => {
        const { bottom } = element.getBoundingClientRect();
        const text = element.firstElementChild?.getBoundingClientRect();
        return { fromEnd: Math.round((text?.bottom ?? 0) - bottom), top: Math.round(text?.top ?? 0) };
      });
    await prints(0, 100);
    expect((await visible()).fromEnd).toBe(0);
    await prints(100, 200);
    expect((await visible()).fromEnd).toBe(0);
    await box.hover();
    await page.mouse.wheel(0, -600);
    await until('the scrolled lines', async () => ((await visible()).fromEnd > 400 ? true : undefined));
    const read = await visible();
    await prints(200, 250);
    expect((await visible()).top).toBe(read.top);
    await pause(harness, run?.id ?? '');
    await page.getByText(', paused').waitFor();
    expect((await visible()).top).toBe(read.top);
    const lines = (await box.innerText()).trim().split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([250, 'line 0 <b>', 'line 249 <b>']);
    step.end();
    await over;
    await page.getByRole('link', { name: 'The whole log' }).waitFor();
    expect(await page.locator('.follow').count()).toBe(0);
  });
});
