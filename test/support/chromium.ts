import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where Debian's package puts it. */
const CHROMIUM = '/usr/bin/chromium';

/** Why tests in a browser are skipped; `undefined` if they run. */
export const noBrowser: string | undefined = existsSync(CHROMIUM)
  ? undefined
  : `there is no ${CHROMIUM}; install it with: apt-get install chromium`;

/** Debian's Chromium, as containers need it: no sandbox of its own, no shared memory. It only opens pages of the test. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}
