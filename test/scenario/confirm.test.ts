import { describe, expect, test } from 'vitest';
import { makeOutcome } from '../../src/domain/outcome/outcome.ts';
import type { StepHandler } from '../../src/engine/steps/step.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  headline,
  ownCheck,
  react,
  reportCi,
} from './support.ts';
import {
  approveButton,
  commentAndPoll,
  hasContinued,
  LABEL_AND_MERGE,
  openConfirmation,
  pressApprove,
} from './support-confirm.ts';

// Who may answer, and that no merge is ever answered this way, is in test/scenario/attacks/confirm.test.ts.

const TWO = 'countersign: { count: 2 }\n';

describe('a step that asks and merges nothing continues', () => {
  eachFirstQuick([
    ['when a maintainer approves it by name', '/countersign approve safe'],
    ['when a maintainer approves without a name', '/countersign approve'],
  ])('%s', async (_, command) => {
    const asked = await openConfirmation();
    expect(await commentAndPoll(asked, 'mia', command)).toEqual([
      expect.stringMatching(/^Noted: you approve `safe` for `\w{7}`\. .* nothing is merged by it\.$/),
    ]);
    expect(hasContinued(asked)).toBe(true);
    expect(approvals(asked.harness, asked.number).map(headline)).toEqual([
      'replaced',
      '✍️ Approve this merge?',
    ]);
    expect(asked.harness.github.merges).toEqual([]);
  });

  eachFirstQuick([
    ['', {}],
    [' of a pull request from a fork', { author: 'otto', fork: 'otto/app' }],
  ])('when a maintainer presses the button%s', async (_, input) => {
    const asked = await openConfirmation({}, input);
    await pressApprove(asked, 'mia');
    expect(hasContinued(asked)).toBe(true);
    expect(asked.harness.github.merges).toEqual([]);
  });

  test('when enough people answered, each in their own way and none counted twice', {
    tags: 'slow',
  }, async () => {
    const asked = await openConfirmation({ settings: TWO });
    const { harness, number, headSha } = asked;
    await commentAndPoll(asked, 'mia', '/countersign approve');
    await pressApprove(asked, 'mia');
    expect(checkLines(harness, headSha)).toEqual([
      'in_progress: Waiting for maintainers to countersign: 1 of 2 did',
    ]);
    await harness.restart();
    await react(harness, number, 'max');
    await harness.advance(A_RECHECK);
    expect(hasContinued(asked)).toBe(true);
  });

  test('after a resume, if it was approved during a pause', { tags: 'slow' }, async () => {
    const asked = await openConfirmation();
    await commentAndPoll(asked, 'mia', '/countersign pause');
    await commentAndPoll(asked, 'mia', '/countersign approve');
    expect(hasContinued(asked)).toBe(false);
    await commentAndPoll(asked, 'max', '/countersign resume');
    expect(hasContinued(asked)).toBe(true);
  });
});

describe('a step that asks and merges nothing is stopped', () => {
  test('by a rejection, which the check run and the comment name', { tags: 'slow' }, async () => {
    const asked = await openConfirmation();
    const { harness, number, headSha } = asked;
    expect(await commentAndPoll(asked, 'mia', '/countersign reject safe')).toEqual([
      expect.stringMatching(/^Noted: you reject `safe` for `\w{7}`, so it does not go on\.$/),
    ]);
    expect(hasContinued(asked)).toBe(false);
    expect(checkLines(harness, headSha)).toEqual(['failure: Rejected by mia']);
    expect(approvalOf(harness, number).body).toContain('rejected the step');
  });

  test('by a later rejection of somebody who approved before', { tags: 'slow' }, async () => {
    const asked = await openConfirmation({ settings: TWO });
    await commentAndPoll(asked, 'mia', '/countersign approve');
    await commentAndPoll(asked, 'mia', '/countersign reject');
    await commentAndPoll(asked, 'max', '/countersign approve');
    expect(hasContinued(asked)).toBe(false);
    expect(checkLines(asked.harness, asked.headSha)).toEqual(['failure: Rejected by mia']);
  });

  test('by a rejection that replaces an approval that is being carried out', { tags: 'slow' }, async () => {
    const first = { at: () => Promise.resolve() };
    const done: string[] = [];
    const publish: StepHandler = {
      name: 'publish',
      capability: { name: 'publish', minimumTrust: 'sandbox', sideEffects: true, confirmation: 'none' },
      async run() {
        await first.at();
        const summary = 'published';
        const outcome = makeOutcome<'action_result'>({
          outcome_kind: 'action_result',
          summary,
          passed: true,
          action: 'publish',
          details: {},
        });
        const place = { installation_id: 1, owner: 'octo', repo: 'app', issue: 1 };
        const effect = { kind: 'label' as const, ...place, labels: ['published'] };
        done.push(summary);
        return { kind: 'done', outcome, desiredEffects: [{ key: 'published', effect }] };
      },
    };
    const asked = await openConfirmation({
      skills: [publish],
      chain: LABEL_AND_MERGE.replace('action: gh-label', 'skill: publish'),
    });
    const { harness, number } = asked;
    first.at = async () => {
      first.at = () => Promise.resolve();
      await harness.github.comment(REPO, number, 'mia', '/countersign reject');
      const answered = async () =>
        (await harness.app.storage.read.approvals.ofRun('run_1')).some(({ answers }) =>
          answers.some(({ says }) => says === 'reject'),
        );
      await expect.poll(answered).toBe(true);
    };
    await commentAndPoll(asked, 'mia', '/countersign approve');
    expect(done).toEqual(['published']);
    expect(harness.github.labels(REPO, number)).toEqual([]);
    expect(headline(approvalOf(harness, number))).toBe('✋ Rejected by mia');
  });
});

test('of several waiting steps, only the named one continues', { tags: 'slow' }, async () => {
  const asked = await openConfirmation({
    chain: LABEL_AND_MERGE.replace(
      '  - id: merge',
      '  - id: other\n    action: gh-label\n    depends_on: []\n    requires_approval: true\n    with: { labels: [other] }\n  - id: merge',
    ),
  });
  const { harness, number } = asked;
  expect(await commentAndPoll(asked, 'mia', '/countersign approve')).toEqual([
    'Several steps wait for an answer (`safe`, `other`): name one, or react to the approval comment of the one you mean.',
  ]);
  expect(await commentAndPoll(asked, 'mia', '/countersign approve third')).toEqual([
    'There is no step `third`; the steps are `safe`, `other`, `merge`.',
  ]);
  expect(harness.github.labels(REPO, number)).toEqual([]);
  await commentAndPoll(asked, 'mia', '/countersign approve other');
  expect(harness.github.labels(REPO, number)).toEqual(['other']);
});

test('the check run and the comment say how to answer', { tags: 'slow' }, async () => {
  const asked = await openConfirmation();
  const { harness, number, headSha } = asked;
  const { body } = approvalOf(harness, number);
  expect(/#### How to answer\n\n(.*)/.exec(body)?.[1]).toMatchInlineSnapshot(
    `"React to this comment with 🚀 or 👍 to approve, or with 👎 to reject. You can also press Approve on the check run, or write \`/countersign approve safe\` or \`/countersign reject safe\` in a new comment. Your last answer counts."`,
  );
  const check = ownCheck(harness, headSha);
  expect(check.actions.map(({ label, description }) => `${label}: ${description}`)).toMatchInlineSnapshot(`
    [
      "Approve: Let safe go on",
      "Cancel: Stop this run for good",
      "Pause: Stop here until somebody resumes",
    ]
  `);
  expect(/\*\*Next:\*\* (.*)/.exec(check.summary ?? '')?.[1]).toMatchInlineSnapshot(
    `"A maintainer reacts to the approval comment with 🚀 or 👍 to continue, or with 👎 to reject. The button Approve on the check run and \`/countersign approve safe\` do the same."`,
  );
  await pressApprove(asked, 'mia');
  expect(approveButton(asked)).toBeUndefined();
  expect(approvalOf(harness, number).body).not.toContain('/countersign approve');
});

/** A label that waits for a person beside CI, and in some chains a condition on CI. */
function besideCi(label: string): string {
  return `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - id: ci
    skill: ci
  - id: safe
    action: gh-label
    requires_approval: true
    with: { labels: [safe-to-test] }
    ${label}
`;
}

describe('a step that asks and merges nothing', () => {
  test('is not blocked by CI that it does not depend on', { tags: 'slow' }, async () => {
    const asked = await openConfirmation({ chain: besideCi('depends_on: []') });
    await reportCi(asked.harness, asked.headSha, 'failure');
    await commentAndPoll(asked, 'mia', '/countersign approve');
    expect(hasContinued(asked)).toBe(true);
  });

  test('is not blocked by red CI if its condition asks for red CI', { tags: 'slow' }, async () => {
    const condition = "condition: '{{ not steps.ci.outcome.passed }}'";
    const asked = await openConfirmation({ chain: besideCi(condition) });
    await reportCi(asked.harness, asked.headSha, 'failure');
    await commentAndPoll(asked, 'mia', '/countersign approve');
    expect(hasContinued(asked)).toBe(true);
  });

  test('is blocked by red CI that it depends on, and the text mentions no merge', {
    tags: 'slow',
  }, async () => {
    const asked = await openConfirmation({ chain: besideCi('depends_on: [ci]') });
    const { harness, number, headSha } = asked;
    await reportCi(harness, headSha, 'success');
    await reportCi(harness, headSha, 'failure');
    await commentAndPoll(asked, 'mia', '/countersign approve');
    await harness.advance(A_RECHECK);
    expect(hasContinued(asked)).toBe(false);
    expect(checkLines(harness, headSha)).toEqual([
      'in_progress: Not going on: ci: 1 of 1 check failed: test',
    ]);
    const shown = [ownCheck(harness, headSha).summary ?? '', approvalOf(harness, number).body].join();
    expect(shown.replaceAll('nothing is merged by it', '')).not.toMatch(/merging|to merge|merged/i);
    const [why = ''] = await commentAndPoll(asked, 'mia', '/countersign why');
    expect(why).not.toMatch(/not merging/);

    await reportCi(harness, headSha, 'success');
    await harness.advance(A_RECHECK);
    expect(hasContinued(asked)).toBe(true);
  });
});
