/**
 * What people do in Studio, from sign-in to the merge, in Debian's Chromium.
 *
 * @module-tag slow
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { MERGE_ONLY, open, start } from '../scenario/support.ts';
import { WITH_SIGN_IN } from '../support/browser.ts';
import { noBrowser, openBrowser } from '../support/chromium.ts';
import type { Harness } from '../support/harness.ts';

const REPO = 'octo/app';

describe.skipIf(noBrowser !== undefined)('somebody in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  /** A pull request with an open question. */
  async function asked() {
    const harness = await start({ chain: MERGE_ONLY, studio: WITH_SIGN_IN });
    const { number } = await open(harness);
    await harness.advance(10_000);
    return { harness, number, pullRequest: `${harness.app.url}/${REPO}/pull/${number}` };
  }

  /** A window of its own, in which that person is signed in to GitHub. */
  async function windowOf({ github }: Harness, login: string, options: BrowserContextOptions = {}) {
    github.signInAs(login);
    const context = await browser.newContext({ viewport: { width: 1_200, height: 900 }, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (line) => {
      // Pages that are not found, need a sign-in or refuse a form say so in their status, too.
      if (line.type() === 'error' && !/status of 4(0[14]|22)/.test(line.text())) errors.push(line.text());
    });
    onTestFinished(() => expect(errors).toEqual([]));
    return page;
  }

  async function main(page: Page): Promise<string> {
    // A click waits only until the next page begins.
    await page.waitForLoadState();
    return page.locator('main').innerText();
  }

  test('signs in, finds the question in the inbox, countersigns it and reads that the pull request is merged', async () => {
    const { harness, number, pullRequest } = await asked();
    const page = await windowOf(harness, 'mia');
    await page.goto(harness.app.url);
    await page.getByRole('link', { name: 'Sign in with GitHub' }).click();
    expect(page.url()).toBe(`${harness.app.url}/`);
    await page.getByRole('link', { name: `${REPO}#${number}` }).click();
    expect(page.url()).toBe(pullRequest);
    await page.getByRole('button', { name: 'Countersign' }).click();
    expect(await page.getByRole('status').innerText()).toContain('a reaction of mia');
    await harness.advance(10_000);
    expect(harness.github.merges).toMatchObject([{ number }]);
    await page.goto(pullRequest);
    expect(await main(page)).toContain('Merged: countersigned by mia');
    expect(await page.getByRole('button', { name: 'Countersign' }).count()).toBe(0);
  });

  test('who cannot read the repository on GitHub finds nothing of it', async () => {
    const { harness, pullRequest } = await asked();
    harness.github.setPrivate(REPO, true);
    const { read } = harness.app.storage;
    const [run] = await read.runs.list({ limit: 1 });
    const page = await windowOf(harness, 'otto');
    await page.goto(`${harness.app.url}/sign-in`);
    for (const path of ['/', '/runs', '/artifacts', '/chains', '/skills', '/insight']) {
      const answer = await page.goto(`${harness.app.url}${path}`);
      expect([path, answer?.status(), (await page.content()).includes(REPO)]).toEqual([path, 200, false]);
    }
    for (const address of [pullRequest, `${harness.app.url}/runs/${run?.id}`]) {
      const answer = await page.goto(address);
      expect([answer?.status(), await page.locator('h1').innerText()]).toEqual([404, 'Not found']);
    }
  });

  test('with only a keyboard skips to the content, moves through the inbox, searches and countersigns', async () => {
    const { harness, number, pullRequest } = await asked();
    const page = await windowOf(harness, 'mia');
    await page.goto(`${harness.app.url}/sign-in`);

    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatchObject({ text: 'a Skip to the content', isVisible: true });
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');

    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').innerText()).toContain('next in the list');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);

    await page.keyboard.press('/');
    await page.keyboard.type('Greet');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=Greet/);
    await page.keyboard.press('j');
    expect(await focused(page)).toMatchObject({
      text: expect.stringContaining(`#${number}`),
      isVisible: true,
    });
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.waitForURL(pullRequest);

    for (let presses = 0; (await focused(page)).text !== 'button Countersign'; presses++) {
      expect(presses).toBeLessThan(40);
      await page.keyboard.press('Tab');
      expect(await focused(page)).toMatchObject({ isVisible: true });
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(/asked=/);
    await harness.advance(10_000);
    expect(harness.github.merges).toMatchObject([{ number }]);
  });

  test('without JavaScript signs in, filters the inbox, countersigns and signs out', async () => {
    const { harness, number, pullRequest } = await asked();
    const page = await windowOf(harness, 'mia', { javaScriptEnabled: false });
    await page.goto(harness.app.url);
    await page.getByRole('link', { name: 'Sign in with GitHub' }).click();
    await page.getByLabel('Search').fill('nothing like it');
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(await main(page)).not.toContain('Greet people by name');
    await page.getByRole('link', { name: 'Clear the filters' }).click();
    await page.getByRole('link', { name: `${REPO}#${number}` }).click();
    await page.getByRole('button', { name: 'Countersign' }).click();
    await harness.advance(10_000);
    await page.goto(pullRequest);
    expect(await main(page)).toContain('Merged: countersigned by mia');

    await page.getByRole('button', { name: 'Sign out' }).click();
    expect((await page.goto(pullRequest))?.status()).toBe(401);
    expect(await main(page)).not.toContain('Greet people by name');
    await page.goBack();
    expect(await page.getByRole('button', { name: 'Countersign' }).count()).toBe(0);
  });

  test('asks what a chain would have done, and watches the answer come', async () => {
    const { harness, number } = await asked();
    const page = await windowOf(harness, 'mia');
    await page.goto(`${harness.app.url}/sign-in?to=/chains/pr-review`);
    await page.getByLabel('Pull request').fill('nothing');
    await page.getByRole('button', { name: 'Dry run' }).click();
    expect(await page.getByLabel('Pull request').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Pull request').fill(`${REPO}#${number}`);
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.waitForURL(/\/chains\/dry-runs\//);
    // By its live updates: the page is not opened again.
    await page.getByText('It would ask for a countersign.').waitFor();
    expect(await main(page)).toContain(`Comment on #${number}`);
    expect(harness.github.comments(REPO, number)).toHaveLength(1);
  });

  test('without JavaScript pastes a chain, asks what it would have done and reloads until it has', async () => {
    const { harness, number } = await asked();
    const page = await windowOf(harness, 'mia', { javaScriptEnabled: false });
    await page.goto(`${harness.app.url}/sign-in?to=/chains/check`);
    await page.getByLabel('Chain file').fill(MERGE_ONLY.replace('pr-review', 'mine'));
    await page.getByLabel('Pull request').fill(`${REPO}#${number}`);
    await page.getByRole('button', { name: 'Dry run' }).click();
    const answer = page.getByText('It would ask for a countersign.');
    const reload = page.getByRole('link', { name: 'Reload' });
    // While a page loads it has neither, so a missing link alone would not say that the answer is there.
    for (;;) {
      await answer.or(reload).first().waitFor();
      if ((await answer.count()) > 0) break;
      await reload.click();
    }
  });

  test('fires a chain with inputs, learns which are wrong, and is led to its run', async () => {
    const DEPLOY = `name: deploy
trigger: { event: manual.fired }
inputs: { environment: { required: true, choices: [staging, production] }, replicas: { type: number } }
steps: [{ skill: ci }]
`;
    const harness = await start({
      chain: MERGE_ONLY,
      studio: WITH_SIGN_IN,
      files: { '.github/countersign/chains/deploy.yaml': DEPLOY },
    });
    const { number } = await open(harness);
    await harness.github.comment(REPO, number, 'mia', '/countersign fire deploy environment=staging');
    await harness.advance(10_000);
    const page = await windowOf(harness, 'mia');
    await page.goto(`${harness.app.url}/sign-in?to=/chains/deploy`);
    await page.getByLabel('environment').selectOption('production');
    await page.getByLabel('replicas').fill('many');
    await page.getByRole('button', { name: 'Fire' }).click();
    expect(await main(page)).toContain('Give a number.');
    expect(await page.getByLabel('environment').inputValue()).toBe('production');
    await page.getByLabel('replicas').fill('3');
    await page.getByRole('button', { name: 'Fire' }).click();
    // The page that waits leads on by itself; `studio-fire` shows its words.
    await harness.settle();
    await page.waitForURL(/\/runs\/run_/);
    expect(await main(page)).toContain('manual.fired by mia');
  });

  test('on a small dark screen sees the question and its buttons without scrolling sideways', async () => {
    const { harness, pullRequest } = await asked();
    const page = await windowOf(harness, 'mia', {
      colorScheme: 'dark',
      viewport: { width: 360, height: 760 },
    });
    await page.goto(`${harness.app.url}/sign-in?to=${new URL(pullRequest).pathname}`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    const button = page.getByRole('button', { name: 'Countersign' });
    // https://www.w3.org/TR/WCAG22/#target-size-minimum
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(24);
    expect(
      await page.evaluate(
        'getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)" && matchMedia("(prefers-color-scheme: dark)").matches',
      ),
    ).toBe(true);
  });
});

/** What has the focus, and whether people can see that. */
async function focused(page: Page): Promise<{ text: string; isVisible: boolean }> {
  return page.evaluate(`(() => {
    const element = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { left, right } = element.getBoundingClientRect();
    return {
      text: element.localName + ' ' + element.textContent.trim(),
      isVisible: outlineStyle !== 'none' && outlineWidth !== '0px' && right > 0 && left < innerWidth,
    };
  })()`);
}
