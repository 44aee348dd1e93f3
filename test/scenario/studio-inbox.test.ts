// @module-tag slow
import { describe, expect, test } from 'vitest';
import { Visible } from '../../src/ports/visible.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { rowsOf } from '../support/rows-of.ts';
import { person, studioFor, textOf } from '../support/studio.ts';
import { CI_AND_MERGE, MERGE_ONLY, open, pushAgain, reportCi, start } from './support.ts';

/** The ids that the database knows of the first pull request. */
async function known({ config }: Harness): Promise<{ author: number; repository: number }> {
  const [row] = await rowsOf<{ author: number; repository: number }>(
    config.databaseUrl,
    'SELECT author_id AS author, repository_id AS repository FROM pull_requests',
  );
  return row ?? { author: 0, repository: 0 };
}

/** The text of each list of the inbox. */
function listsOf(html: string): Record<string, string> {
  const sections = [...html.matchAll(/<section aria-labelledby="(\w+)">([\s\S]*?)<\/section>/g)];
  return Object.fromEntries(sections.map(([, name = '', section = '']) => [name, textOf(section)]));
}

describe('the inbox', () => {
  test('shows a question to a maintainer as one to answer, and to its author as one for others', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness);
    const { author } = await known(harness);
    const asMia = listsOf(
      (await (await studioFor(harness, { viewer: person(author + 1000, 'mia') }))('/')).html,
    );
    expect(asMia.yours).toContain('octo/app#1 Greet people by name');
    expect(asMia.yours).toContain('who may answer: anybody with maintain access or more');
    expect(asMia.others).toContain('Nothing is in progress.');
    const asAda = listsOf((await (await studioFor(harness, { viewer: person(author, 'ada') }))('/')).html);
    expect(asAda.yours).toContain('No question waits here.');
    expect(asAda.others).toContain('not you: this account wrote this pull request');
  });

  test('never counts a question as one for somebody whose role is known to be too low', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness);
    const { repository } = await known(harness);
    const visible = Visible.only([repository], new Map([[repository, 'write']]));
    const get = await studioFor(harness, { viewer: person(900, 'will'), visible });
    expect(listsOf((await get('/')).html).others).toContain('not you: this account has write access');
  });

  test('says what waits for CI beside the others, and moves it to what stopped when CI fails', async () => {
    const harness = await start({ chain: CI_AND_MERGE });
    const { headSha } = await open(harness);
    await reportCi(harness, headSha, 'pending');
    const get = await studioFor(harness);
    const before = listsOf((await get('/')).html);
    expect(before.others).toContain('waiting for CI');
    expect(before.stopped).toContain('Nothing has stopped.');
    await reportCi(harness, headSha, 'failure');
    await harness.advance(120_000);
    const after = listsOf((await get('/')).html);
    expect(after.others).toContain('Nothing is in progress.');
    expect(after.stopped).toContain('did not pass CI has not passed: 1 of 1 check failed');
    await harness.github.closePullRequest(REPO, 1, 'ada');
    await harness.settle();
    expect((await get('/')).html).toContain('Nothing waits, and nothing has stopped.');
  });

  test.each([
    ['q=PEOPLE', true],
    ['q=octo/app%231', true],
    ['q=%25', false],
    ['repository=OCTO/App', true],
    ['repository=octo/other', false],
    ['chain=pr-review', true],
    ['author=Ada', true],
    ['author=mia', false],
    ['state=waiting_approval', true],
    ['state=waiting_ci', false],
    ['within=1', true],
    ['q=people&author=mia', false],
  ])('narrows its lists by ?%s', async (query, isShown) => {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness);
    const { html } = await (await studioFor(harness))(`/?${query}`);
    expect(html.includes('octo/app#1')).toBe(isShown);
    if (!isShown) expect(html).toContain('Nothing fits these filters.');
  });

  test('shows nothing of repositories that the viewer cannot see', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness);
    const get = await studioFor(harness, { viewer: person(900, 'mia'), visible: Visible.only([]) });
    const { html } = await get('/');
    expect([html.includes('octo/app'), html.includes('pr-review')]).toEqual([false, false]);
  });
});

describe('the page of a pull request', () => {
  test('begins with where it stands and what comes next, and shows the tree of the check run', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness);
    const text = textOf((await (await studioFor(harness))('/octo/app/pull/1')).html);
    expect(text).toContain(
      'Waiting for a maintainer to countersign. A maintainer reacts to the approval comment with 🚀 or 👍 to merge',
    );
    expect(text).toContain('not merging yet: merge waits for a countersign (nobody has countersigned yet)');
  });

  test('lists the runs of every head, the newest head first', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    const { headSha } = await open(harness);
    const newer = await pushAgain(harness);
    const text = textOf((await (await studioFor(harness))('/octo/app/pull/1')).html);
    const heads = [
      text.indexOf(`${newer.slice(0, 7)} the head`),
      text.indexOf(`${headSha.slice(0, 7)} an earlier head`),
    ];
    expect(heads).toEqual(heads.toSorted((a, b) => a - b));
    expect(heads).not.toContain(-1);
  });

  test('is found in any case, and under the name that the repository had', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness);
    const get = await studioFor(harness);
    expect(await get('/Octo/APP/pull/1')).toMatchObject({ status: 302, location: '/octo/app/pull/1' });
    await harness.github.renameRepository(REPO, 'shop');
    await harness.settle();
    expect(await get('/octo/app/pull/1')).toMatchObject({ status: 302, location: '/octo/shop/pull/1' });
    expect(await get('/octo/shop/pull/1')).toMatchObject({ status: 200 });
  });

  test('does not exist for somebody who cannot see the repository, whatever its address', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness);
    const get = await studioFor(harness, { viewer: person(900, 'mia'), visible: Visible.only([]) });
    const [there, elsewhere] = [await get('/OCTO/app/pull/1'), await get('/OCTO/app/pull/2')];
    expect([there.status, elsewhere.status]).toEqual([404, 404]);
    expect(there.html).not.toContain('octo/app#1');
  });

  test('shows a hostile title as text', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness, { title: '<script>alert(1)</script>\u202Egnp' });
    const { html } = await (await studioFor(harness))('/octo/app/pull/1');
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html.includes('\u202E')).toBe(false);
  });
});
