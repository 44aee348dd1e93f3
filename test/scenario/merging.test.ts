import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  closingDelivered,
  countersign,
  GREETING,
  headline,
  MERGE_ONLY,
  open,
  ownChecks,
  react,
  readable,
  type Setting,
  start,
} from './support.ts';

async function asked(
  setting: Setting = {},
  input: Parameters<typeof open>[1] = {},
): Promise<{ harness: Harness; number: number; headSha: string }> {
  const harness = await start({ chain: MERGE_ONLY, ...setting });
  return { harness, ...(await open(harness, input)) };
}

const isMerge = ({ method, path }: { method: string; path: string }) =>
  method === 'PUT' && path.endsWith('/merge');

function mergeCalls({ github }: Harness): number {
  return github.requests.filter(isMerge).length;
}

/** Does something when the merge call has arrived and is not carried out yet: between the gate's decision and the merge. */
function justBeforeTheMerge({ github }: Harness, happens: () => void): void {
  let open = true;
  github.fail((request) => {
    if (open && isMerge(request)) {
      open = false;
      happens();
    }
    return false;
  }, 'reset');
}

test('the merge call carries the head that was countersigned', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked();
  const bodies: unknown[] = [];
  harness.github.onRequest((request) => {
    if (isMerge(request)) bodies.push(request.body);
  });
  await countersign(harness, number);
  expect(bodies).toEqual([
    { sha: headSha, merge_method: 'squash', commit_title: `Greet people by name (#${number})` },
  ]);
});

eachFirstQuick([
  ['squash', 'nothing', 'nothing'],
  ['merge', 'merge', 'nothing'],
  ['rebase', 'rebase', 'nothing'],
  ['merge', 'nothing', 'merge'],
  ['rebase', 'nothing', 'rebase'],
  ['squash', 'squash', 'rebase'],
] as const)(
  '%s is the method when the chain says %s and the settings say %s',
  async (method, inChain, inSettings) => {
    const { harness, number } = await asked({
      chain: inChain === 'nothing' ? MERGE_ONLY : MERGE_ONLY.replace('}}" }', `}}", method: ${inChain} }`),
      ...(inSettings === 'nothing' ? {} : { settings: `merge: { method: ${inSettings} }\n` }),
    });
    const words = { squash: 'squash-merged', merge: 'merged', rebase: 'rebased and merged' };
    expect(approvalOf(harness, number).body).toContain(`is **${words[method]}** into`);
    await countersign(harness, number);
    expect(harness.github.merges).toMatchObject([{ number, method }]);
  },
);

test('a push between the last poll and the merge call is not merged, and gets its own run and approval comment', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha: first } = await asked();
  const { github } = harness;
  justBeforeTheMerge(harness, () => {
    void github.push({
      repo: REPO,
      branch: 'greet',
      author: 'ada',
      files: { 'src/greet.ts': GREETING.repeat(2) },
    });
  });
  await countersign(harness, number);
  await harness.advance(20_000);

  const second = github.pullRequest(REPO, number).headSha;
  expect(second).not.toBe(first);
  expect(github.merges).toEqual([]);
  expect(mergeCalls(harness)).toBe(1);
  expect(checkLines(harness, first)).toEqual(['cancelled: Superseded by a newer push']);
  expect(checkLines(harness, second)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ headSha: second }]);
});

test('a push whose webhook is late does not get the earlier countersign', { tags: 'slow' }, async () => {
  const { harness, number, headSha: first } = await asked();
  const { github } = harness;
  github.holdDeliveries();
  await react(harness, number, 'mia');
  const second = await github.push({ repo: REPO, branch: 'greet', author: 'ada', files: { 'a.txt': 'a\n' } });
  await harness.advance(A_RECHECK);
  expect(github.merges).toEqual([]);
  expect(checkLines(harness, first)).toEqual(['cancelled: Superseded by a newer push']);
  expect(checkLines(harness, second)).toEqual(['in_progress: Waiting for a maintainer to countersign']);

  await github.releaseDeliveries();
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, second)).toHaveLength(1);
  expect(approvals(harness, number)).toHaveLength(2);
});

describe('when GitHub does not merge', () => {
  test('a conflict that appears after the maintainers were asked is named, and the merge follows once it is gone', {
    tags: 'slow',
  }, async () => {
    const { harness, number, headSha } = await asked({}, { files: { 'README.md': '# Greetings\n' } });
    const { github } = harness;
    const before = github.branch(REPO, 'main') ?? '';
    await github.push({ repo: REPO, branch: 'main', author: 'max', files: { 'README.md': '# The app\n' } });
    await countersign(harness, number);
    // The first status comment waits a few seconds for further changes.
    await harness.advance(6_000);

    expect(github.merges).toEqual([]);
    const conflicts = 'onflicts with main: resolve them by merging or rebasing';
    expect(checkLines(harness, headSha)).toEqual([`in_progress: C${conflicts}`]);
    expect(approvalOf(harness, number).body).toContain(`> **On hold:** Not merging: c${conflicts}.`);

    await github.push({ repo: REPO, branch: 'main', author: 'max', forceTo: before });
    await harness.advance(120_000);
    expect(github.merges).toHaveLength(1);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
  });

  test('a missing required check is named, and the merge follows at once when it arrives', {
    tags: 'slow',
  }, async () => {
    const { harness, number, headSha } = await asked();
    const { github } = harness;
    github.requireChecks(REPO, 'main', ['deploy']);
    await countersign(harness, number);
    expect(checkLines(harness, headSha)).toEqual([
      'in_progress: Not merging: GitHub says: Required status check "deploy" is expected.',
    ]);

    await github.setStatus(REPO, headSha, { context: 'deploy', state: 'success' });
    await harness.advance(30_000);
    expect(github.merges).toHaveLength(1);
  });

  test('a conflict that stays causes neither another attempt nor another comment', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await asked({}, { files: { 'README.md': '# Greetings\n' } });
    const { github } = harness;
    await github.push({ repo: REPO, branch: 'main', author: 'max', files: { 'README.md': '# The app\n' } });
    await countersign(harness, number);
    await harness.advance(6_000);
    const [tried, before] = [mergeCalls(harness), github.requests.length];
    await harness.advance(120_000);
    expect([tried, mergeCalls(harness)]).toEqual([0, 0]);
    const edits = github.requests
      .slice(before)
      .filter(({ method, path }) => method !== 'GET' && path.includes('/comments'));
    expect(edits).toEqual([]);
  });

  eachFirstQuick([
    [422, 'Base branch was modified. Review and try the merge again.'],
    [403, 'Resource not accessible by integration'],
  ])('a refusal (%s) fails with GitHub’s message and is not retried', async (status, message) => {
    const { harness, number, headSha } = await asked();
    harness.github.fail(isMerge, { status, body: { message } });
    await countersign(harness, number);
    await harness.advance(3_600_000);

    expect(mergeCalls(harness)).toBe(1);
    expect(checkLines(harness, headSha)).toEqual([
      `failure: GitHub refused the merge (${status}): ${message}`,
    ]);
    expect(readable(harness, approvalOf(harness, number).body, { head: headSha })).toContain(
      `### ❌ Countersigned, but not merged\n\nCountersigned by \`mia\`. GitHub refused the merge (${status}): ${message}`,
    );
  });

  test('a refusal that stays is retried ever more rarely, without another comment', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await asked();
    const { github } = harness;
    const message = 'At least 1 approving review is required by reviewers with write access.';
    github.fail(isMerge, { status: 405, body: { message } }, 20);
    await countersign(harness, number);
    await harness.advance(6_000);
    const before = github.requests.length;
    expect(mergeCalls(harness)).toBe(1);
    await harness.advance(3_000_000);
    expect(mergeCalls(harness)).toBe(6);
    const edits = github.requests
      .slice(before)
      .filter(({ method, path }) => method !== 'GET' && path.includes('/comments'));
    expect(edits).toEqual([]);
  });

  test('a method that the repository does not allow is named', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await asked();
    const message = 'Squash merges are not allowed on this repository.';
    harness.github.fail(isMerge, { status: 405, body: { message } }, 20);
    await countersign(harness, number);
    expect(checkLines(harness, headSha)).toEqual([`in_progress: Not merging: GitHub says: ${message}`]);
  });
});

describe('when it is unknown whether GitHub merged', () => {
  test('a merge whose answer was lost is recorded once', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await asked();
    const { github } = harness;
    github.fail(isMerge, { after: 'reset' }, 1);
    await countersign(harness, number);
    await harness.advance(20_000);

    expect(github.merges).toHaveLength(1);
    expect(mergeCalls(harness)).toBe(1);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    const merged = github.branch(REPO, 'main') ?? '';
    expect(
      readable(harness, approvalOf(harness, number).body, { head: headSha, merged }),
    ).toMatchInlineSnapshot(`
      "<!-- countersign:approval head=<head> base=main -->
      <!-- countersign:question id=apr_1 -->
      ### 🎉 Countersigned and merged

      Commit \`<head>\` was squash-merged into \`main\` as \`<merged>\`, countersigned by \`mia\`.

      This chain has no review and no CI.

      <sub>Chain \`pr-review\` for \`<head>\` · [details](https://github.test/octo/app/runs/52000000001)</sub>"
    `);
  });

  eachFirstQuick([
    ['a 502', { status: 502 }],
    ['a 500', { status: 500, body: { message: 'Server Error' } }],
    ['a connection cut before it', 'reset'],
  ] as const)('%s that merged nothing is retried, and merged once', async (_, how) => {
    const { harness, number, headSha } = await asked();
    const { github } = harness;
    github.fail(isMerge, how, 2);
    await countersign(harness, number);
    await harness.advance(20_000);
    expect(github.merges).toHaveLength(1);
    expect(mergeCalls(harness)).toBe(3);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect(github.comments(REPO, number)).toHaveLength(1);
  });

  test('a countersign that is withdrawn after a 502 is not merged by the next attempt', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await asked();
    const { github } = harness;
    const reaction = await react(harness, number, 'mia');
    justBeforeTheMerge(harness, () => {
      void github.unreact(REPO, approvalOf(harness, number).id, reaction);
    });
    github.fail(isMerge, { status: 502 }, 1);
    await harness.advance(20_000);
    expect(mergeCalls(harness)).toBe(1);
    expect(github.merges).toEqual([]);
  });

  test('the webhook of our own merge that overtakes the answer changes nothing', {
    tags: 'slow',
  }, async () => {
    const { harness, number, headSha } = await asked();
    const { github } = harness;
    github.fail(isMerge, { after: 'reset' }, 1);
    // The app reads the pull request to learn the result of its merge; the webhooks arrive before that.
    github.onRequest((request) => {
      if (!isMerge(request)) return;
      github.fail(
        ({ method, path }) => method === 'GET' && path.endsWith(`/pulls/${number}`),
        { until: closingDelivered(github) },
        1,
      );
    });
    await countersign(harness, number);

    expect(await closingDelivered(github)).toBe(202);
    expect(github.merges).toHaveLength(1);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect(approvals(harness, number).map(headline)).toEqual(['🎉 Countersigned and merged']);
  });

  test('a person who merges while the gate is open for our merge call is named, under the countersign', {
    tags: 'slow',
  }, async () => {
    const { harness, number, headSha } = await asked();
    const { github } = harness;
    justBeforeTheMerge(harness, () => {
      void github.mergePullRequest(REPO, number, 'max', 'merge');
    });
    await countersign(harness, number);
    expect(github.merges).toMatchObject([{ by: 'max', method: 'merge' }]);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect(approvalOf(harness, number).body).toMatch(
      /was merged into `main` as `\w+` by `max`, countersigned by `mia`/,
    );
  });
});

test('of two merge steps that ask at the same time, the one that nobody answered names the other as the merge’s, and whose it was', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked({
    chain: `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: quick, action: gh-merge, requires_approval: true, depends_on: [], with: { method: merge } }
  - { id: tidy, action: gh-merge, requires_approval: true, depends_on: [], with: { method: squash } }
`,
  });
  await countersign(harness, number);
  await harness.advance(A_RECHECK);

  // Which of them asks first depends on the database.
  const [merge] = harness.github.merges;
  const tidy = { step: 'tidy', merged: 'squash-merged' };
  const quick = { step: 'quick', merged: 'merged' };
  const [answered, other] = merge?.method === 'squash' ? [tidy, quick] : [quick, tidy];
  expect(harness.github.merges).toHaveLength(1);
  const told = approvals(harness, number).map(({ body }) =>
    readable(harness, body, { merge: merge?.sha ?? '', head: headSha }),
  );
  const because = `It asked whether commit \`<head>\` may be ${other.merged} into \`main\`. Merged into main as <merge> by the step ${answered.step}, countersigned by mia.`;
  expect(told.filter((body) => body.includes(because))).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
  expect(ownChecks(harness, headSha)[0]?.summary).toMatch(
    new RegExp(`${other.step}: merged .* by the step ${answered.step}, countersigned by mia\\n`),
  );
});
