import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countersign } from '../entrypoints/cli/support.ts';
import { openBrowser, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { startStudio } from '../support/served-studio.ts';
import { textOf } from '../support/studio.ts';
import { temporaryFolders } from '../support/temp.ts';
import { MERGE_ONLY, start } from './support.ts';

const newFolder = temporaryFolders();

const FAULTY = `name: deploy
trigger: { event: pr.opened }
steps:
  - id: build
    skill: cii
  - id: merge
    action: gh-merge
    condition: "{{ steps.biuld.outcome.passed }}"
`;
/** Without errors, and with a step that can never run. */
const DOUBTFUL = `name: deploy
trigger: { event: pr.opened }
steps:
  - id: build
    skill: ci
  - id: fix
    action: gh-label
    condition: "{{ steps.build.outcome.passed and not steps.build.outcome.passed }}"
    with: { label: "a" }
`;

const post = (text: string) => ({ method: 'POST', body: new URLSearchParams({ text }) });

/** The places and words of all faults, as a page shows them. */
function faultsOf(html: string): string[] {
  return [...html.matchAll(/<tr class="fault (\w+)">(.*?)<\/tr>/gs)].map(([, kind, row = '']) =>
    `${kind} ${textOf(row).replaceAll('`', '')}`.replace(/^(\w+) \w+ at /, '$1 '),
  );
}

/** The same of the command. */
async function lint(text: string): Promise<string[]> {
  const cwd = newFolder();
  writeFileSync(join(cwd, 'chain.yaml'), text);
  const { stdout } = await countersign(['chain', 'lint', 'chain.yaml', '--json'], { cwd });
  const [file] = JSON.parse(stdout).files;
  return [...file.faults, ...file.warnings].map(
    ({ line, column, message, severity = 'error' }) =>
      `${severity} ${line}:${column}: ${message.replaceAll('`', '')}`,
  );
}

test('a pasted chain has the faults that the command line finds, each below its line', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY, studio: WITH_SIGN_IN });
  const browser = await signedIn(harness, 'mia');
  for (const text of [FAULTY, DOUBTFUL, MERGE_ONLY, '', '- [', '&a [*a]']) {
    const page = await browser.send(await browser.open('/chains/check'), '/chains/check', { text });
    const expected = await lint(text);
    expect([text, faultsOf(page.text)]).toEqual([text, expected]);
    expect(page.status).toBe(expected.some((one) => one.startsWith('error')) ? 422 : 200);
  }
  const { text } = await browser.send(await browser.open('/chains/check'), '/chains/check', { text: FAULTY });
  expect(text).toMatch(/id="L5"[^\n]*skill: cii[^\n]*\n<tr class="fault error">/);
});

test('a chain is checked for somebody who reads what is public, and for nobody else without a session', {
  tags: 'slow',
}, async () => {
  const open = await start({ chain: MERGE_ONLY, studio: { ...WITH_SIGN_IN, isPublic: true } });
  const answer = await openBrowser(open).request('/chains/check', post(FAULTY));
  expect([answer.status, faultsOf(await answer.text())]).toEqual([422, await lint(FAULTY)]);
  const closed = await start({ chain: MERGE_ONLY, studio: WITH_SIGN_IN });
  expect((await openBrowser(closed).request('/chains/check', post(FAULTY))).status).toBe(401);
});

test('a chain is checked for somebody with the one-time link', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const studio = await startStudio(harness);
  const answer = await studio.get('/chains/check', { ...post(FAULTY), headers: { origin: studio.url } });
  await studio.stop();
  expect(answer.status).toBe(422);
});

test('a check from another site is refused to somebody who signed in', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY, studio: WITH_SIGN_IN });
  const browser = await signedIn(harness, 'mia');
  expect((await browser.request('/chains/check', post(FAULTY))).status).toBe(403);
});

test('checks of one person are limited, and a text that no chain file can have is refused', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY, studio: { ...WITH_SIGN_IN, isPublic: true } });
  const browser = openBrowser(harness);
  const huge = await browser.request('/chains/check', post(`name: ${'x'.repeat(70_000)}`));
  expect([huge.status, textOf(await huge.text())]).toEqual([422, expect.stringContaining('64 KB')]);
  const statuses = [];
  for (let nth = 0; nth < 20; nth++)
    statuses.push((await browser.request('/chains/check', post('name: a'))).status);
  expect([statuses[18], statuses[19]]).toEqual([422, 429]);
  await harness.advance(60_000);
  expect((await browser.request('/chains/check', post('name: a'))).status).toBe(422);
});

test('the check of a change begins with the text of the chain', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY, studio: WITH_SIGN_IN });
  const browser = await signedIn(harness, 'mia');
  const page = await browser.open('/chains/dependabot');
  expect(page.text).toContain('href="/chains/check?chain=dependabot"');
  const check = await browser.open('/chains/check?chain=dependabot');
  expect(check.text).toMatch(/<textarea[^>]*>\nname: dependabot/);
});
