import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { playWeek } from '../demo/shown.ts';
import { noBrowser, openBrowser } from '../test/support/chromium.ts';
import { OAUTH_CLIENT } from '../test/support/github/oauth.ts';
import { REPO } from '../test/support/harness.ts';

/**
 * Takes the pictures of docs/studio.md with Debian's Chromium. Time and ids are injected; fonts are the machine's, so no test compares
 * them. States are marked with emoji, so it needs a font that has them.
 */
const FOLDER = fileURLToPath(new URL('../docs/images/studio', import.meta.url));

if (noBrowser !== undefined) throw new Error(noBrowser);
// Without one, every state is an empty box.
if (execFileSync('fc-list', [':charset=1f680']).length === 0)
  throw new Error('no font has emoji (apt-get install fonts-noto-color-emoji)');
const week = await playWeek({ studio: { isPublic: false, operators: ['mia'], signIn: OAUTH_CLIENT } });
const { harness } = week;
const browser = await openBrowser();
try {
  mkdirSync(FOLDER, { recursive: true });
  harness.github.signInAs('mia');
  const runOf = async (pullRequest: number) => {
    const runs = await harness.app.storage.read.runs.list({ pullRequest, limit: 10 });
    return `/runs/${runs.find(({ chain }) => chain === 'pr-review')?.id}`;
  };
  const asked = `/${REPO}/pull/${week.asked}`;
  await take('inbox', '/', { height: 900 });
  await take('pull-request', asked);
  await take('run', `${await runOf(week.merged)}?step=merge#steps`, { height: 900 });
  await take('review', `${await runOf(week.sentBack)}?step=review#step`, { height: 1_000 });
  await take('insight', '/insight?days=7');
  await take('dark', await runOf(week.waiting), { colorScheme: 'dark' });
  await take('phone', asked, { width: 360, height: 900 });
} finally {
  await browser.close();
  await harness.stop();
}

async function take(
  name: string,
  path: string,
  {
    width = 1_200,
    height = 760,
    colorScheme = 'light',
  }: { width?: number; height?: number; colorScheme?: 'light' | 'dark' } = {},
): Promise<void> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  await page.goto(`${harness.app.url}/sign-in?to=/runs`);
  await page.goto(`${harness.app.url}${path}`);
  const file = join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file });
  await context.close();
  process.stdout.write(`${name}: ${Math.ceil(statSync(file).size / 1_000)} KB\n`);
}
