import { afterEach, expect, test, vi } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  CI_AND_MERGE,
  checkLines,
  countersign,
  headline,
  MERGE_ONLY,
  open,
  ownChecks,
  react,
  reportCi,
  start,
} from './support.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** After this time a missing answer counts as none. A busy machine still answers sooner. */
const SILENT_MS = 1_000;

const HTML = { 'content-type': 'text/html' };
const JSON_TYPE = { 'content-type': 'application/json' };

/** The answers of a failing GitHub; none of these requests is carried out. */
const FAULTS = [
  ['a 502', { status: 502 }],
  ['a connection that is reset', 'reset'],
  ['an answer that never comes', 'hang'],
  ['a page of HTML with 200', { status: 200, headers: HTML, body: '<html>Unicorn!</html>' }],
  ['JSON that breaks off', { status: 200, headers: JSON_TYPE, body: '{"id": 12, "nod' }],
  ['JSON of another type', { status: 200, headers: { 'content-type': 'text/plain' }, body: '{"id": 12}' }],
  ['an empty answer', { status: 200, headers: JSON_TYPE, body: '' }],
] as const;

eachFirstQuick(FAULTS)(
  '%s, repeatedly, delays a merge and neither loses nor duplicates anything',
  async (_, how) => {
    const harness = await start({
      chain: MERGE_ONLY,
      github: { timeoutMs: SILENT_MS, mergeTimeoutMs: SILENT_MS },
    });
    const { github } = harness;
    const writes = ['/comments', '/check-runs', '/merge'];
    github.fail(({ method, path }) => method === 'GET' && /\/pulls\/\d+$/.test(path), how, 2);
    for (const end of writes)
      github.fail(({ method, path }) => method !== 'GET' && path.endsWith(end), how, 1);
    const { number, headSha } = await open(harness);
    await harness.advance(20_000);
    await countersign(harness, number);
    await harness.advance(20_000);
    expect(github.merges).toMatchObject([{ number, headSha }]);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect(github.comments(REPO, number).map(headline)).toEqual(['🎉 Countersigned and merged']);
  },
);

test('a merge that GitHub makes after the app gave up waiting is recorded as ours and made once', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY, github: { mergeTimeoutMs: SILENT_MS } });
  const { github } = harness;
  const isMerge = ({ method, path }: { method: string; path: string }) =>
    method === 'PUT' && path.endsWith('/merge');
  let called = false;
  const isFirstCall = (request: { method: string; path: string }) => {
    called ||= isMerge(request);
    return isMerge(request);
  };
  const gaveUp = Promise.withResolvers<void>();
  github.fail(isFirstCall, { until: gaveUp.promise }, 1);
  // Before the app has given up, it does not ask about the result of its merge.
  github.onRequest(({ method, path }) => {
    if (called && method === 'GET' && /\/pulls\/\d+$/.test(path)) gaveUp.resolve();
  });
  github.fail(isMerge, 'hang');
  const { number, headSha } = await open(harness);
  await countersign(harness, number);
  await harness.advance(60_000);
  expect(github.merges).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
});

test('revoked tokens are replaced without any visible effect', { tags: 'slow' }, async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  // A rejected token of the last few seconds is retried directly, because GitHub may still be spreading it.
  vi.setSystemTime(Date.now() + 60_000);
  github.revokeTokens();
  await react(harness, number, 'mia');
  await harness.advance(20_000);
  expect(github.merges).toMatchObject([{ number, headSha }]);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
});

test('writes that GitHub fails at for an hour are made afterwards, once each', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const back = github.fail(({ method, path }) => method === 'POST' && path.endsWith('/check-runs'), {
    status: 502,
  });
  const { headSha } = await open(harness);
  await harness.advance(3_600_000);
  const tries = github.requests.filter(
    ({ method, path }) => method === 'POST' && path.endsWith('/check-runs'),
  );
  expect(tries.length).toBeLessThan(80);
  expect(ownChecks(harness, headSha)).toEqual([]);

  back();
  await harness.advance(300_000);
  expect(ownChecks(harness, headSha)).toHaveLength(1);
});

test('a write that GitHub never accepts is given up, and the check run says why', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { github } = harness;
  const back = github.fail(({ method, path }) => method === 'GET' && path.includes('/check-runs'), {
    status: 500,
  });
  const { number, headSha } = await open(harness);
  await harness.advance(600_000);
  expect(ownChecks(harness, headSha)).toMatchObject([{ conclusion: 'failure' }]);
  expect(ownChecks(harness, headSha)[0]?.summary).toContain(
    'gave up after several tries: GitHub answered 500 to GET commits/check-runs',
  );

  back();
  await github.comment(REPO, number, 'ada', '/countersign rerun');
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toHaveLength(1);
});

const kindOf = (body: string) => /<!-- countersign:(\w+)/.exec(body)?.[1] ?? '';

/** How often comments of each kind were sent. */
function triesOfEachComment(posted: readonly string[]): Record<string, number> {
  const byKind = Object.entries(Object.groupBy(posted, kindOf));
  return Object.fromEntries(byKind.map(([kind, same = []]) => [kind, same.length]));
}

/** The most often that one text of each kind was sent. */
function triesOfEachText(posted: readonly string[]): Record<string, number> {
  const byText = Object.values(Object.groupBy(posted, (body) => body)).map((same = []) => same);
  const byKind = Object.entries(Object.groupBy(byText, ([body = '']) => kindOf(body)));
  return Object.fromEntries(
    byKind.map(([kind, texts = []]) => [kind, Math.max(...texts.map((same) => same.length))]),
  );
}

eachFirstQuick([
  // The question has another text once the check run that it links to is there, which is tried by itself.
  ['at once', 403, A_RECHECK, 1, triesOfEachText],
  ['after several tries', 410, 600_000, 8, triesOfEachComment],
])(
  'an approval comment that GitHub refuses fails its step %s with the reason, and is written when the step runs again',
  async (_, status, endsWithin, most, tries) => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    const isComment = ({ method, path }: { method: string; path: string }) =>
      method === 'POST' && path.endsWith('/comments');
    const posted: string[] = [];
    github.onRequest((request) => {
      if (isComment(request)) posted.push(String((request.body as { body?: unknown }).body));
    });
    const unlock = github.fail(isComment, { status, body: { message: 'Unable to comment.' } });
    const { number, headSha } = await open(harness);
    await harness.advance(endsWithin);
    const [check] = ownChecks(harness, headSha);
    expect(check?.conclusion).toBe('failure');
    expect(check?.summary).toContain('`/countersign rerun` tries again');
    // GitHub's own words are in what the list of checks shows, which is cut.
    expect(check?.title).toContain('(Unable to comment.)');
    expect(check?.summary).toContain('nobody could be asked');
    expect(check?.summary).toContain(`GitHub answered ${status} (Unable to comment.)`);
    expect(tries(posted)).toEqual({ approval: most, status: most });

    unlock();
    await github.comment(REPO, number, 'ada', '/countersign rerun');
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
    await countersign(harness, number);
    expect(github.merges).toHaveLength(1);
    expect(approvals(harness, number)).toHaveLength(1);
  },
);

test('a check run that GitHub refuses is not sent again at every poll, and appears within the hour once GitHub allows it', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const isCreate = ({ method, path }: { method: string; path: string }) =>
    method === 'POST' && path.endsWith('/check-runs');
  // One for the run, one for the gate check.
  const created = () => github.requests.filter(isCreate).length;
  const grant = github.fail(isCreate, { status: 403, body: { message: 'Resource not accessible.' } });
  const { headSha } = await open(harness);
  await harness.advance(300_000);
  await harness.sleep(3_000_000);
  expect(created()).toBeLessThanOrEqual(4);

  grant();
  await harness.advance(600_000);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
});
