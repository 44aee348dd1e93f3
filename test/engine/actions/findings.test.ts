import { describe, expect, test } from 'vitest';
import type { Effect, EffectOf } from '../../../src/domain/effect/effect.ts';
import type { Finding } from '../../../src/domain/outcome/finding.ts';
import { fingerprintHash } from '../../../src/domain/outcome/fingerprint.ts';
import { makeOutcome, type Outcome } from '../../../src/domain/outcome/outcome.ts';
import { ghIssue } from '../../../src/engine/actions/gh-issue.ts';
import { ghReview } from '../../../src/engine/actions/gh-review.ts';
import { reviewAlone, reviewRequest } from '../../../src/messages/comments/finding-review.ts';
import type { GitHubReader, OpenThread, OwnIssue, PullRequestFile } from '../../../src/ports/github.ts';
import { stepContext } from '../../support/step-context.ts';

const HEAD = 'a'.repeat(40);

function finding(more: Partial<Finding> = {}): Finding {
  return {
    severity: 'high',
    category: 'security',
    file: 'src/a.ts',
    line: 2,
    description: 'This is a problem for @octo/all.',
    suggestion: 'Do it otherwise.',
    rule: 'oxlint/no-eval',
    evidence: 'eval(input)',
    ...more,
  };
}

function verdict(findings: Finding[], more: object = {}): Outcome {
  return makeOutcome<'review_verdict'>({
    outcome_kind: 'review_verdict',
    summary: 'Reviewed.',
    passed: findings.length === 0,
    verdict: findings.length === 0 ? 'APPROVE' : 'REQUEST_CHANGES',
    head_sha: HEAD,
    round: 1,
    findings,
    files_reviewed: 1,
    left_out: [],
    analyzers: [],
    ...more,
  });
}

interface GitHubFacts {
  issues?: OwnIssue[] | undefined;
  files?: Partial<PullRequestFile>[];
  reviews?: string[];
  comments?: string[];
  threads?: OpenThread[];
  /** Of the branch, for a run about a check of it. */
  tip?: string;
}

const PATCH = '@@ -1,2 +1,4 @@\n line\n+eval(input)\n+more\n other\n@@ -20 +22,2 @@\n old\n+new';

function contextFor(inputs: object, facts: GitHubFacts, step = '') {
  const about = facts.tip !== undefined && {
    pullRequest: null,
    event: {
      kind: 'ci.changed',
      installation_id: 1,
      repository: { id: 1, owner: 'octo', name: 'app' },
      head_sha: HEAD,
    } as const,
  };
  const reader = {
    branchTip: async () => facts.tip,
    isAssignable: async (_, login) => login !== 'nobody',
    ownIssues: async () => ('issues' in facts ? facts.issues : []),
    ownReviewTexts: async () => ({
      reviews: facts.reviews ?? [],
      comments: (facts.comments ?? []).map((body, index) => ({ id: 100 + index, path: 'src/a.ts', body })),
    }),
    openThreads: async () => facts.threads ?? [],
    pullRequestFiles: async () => ({
      files: (facts.files ?? [{ path: 'src/a.ts', patch: PATCH }]).map((file) => ({
        path: '',
        status: 'modified' as const,
        blobSha: null,
        additions: 0,
        deletions: 0,
        headSha: null,
        ...file,
      })),
      truncated: false,
    }),
  } as Partial<GitHubReader> as GitHubReader;
  return stepContext(`id: act, action: gh-comment${step}`, {
    inputs: JSON.parse(JSON.stringify(inputs)),
    reader,
    run: { headSha: HEAD, ...about },
  });
}

async function done(action: typeof ghIssue, inputs: object, facts: GitHubFacts = {}, step = '') {
  const result = await action.run(contextFor(inputs, facts, step));
  if (result.kind !== 'done') throw new Error(JSON.stringify(result));
  const effects = (result.desiredEffects ?? []).map(({ effect }) => effect);
  return {
    summary: result.outcome.summary,
    effects,
    keys: (result.desiredEffects ?? []).map(({ key }) => key),
  };
}

async function failure(action: typeof ghIssue, inputs: object, facts: GitHubFacts = {}) {
  const result = await action.run(contextFor(inputs, facts));
  return result.kind === 'failed' ? result.reason.summary : JSON.stringify(result);
}

const issuesOf = (effects: readonly Effect[]) =>
  effects.filter((effect): effect is EffectOf<'issue'> => effect.kind === 'issue');

/** The issue as GitHub shows it after the effect. */
function written(effect: EffectOf<'issue'> | undefined, more: Partial<OwnIssue> = {}): OwnIssue {
  if (!effect) throw new Error('there is no issue');
  return { number: 31, body: `${effect.marker}\n${effect.body}`, closedAt: null, reason: null, ...more };
}

describe('gh-issue', () => {
  const one = () => done(ghIssue, { outcome: verdict([finding()]) });

  test('opens an issue for each finding, worst first, and equal findings share one', async () => {
    const { effects, summary } = await done(ghIssue, {
      outcome: verdict([
        finding({ severity: 'low', rule: 'a/low', description: 'Small.' }),
        finding({ line: 9 }),
        finding(),
      ]),
      labels: 'bug',
      assignees: ['mia'],
    });
    expect(issuesOf(effects)).toMatchObject([
      {
        number: null,
        title: 'Security: This is a problem for @\u200Bocto/all.',
        labels: ['countersign', 'bug'],
        assignees: ['mia'],
      },
      { title: 'Security: Small.' },
    ]);
    expect(summary).toBe('issues: 2 opened');
  });

  test('writes an issue that mentions nobody', async () => {
    const [issue] = issuesOf((await one()).effects);
    expect(`${issue?.marker}\n${issue?.body}`).toMatchInlineSnapshot(`
      "<!-- countersign:issue scope=bfb7b7538a868a12a20d finding=d5c99a1ea95c9c19739c file=072fc23b941d05af2383 -->
      🟠 **high** · security · \`src/a.ts:2\`

      This is a problem for @&#8203;octo/all.

      \`eval(input)\`

      **Fix:** Do it otherwise.

      <sub>oxlint/no-eval · \`d5c99a1e\`</sub>

      <sub>Opened by the step \`act\` of the chain \`example\` for #7. It closes this issue when the finding is gone. Close it as not planned, and it stays closed.</sub>"
    `);
  });

  test.each([
    ['is open', {}, { number: 31, closed_at: null }, '1 updated'],
    [
      'was closed as fixed',
      { closedAt: '2026-03-01T00:00:00Z', reason: 'completed' },
      { number: 31, closed_at: '2026-03-01T00:00:00Z' },
      '1 reopened',
    ],
  ])('finds an issue again that %s', async (_, state, expected, words) => {
    const before = await one();
    const issues = [written(issuesOf(before.effects)[0], state)];
    const after = await done(ghIssue, { outcome: verdict([finding({ line: 40 })]) }, { issues });
    expect(issuesOf(after.effects)).toMatchObject([expected]);
    expect(after.keys).toEqual(before.keys);
    expect(after.summary).toContain(words);
  });

  test.each(['not_planned', 'duplicate'])(
    'leaves an issue closed that somebody closed as %s',
    async (reason) => {
      const issues = [
        written(issuesOf((await one()).effects)[0], { closedAt: '2026-03-01T00:00:00Z', reason }),
      ];
      const { effects, summary } = await done(ghIssue, { outcome: verdict([finding()]) }, { issues });
      expect(effects).toEqual([]);
      expect(summary).toBe('no issues to change; 1 left closed, as not planned');
    },
  );

  test('closes an issue whose finding is fixed, and says so', async () => {
    const issues = [written(issuesOf((await one()).effects)[0])];
    const { effects } = await done(ghIssue, { outcome: verdict([]) }, { issues });
    expect(effects).toMatchObject([
      {
        kind: 'comment',
        issue: 31,
        body: expect.stringContaining('does not find this any more at `aaaaaaa`'),
      },
      { kind: 'closing', issue: 31, reason: 'completed' },
    ]);
  });

  test.each([
    ['the review is incomplete', { outcome: verdict([], { verdict: null, passed: null }) }],
    [
      'its file was not examined',
      { outcome: verdict([], { left_out: [{ path: 'src/a.ts', reason: 'too large' }] }) },
    ],
    ['the step does not close', { outcome: verdict([]), close: false }],
  ])('closes nothing if %s', async (_, inputs) => {
    const issues = [written(issuesOf((await one()).effects)[0])];
    expect((await done(ghIssue, inputs, { issues })).effects).toEqual([]);
  });

  test('leaves issues of other steps and pull requests alone', async () => {
    const [issue] = issuesOf((await one()).effects);
    const marker = issue?.marker.replace(/scope=\w+/, `scope=${'0'.repeat(20)}`) ?? '';
    const issues = [{ ...written(issue), body: `${marker}\nOther.` }];
    const { effects } = await done(ghIssue, { outcome: verdict([]) }, { issues });
    expect(effects).toEqual([]);
  });

  test('opens at most as many issues as its limit, and says how many are left', async () => {
    const findings = ['a', 'b', 'c'].map((name) => finding({ rule: `x/${name}` }));
    const { effects, summary } = await done(ghIssue, { outcome: verdict(findings), limit: 2 });
    expect(effects).toHaveLength(2);
    expect(summary).toBe('issues: 2 opened; 1 over the limit');
  });

  test('counts only findings of the given severity', async () => {
    const findings = [finding(), finding({ severity: 'low', rule: 'x/low' })];
    expect((await done(ghIssue, { outcome: verdict(findings), severity: 'medium' })).effects).toHaveLength(1);
  });

  test('opens one issue for all findings', async () => {
    const findings = [finding({ severity: 'low', rule: 'x/low' }), finding()];
    const { effects } = await done(ghIssue, { outcome: verdict(findings), per: 'run' });
    const [issue] = issuesOf(effects);
    expect(effects).toHaveLength(1);
    expect(issue?.body).toMatchInlineSnapshot(`
      "- 🟠 **high** · \`src/a.ts:2\`: This is a problem for @&#8203;octo/all. \`d5c99a1e\`
      - 🔵 **low** · \`src/a.ts:2\`: This is a problem for @&#8203;octo/all. \`dac49055\`

      <sub>Opened by the step \`act\` of the chain \`example\` for #7. It closes this issue when no findings are left. Close it as not planned, and it stays closed.</sub>"
    `);
    const closed = await done(ghIssue, { outcome: verdict([]), per: 'run' }, { issues: [written(issue)] });
    expect(closed.effects).toMatchObject([{ kind: 'comment' }, { kind: 'closing' }]);
  });

  const tests = (passed: boolean | null) =>
    makeOutcome<'research_analysis'>({
      outcome_kind: 'research_analysis',
      summary: 'The build is red.',
      passed,
      question: 'Is it green?',
      conclusions: [],
      sources: [],
      open_questions: [],
    });

  test('keeps one issue open while an outcome without findings has not passed', async () => {
    const { effects } = await done(ghIssue, { outcome: tests(false), per: 'run' });
    const [issue] = issuesOf(effects);
    expect(issue).toMatchObject({ title: 'Findings of example in #7' });
    expect(issue?.body).toContain('The build is red.');
    const issues = [written(issue)];
    const kinds = async (passed: boolean | null) =>
      (await done(ghIssue, { outcome: tests(passed), per: 'run' }, { issues })).effects.map(
        ({ kind }) => kind,
      );
    expect(await kinds(null)).toEqual([]);
    expect(await kinds(true)).toEqual(['comment', 'closing']);
  });

  test.each([
    ['closes the issue of a branch for its newest commit', HEAD, 1],
    ['leaves the issue of a branch open for an older commit, and says why', 'b'.repeat(40), 0],
  ])('%s', async (_, tip, closed) => {
    const { effects } = await done(ghIssue, { outcome: tests(false), per: 'run' }, { tip });
    const issues = [written(issuesOf(effects)[0])];
    const after = await done(ghIssue, { outcome: tests(true), per: 'run' }, { tip, issues });
    expect(after.effects.filter(({ kind }) => kind === 'closing')).toHaveLength(closed);
    expect(after.summary).toContain(
      closed === 1 ? '1 closed' : '1 left open, because the branch has newer commits',
    );
  });

  test('has words of the chain, with parts of the finding', async () => {
    const { effects } = await done(
      ghIssue,
      { outcome: verdict([finding()]), title: 'x', body: 'x' },
      {},
      ', with: { title: "{severity}: {rule} {other}", body: "See {file}, line {line}: {description}" }',
    );
    const [issue] = issuesOf(effects);
    expect(issue?.title).toBe('high: oxlint/no-eval {other}');
    expect(issue?.body).toContain('See src/a.ts, line 2: This is a problem for @&#8203;octo/all.');
  });

  test.each([
    [
      'an outcome that is none',
      { outcome: { outcome_kind: 'review_verdict' } },
      '"outcome" is not the outcome of a step',
    ],
    [
      'an outcome of a step that has none',
      { outcome: null },
      '"outcome" is missing, or the step that it names has none',
    ],
    ['no outcome', {}, '"outcome" is missing, or the step'],
    ['no words', { per: 'run' }, '"title" is missing'],
    [
      'somebody who cannot be assigned',
      { outcome: verdict([]), assignees: 'nobody' },
      'GitHub does not let nobody be assigned',
    ],
    ['a limit of none', { outcome: verdict([]), limit: 0 }, '"limit" must be at least 1'],
  ])('fails for %s', async (_, inputs, because) => {
    expect(await failure(ghIssue, inputs)).toContain(because);
  });

  test('fails if the repository has no issues', async () => {
    expect(await failure(ghIssue, { outcome: verdict([]) }, { issues: undefined })).toBe(
      'gh-issue cannot open issues: acme/shop has none',
    );
  });
});

describe('gh-review', () => {
  const review = async (findings: Finding[], facts: GitHubFacts = {}, more: object = {}) => {
    const { effects, summary } = await done(ghReview, { outcome: verdict(findings), ...more }, facts);
    return { review: effects[0] as EffectOf<'review'> | undefined, summary };
  };

  test('comments on lines of the diff, and puts the other findings into its text', async () => {
    const { review: made, summary } = await review([
      finding(),
      finding({ line: 2, end_line: 3, rule: 'x/range', fix: 'safe(input)' }),
      finding({ line: 4, end_line: 23, rule: 'x/two-hunks', fix: 'no' }),
      finding({ line: 10, rule: 'x/outside' }),
      finding({ file: 'src/b.ts', rule: 'x/other-file' }),
      finding({ file: null, rule: 'x/all' }),
    ]);
    expect(made?.comments.map(({ path, start_line, line }) => `${path}:${start_line}-${line}`)).toEqual([
      'src/a.ts:2-2',
      'src/a.ts:2-3',
      'src/a.ts:4-4',
    ]);
    expect(made?.comments.map(({ body }) => body.includes('```suggestion'))).toEqual([false, true, false]);
    expect(made?.comments[1]?.body).toMatchInlineSnapshot(`
      "🟠 **high** · security · \`src/a.ts:2\`

      This is a problem for @&#8203;octo/all.

      \`eval(input)\`

      **Fix:** Do it otherwise.

      <sub>x/range · \`d4eafcc6\`</sub>

      \`\`\`suggestion
      safe(input)
      \`\`\`"
    `);
    expect(made?.body).toMatchInlineSnapshot(`
      "6 new findings.

      - 🟠 **high** · the change as a whole: This is a problem for @&#8203;octo/all. \`8409d8a3\`
      - 🟠 **high** · \`src/a.ts:10\`: This is a problem for @&#8203;octo/all. \`7e03c553\`
      - 🟠 **high** · \`src/b.ts:2\`: This is a problem for @&#8203;octo/all. \`cb753363\`"
    `);
    expect(summary).toBe('wrote a review of #7 with 3 comments and 3 findings in its text');
  });

  test.each([
    ['the patch was cut', [{ path: 'src/a.ts', patch: '@@ -1,2 +1,40 @@\n line\n+eval(input)' }]],
    ['the file has no patch', [{ path: 'src/a.ts' }]],
    ['the files are those of another head', [{ path: 'src/a.ts', patch: PATCH, headSha: 'b'.repeat(40) }]],
  ])('comments on no line if %s', async (_, files) => {
    const { review: made } = await review([finding()], { files });
    expect(made?.comments).toEqual([]);
    expect(made?.listed).toHaveLength(1);
  });

  test('says nothing twice: neither what is in a comment nor what is in a text', async () => {
    const findings = [finding(), finding({ line: 10, rule: 'x/outside' })];
    const { review: first } = await review(findings);
    if (!first) throw new Error('there is no review');
    for (const sent of [reviewRequest(first), reviewAlone(first)]) {
      const facts = { reviews: [sent.body], comments: sent.comments.map(({ body }) => body) };
      const again = await review(findings, facts);
      expect(again.review).toBeUndefined();
      expect(again.summary).toContain('nothing new');
      const more = await review([...findings, finding({ line: 3 })], facts);
      expect(more.review?.comments).toMatchObject([{ line: 3 }]);
    }
  });

  test('makes no suggestion of what nobody can see', async () => {
    const { review: made } = await review([finding({ fix: 'ok(\u202E)' })]);
    expect(made?.comments[0]?.body).not.toContain('suggestion');
  });

  test('has at most as many comments as its limit', async () => {
    const { review: made } = await review([finding(), finding({ rule: 'x/2' })], {}, { limit: 1 });
    expect([made?.comments.length, made?.listed.length]).toEqual([1, 1]);
  });

  describe('a comment of an earlier review', () => {
    const HASH = fingerprintHash(finding());
    const comment = (from = ' from example/act') =>
      `<!-- countersign:finding ${HASH}${from} -->\nIt is wrong.`;
    const threads = [{ id: 'T1', firstComment: 100 }];
    const resolved = async (outcome: Outcome, facts: GitHubFacts = {}, more: object = {}) => {
      const { effects } = await done(
        ghReview,
        { outcome, ...more },
        { comments: [comment()], threads, ...facts },
      );
      return effects.flatMap((effect) => (effect.kind === 'resolved_finding' ? [effect] : []));
    };

    test('says that its finding is gone, and its conversation is resolved', async () => {
      expect(await resolved(verdict([]))).toMatchObject([
        {
          comment_id: 100,
          thread: 'T1',
          body: `<!-- countersign:resolved -->\n✅ **Not found any more** at \`${HEAD.slice(0, 7)}\`.\n\nIt is wrong.`,
        },
      ]);
    });

    test('leaves room for a new one if the finding comes back', async () => {
      const [effect] = await resolved(verdict([]));
      const { review: made } = await review([finding()], { comments: [effect?.body ?? ''] });
      expect(made?.comments).toHaveLength(1);
    });

    const isThere = verdict([finding()]);
    test.each<[string, Outcome, GitHubFacts, object?]>([
      ['while its finding is there', isThere, {}],
      ['if its finding is below the severity that counts', isThere, {}, { severity: 'critical' }],
      ['if the review is incomplete', verdict([], { verdict: null, passed: null }), {}],
      [
        'if an analyzer crashed beside a finding that blocks',
        verdict([finding({ line: 9, evidence: 'other' })], {
          analyzers: [{ name: 'x', version: '1', status: 'crashed', files: 1, duration_ms: 1 }],
        }),
        {},
      ],
      [
        'if its file was not reviewed',
        verdict([], { left_out: [{ path: 'src/a.ts', reason: 'too large' }] }),
        {},
      ],
      [
        'if somebody accepted its finding',
        verdict([], {
          accepted: [{ finding: finding(), by: { id: 1, login: 'mia' }, because: 'ok', at: '2026-01-01' }],
        }),
        {},
      ],
      ['if somebody resolved its conversation', verdict([]), { threads: [] }],
      ['of another step', verdict([]), { comments: [comment(' from other/act')] }],
      ['of an older version, which names no step', verdict([]), { comments: [comment('')] }],
    ])('stays %s', async (_, outcome, facts, more) => {
      expect(await resolved(outcome, facts, more)).toEqual([]);
    });
  });

  test('without findings there is no review', async () => {
    expect((await review([])).review).toBeUndefined();
  });
});
