import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { A_RECHECK, approvals, countersign, headline, MERGE_ONLY, open, ownCheck, start } from './support.ts';

const SETTINGS = '.github/countersign.yml';

eachFirstQuick([
  ['the organisation', 'octo/.github', 'trunk'],
  ['the repository', REPO, 'main'],
])(
  'nothing is merged while the settings of %s have merging off, and the approval counts once merging is on',
  async (whose, repo, branch) => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    github.addRepository({
      owner: 'octo',
      name: '.github',
      defaultBranch: 'trunk',
      files: { 'a.md': 'A.\n' },
    });
    const set = (files: Record<string, string | null>) => github.push({ repo, branch, author: 'max', files });
    const { number, headSha } = await open(harness);
    await harness.advance(A_RECHECK);
    await set({ [SETTINGS]: 'merging: off\n' });
    await harness.advance(A_RECHECK);
    const said = `merging is switched off in the settings of ${whose}`;
    expect(ownCheck(harness, headSha).title).toContain(said);
    expect(approvals(harness, number)[0]?.body).toContain(said);
    await countersign(harness, number);
    expect(github.merges).toEqual([]);
    await set({ [SETTINGS]: 'merging: on\n' });
    await harness.advance(A_RECHECK);
    expect(github.merges).toHaveLength(1);
    expect(approvals(harness, number)).toHaveLength(1);
  },
);

test('nothing is merged by a server that has merging off, and its operators and maintainers can see why', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number, headSha } = await open(harness);
  await harness.down();
  Object.assign(harness.config, { merging: 'off' });
  await harness.up();
  await countersign(harness, number);
  expect(harness.github.merges).toEqual([]);
  expect(ownCheck(harness, headSha).title).toContain('merging is switched off on this server');
  const ready = await fetch(`${harness.app.url}/readyz`);
  expect(await ready.text()).toContain('COUNTERSIGN_MERGING=off');
  await harness.down();
  Object.assign(harness.config, { merging: undefined });
  await harness.up();
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
  expect(approvals(harness, number).map(headline)).toEqual(['🎉 Countersigned and merged']);
});
