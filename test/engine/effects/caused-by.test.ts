// @module-tag slow
import { expect, test } from 'vitest';
import { causedBy, noteRelease } from '../../../src/engine/effects/caused-by.ts';
import { MERGE_ONLY, open, start } from '../../scenario/support.ts';

test('of the tags that the app publishes in a repository, the newest 100 are remembered, in one row', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await open(harness);
  const { storage } = harness.app;
  const [run] = await storage.read.runs.list({ limit: 1 });
  const [effect] = run ? await storage.read.effects.ofRun(run.id) : [];
  if (!run || !effect) throw new Error('no run has begun');
  const place = { installation_id: 5, owner: 'octo', repo: 'app' };
  const about = {
    kind: 'release',
    ...place,
    sha: run.headSha,
    name: '',
    body: '',
    prerelease: false,
  } as const;
  await storage.transaction(async (tx) => {
    for (let index = 0; index < 150; index++) {
      const release = { ...about, tag: `v${index}`, draft: false };
      await noteRelease(tx, effect.key, release, { runId: run.id, at: harness.clock.now() });
    }
  });
  expect(await storage.read.cursors.get(`releases:${run.repositoryId}`)).toHaveLength(100);
  const caused = (tag: string) =>
    causedBy(storage.read, {
      kind: 'release.published',
      installation_id: 5,
      repository: { id: run.repositoryId, owner: 'octo', name: 'app' },
      release_id: 1,
      tag,
      title: tag,
      body: '',
      prerelease: false,
      author: 'mia',
    });
  expect(await caused('v149')).toMatchObject({ depth: 1, runId: run.id });
  expect(await caused('v49')).toEqual({ depth: 0 });
});
