import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { chainComments, flowChain } from './support-chains.ts';
import { type Opened, only, type Scene, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();
const HOUR = 3_600_000;

const SAY = 'action: gh-comment, with: { body: "after {{ trigger.event }}" }';
const LABEL = '{ event: pr.labeled, filter: { label: deploy } }';
const GREEN = '{ event: ci.changed, filter: { check: build, conclusion: success } }';

const composite = (kind: string, parts: readonly string[], rest = 'within: 24h, key: pull_request') =>
  flowChain(SAY, `{ ${kind}: [${parts.join(', ')}], ${rest} }`);

async function label(scene: Scene, { number }: Opened, name = 'deploy'): Promise<void> {
  await scene.github.addLabel(REPO, number, 'will', name);
  await scene.advance(UPDATES_SHOWN_MS);
}

async function green(scene: Scene, { headSha }: Pick<Opened, 'headSha'>): Promise<void> {
  await scene.github.setStatus(REPO, headSha, { context: 'build', state: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
}

const firings = (scene: Scene) => scene.app.storage.read.firings.list({ chain: 'flow', limit: 50 });

test('a composite fires once when its parts have happened, however often they repeat', {
  tags: 'slow',
}, async () => {
  const scene = await start(composite('all_of', [LABEL, GREEN]));
  const opened = await scene.open();
  await label(scene, opened);
  await label(scene, opened, 'other');
  expect(chainComments(scene, opened.number)).toEqual([]);
  await green(scene, opened);
  await green(scene, opened);
  expect(chainComments(scene, opened.number)).toEqual(['after ci.changed']);
  expect(await scene.runs('flow')).toMatchObject([
    {
      pullRequest: opened.number,
      headSha: opened.headSha,
      facts: {
        trigger: {
          kind: 'all_of',
          event: 'ci.changed',
          composite: 1,
          parts: ['pr.labeled', 'ci.changed'],
          check: 'build',
          pr_number: opened.number,
        },
      },
    },
  ]);
});

test('a composite with a commit as its key starts over with each push', { tags: 'slow' }, async () => {
  const scene = await start(composite('all_of', [LABEL, GREEN], 'within: 24h, key: commit'));
  const opened = await scene.open();
  await label(scene, opened);
  const headSha = await scene.github.push({
    repo: REPO,
    branch: 'change',
    author: 'ada',
    files: { 'b.txt': 'b\n' },
  });
  await scene.advance(UPDATES_SHOWN_MS);
  await green(scene, { headSha });
  expect(await scene.runs('flow')).toEqual([]);
  await label(scene, opened, 'other');
  await scene.github.removeLabel(REPO, opened.number, 'will', 'deploy');
  await label(scene, opened);
  expect(await scene.runs('flow')).toMatchObject([{ headSha, pullRequest: opened.number }]);
});

test('what is said about one pull request does not count for another with the same head', async () => {
  const scene = await start(
    composite(
      'all_of',
      [LABEL, '{ event: pr.labeled, filter: { label: checked } }'],
      'within: 24h, key: commit',
    ),
  );
  await scene.github.push({ repo: REPO, branch: 'release', author: 'mia', files: { 'r.txt': 'r\n' } });
  const first = await scene.open();
  const second = await scene.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'change',
    base: 'release',
    title: 'The same commit',
  });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(second.headSha).toBe(first.headSha);
  await label(scene, first);
  await label(scene, second, 'checked');
  expect(await scene.runs('flow')).toEqual([]);
});

test('a sequence fires only in its order', { tags: 'slow' }, async () => {
  const scene = await start(composite('sequence', [GREEN, LABEL]));
  const opened = await scene.open();
  await label(scene, opened);
  await green(scene, opened);
  expect(await scene.runs('flow')).toEqual([]);
  await scene.github.removeLabel(REPO, opened.number, 'will', 'deploy');
  await label(scene, opened);
  expect(chainComments(scene, opened.number)).toEqual(['after pr.labeled']);
});

test('a head can be the first part: CI that turns green after it fires the chain, for each head', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    composite(
      'sequence',
      ['{ event: pr.opened, filter: { draft: false } }', GREEN],
      'within: 24h, key: commit',
    ),
  );
  const opened = await scene.open();
  await green(scene, opened);
  await green(scene, opened);
  const headSha = await scene.github.push({
    repo: REPO,
    branch: 'change',
    author: 'ada',
    files: { 'b.txt': 'b\n' },
  });
  await scene.advance(UPDATES_SHOWN_MS);
  await green(scene, { headSha });
  expect((await scene.runs('flow')).map((run) => run.headSha)).toEqual([headSha, opened.headSha]);
});

test('any_of fires for the first part, and again only when its time is over', { tags: 'slow' }, async () => {
  const scene = await start(composite('any_of', [LABEL, GREEN], 'within: 2h, key: pull_request'));
  const opened = await scene.open();
  await label(scene, opened);
  await green(scene, opened);
  expect(chainComments(scene, opened.number)).toEqual(['after pr.labeled']);
  await scene.advance(2 * HOUR);
  await green(scene, opened);
  expect(chainComments(scene, opened.number)).toEqual(['after pr.labeled', 'after ci.changed']);
});

test('parts of the repository come together whatever they are about', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'skill: ci',
      '{ all_of: [{ event: issue.created }, { event: file.changed, filter: { paths: "api/**" } }], within: 24h, key: repository }',
    ),
  );
  await scene.github.createIssue(REPO, 'otto', 'A question');
  await scene.settle();
  const sha = await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: { 'api/a.txt': 'a\n' },
  });
  await scene.settle();
  expect(await scene.runs('flow')).toMatchObject([
    {
      headSha: sha,
      facts: { trigger: { kind: 'all_of', parts: ['issue.created', 'file.changed'], branch: 'main' } },
    },
  ]);
});

test('a composite that expires does not fire, and its row says which part was missing', {
  tags: 'slow',
}, async () => {
  const scene = await start(composite('all_of', [LABEL, GREEN], 'within: 2h, key: pull_request'));
  const opened = await scene.open();
  await label(scene, opened);
  await scene.advance(4 * HOUR);
  await green(scene, opened);
  expect(await scene.runs('flow')).toEqual([]);
  expect(await firings(scene)).toMatchObject([
    {
      status: 'skipped',
      reason: 'expired',
      trigger: 'all_of (pr.labeled, ci.changed) within 2 h',
      summary: `all_of (pr.labeled, ci.changed) within 2 h did not fire for pull request #${opened.number}: pr.labeled happened at 2026-03-02 09:00 UTC, and not ci.changed`,
    },
  ]);
  expect(await scene.app.storage.read.firings.counts()).toEqual([
    { status: 'skipped', reason: 'expired', count: 1 },
  ]);
});

test('a composite remembers its parts over a restart, and over the time that the app was down', {
  tags: 'slow',
}, async () => {
  const scene = await start(composite('all_of', [LABEL, GREEN]));
  const opened = await scene.open();
  await label(scene, opened);
  await scene.sleep(3 * HOUR);
  await green(scene, opened);
  expect(chainComments(scene, opened.number)).toEqual(['after ci.changed']);
});

test('a composite begins from nothing when its chain is edited', { tags: 'slow' }, async () => {
  const scene = await start(composite('all_of', [LABEL, GREEN]));
  const opened = await scene.open();
  await label(scene, opened);
  const files = composite('all_of', [LABEL, GREEN], 'within: 12h, key: pull_request');
  await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files });
  await scene.advance(UPDATES_SHOWN_MS);
  await green(scene, opened);
  expect(await scene.runs('flow')).toEqual([]);
});

test('a delivery that comes again, under its own id or another, counts once', { tags: 'slow' }, async () => {
  const parts = [LABEL, '{ event: pr.labeled, filter: { label: checked } }'];
  const scene = await start(composite('all_of', parts));
  const opened = await scene.open();
  await label(scene, opened);
  await label(scene, opened, 'checked');
  const labels = scene.github.deliveries.filter(({ action }) => action === 'labeled');
  for (const { event, payload, guid } of labels) {
    for (const id of [guid, undefined]) {
      const signed = scene.github.signedDelivery(event, payload as object, id);
      await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...signed });
      await scene.advance(UPDATES_SHOWN_MS);
    }
  }
  expect(await scene.runs('flow')).toHaveLength(1);
});

test('a chain in the pull request itself does not count for its composite', { tags: 'slow' }, async () => {
  const scene = await start(composite('all_of', [LABEL, GREEN]));
  const own = composite('any_of', [LABEL]);
  const opened = await scene.open({ files: own });
  await label(scene, opened);
  expect(await scene.runs('flow')).toEqual([]);
});

test('a composite of outcomes that its own runs complete ends after five runs, with the reason', {
  tags: 'slow',
}, async () => {
  const step = (id: string) => `{ event: invocation.completed, filter: { chain: flow, step: ${id} } }`;
  const flow = `name: flow
trigger:
  - event: pr.opened
  - { all_of: [${step('one')}, ${step('two')}], within: 1h, key: commit }
steps:
  - { id: one, action: gh-comment, with: { body: "depth {{ trigger.depth | default(0) }}" } }
  - { id: two, action: gh-comment, with: { body: two } }
`;
  const scene = await start(only({ flow }));
  const { number } = await scene.open();
  await scene.advance(120_000);
  expect(chainComments(scene, number).filter((body) => body !== 'two')).toEqual(
    ['0', '1', '2', '3', '4', '5'].map((depth) => `depth ${depth}`),
  );
  const [last] = await firings(scene);
  expect(last).toMatchObject({ status: 'skipped', reason: 'too_deep' });
});

test('of more than 10,000 keys of a chain, the one that expires first is forgotten, with a row that says so', {
  tags: 'slow',
}, async () => {
  const scene = await start(composite('all_of', [LABEL, GREEN]));
  const first = await scene.open();
  await label(scene, first);
  const { storage } = scene.app;
  const [row] = await storage.read.composites.expired(new Date('2030-01-01'), 1);
  if (!row) throw new Error('the label was not counted');
  const expiresAt = new Date(row.expiresAt.getTime() + 1);
  await storage.transaction(async (tx) => {
    for (let other = 1; other < 10_000; other++)
      await tx.composites.put({ ...row, key: `#${1_000 + other}`, expiresAt });
  });
  const second = await scene.open({ branch: 'other' });
  expect(await firings(scene)).toEqual([]);
  await label(scene, second);
  expect(await firings(scene)).toMatchObject([
    {
      status: 'skipped',
      reason: 'crowded_out',
      summary: `all_of (pr.labeled, ci.changed) within 1 d no longer waits for pull request #${first.number}: the chain waits for more than 10000 others`,
    },
  ]);
  await green(scene, first);
  expect(await scene.runs('flow')).toEqual([]);
});

test('why shows which parts of a composite came, what it waits for and until when, and the chains that did not fire', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    ...composite('all_of', [LABEL, GREEN]),
    '.github/countersign/chains/picky.yaml':
      'name: picky\ntrigger: { event: pr.opened, filter: { labels: urgent } }\nsteps: [{ skill: ci }]\n',
    '.github/countersign.yml': 'chains: [flow, picky]\n',
  });
  const opened = await scene.open();
  await label(scene, opened);
  const ask = async () => {
    const id = await scene.say(opened.number, 'otto', '/countersign why');
    return scene.replies(opened.number, id)[0];
  };
  expect(await ask()).toMatchInlineSnapshot(`
    "\`\`\`
    ✘ no chain runs: no chain is for this pull request
      … flow waits for all_of (pr.labeled, ci.changed) within 1 d
        … all_of (pr.labeled, ci.changed) within 1 d: pr.labeled happened at 2026-03-02 09:00 UTC, and not ci.changed; it waits until 2026-03-03 09:00 UTC
      ✘ picky is not for it: the labels are deploy, and the filter wants urgent
    \`\`\`"
  `);
  await scene.advance(26 * HOUR);
  expect(await ask()).toMatchInlineSnapshot(`
    "\`\`\`
    ✘ no chain runs: no chain is for this pull request
      ✘ flow waits for all_of (pr.labeled, ci.changed) within 1 d
        ✘ 2026-03-03 10:00 UTC: all_of (pr.labeled, ci.changed) within 1 d did not fire for pull request #1: pr.labeled happened at 2026-03-02 09:00 UTC, and not ci.changed
      ✘ picky is not for it: the labels are deploy, and the filter wants urgent
    \`\`\`"
  `);
});

test('why shows chains that did not fire beside one that ran', { tags: 'slow' }, async () => {
  const scene = await start({
    ...composite('all_of', [LABEL, GREEN]),
    '.github/countersign/chains/ran.yaml':
      'name: ran\ntrigger: { event: pr.opened }\nsteps: [{ skill: ci }]\n',
    '.github/countersign.yml': 'chains: [flow, ran]\n',
  });
  const opened = await scene.open();
  await label(scene, opened);
  const id = await scene.say(opened.number, 'otto', '/countersign why');
  expect(scene.replies(opened.number, id)[0]).toMatchInlineSnapshot(`
    "\`\`\`
    … not done: ci waits for CI: no check has reported yet
      … ci waits for CI: no check has reported yet
    \`\`\`

    \`\`\`
    … chains without a run for this pull request as it is now
      … flow waits for all_of (pr.labeled, ci.changed) within 1 d
        … all_of (pr.labeled, ci.changed) within 1 d: pr.labeled happened at 2026-03-02 09:00 UTC, and not ci.changed; it waits until 2026-03-03 09:00 UTC
    \`\`\`"
  `);
});

test('a check that ended before the app has processed the opening counts, whichever delivery comes first', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    composite(
      'sequence',
      ['{ event: pr.opened, filter: { draft: false } }', GREEN],
      'within: 24h, key: commit',
    ),
  );
  scene.github.holdDeliveries();
  const opened = await scene.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'change',
    title: 'A change',
    files: { 'a.txt': 'a\n' },
  });
  await scene.github.setStatus(REPO, opened.headSha, { context: 'build', state: 'success' });
  await scene.github.releaseDeliveries('reverse');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await scene.runs('flow')).toMatchObject([{ headSha: opened.headSha, pullRequest: opened.number }]);
});

test('a check that was found on GitHub is the same one when its delivery comes', {
  tags: 'slow',
}, async () => {
  const scene = await start(composite('all_of', [LABEL, GREEN]));
  scene.github.holdDeliveries();
  const opened = await scene.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'change',
    title: 'A change',
    files: { 'a.txt': 'a\n' },
  });
  await green(scene, opened);
  await scene.github.releaseDeliveries('reverse');
  await scene.advance(UPDATES_SHOWN_MS);
  await label(scene, opened);
  expect(await scene.runs('flow')).toHaveLength(1);
  const deliveries = await scene.app.storage.read.deliveries.list({ limit: 50 });
  await scene.github.redeliver(deliveries.find(({ event }) => event === 'status')?.guid ?? '');
  await scene.github.removeLabel(REPO, opened.number, 'will', 'deploy');
  await label(scene, opened);
  expect(await scene.runs('flow')).toHaveLength(1);
});
