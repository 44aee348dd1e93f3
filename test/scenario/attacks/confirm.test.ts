// @module-tag security

import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { REPO } from '../../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  countersign,
  headline,
  ownCheck,
  pushAgain,
  react,
} from '../support.ts';
import {
  approveButton,
  commentAndPoll,
  hasContinued,
  LABEL_AND_MERGE,
  openConfirmation,
  pressApprove,
  replies,
} from '../support-confirm.ts';
import { merged, type OpenApproval, openApproval, READS } from './support.ts';

// Which comments contain a command is in commands.test.ts; here the commands answer for a step.

const BY_REACTION =
  'A merge is never approved or rejected by a command or a button: react to its approval comment.';
const TWO = 'countersign: { count: 2 }\n';

/** mia presses the present button, and the app hears of it only after something else has happened. */
async function pressedBefore(scene: OpenApproval, acts: () => Promise<void>): Promise<void> {
  const { github, advance } = scene.harness;
  github.holdDeliveries();
  const { id } = ownCheck(scene.harness, scene.headSha);
  await github.clickAction(REPO, id, 'mia', approveButton(scene) ?? 'none');
  await acts();
  await github.releaseDeliveries();
  await advance(A_RECHECK);
}

describe('no command or button merges', () => {
  test('when only a merge waits, named or not, and its check run has no such button', {
    tags: 'slow',
  }, async () => {
    const scene = await openApproval();
    const { harness, number } = scene;
    for (const words of ['approve', 'approve merge', 'reject', 'reject merge']) {
      expect(await commentAndPoll(scene, 'mia', `/countersign ${words}`)).toEqual([BY_REACTION]);
    }
    // Replies are the last to get a share of a minute's writes.
    await harness.advance(60_000);
    expect(await commentAndPoll(scene, 'mia', '/countersign approve pr-review')).toEqual([
      'There is no step `pr-review`; the steps are `merge`.',
    ]);
    expect(approveButton(scene)).toBeUndefined();
    expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
    expect(merged(harness)).toEqual([]);
    await countersign(harness, number);
    expect(merged(harness)).toEqual([number]);
  });

  test('when the run continues with its merge after the step that was approved', {
    tags: 'slow',
  }, async () => {
    const scene = await openConfirmation();
    const { harness, number } = scene;
    await pressedBefore(scene, async () => {
      await react(harness, number, 'max');
      await harness.advance(A_RECHECK);
    });
    expect(hasContinued(scene)).toBe(true);
    expect(headline(approvalOf(harness, number))).toBe('✍️ Approve this merge?');
    expect(await commentAndPoll(scene, 'mia', '/countersign approve safe')).toEqual([
      'The step `safe` does not wait for an answer, so nothing was done.',
    ]);
    expect(await commentAndPoll(scene, 'max', '/countersign approve')).toEqual([BY_REACTION]);
    expect(merged(harness)).toEqual([]);
  });

  test('when several answers arrive at once and the merge is next', { tags: 'slow' }, async () => {
    const scene = await openConfirmation();
    const { harness } = scene;
    const three = ['approve safe', 'approve', 'approve merge'].map((words) => `/countersign ${words}`);
    await commentAndPoll(scene, 'mia', three.join('\n\n'));
    await harness.advance(A_RECHECK);
    expect(hasContinued(scene)).toBe(true);
    expect(merged(harness)).toEqual([]);
  });

  test('when a merge and another step wait at once, of which only the other continues', {
    tags: 'slow',
  }, async () => {
    const scene = await openConfirmation({
      chain: LABEL_AND_MERGE.replace('action: gh-merge', 'action: gh-merge\n    depends_on: []'),
    });
    await commentAndPoll(scene, 'mia', '/countersign approve');
    expect(hasContinued(scene)).toBe(true);
    expect(merged(scene.harness)).toEqual([]);
  });

  test('when a step of another chain has the name of the merge', { tags: 'slow' }, async () => {
    const label = LABEL_AND_MERGE.split('  - id: merge')[0] ?? '';
    const scene = await openApproval({
      files: {
        '.github/countersign/chains/label.yaml': label
          .replace('name: pr-review', 'name: label')
          .replace('id: safe', 'id: merge'),
      },
    });
    expect(await commentAndPoll(scene, 'mia', '/countersign approve merge')).toEqual([BY_REACTION]);
    expect(hasContinued(scene)).toBe(false);
    expect(merged(scene.harness)).toEqual([]);
  });

  test('when the database has an answer to the merge’s own approval', async () => {
    const scene = await openApproval();
    const { storage } = scene.harness.app;
    const [{ id } = { id: '' }] = await storage.read.approvals.ofRun('run_1');
    // Her id is one of the first that the stand-in gives.
    const answers = Array.from({ length: 50 }, (_, index) => ({
      person: { id: 1_001 + index, login: 'mia' },
      says: 'approve' as const,
      at: '2026-03-02T09:00:00.000Z',
    }));
    await storage.transaction((tx) => tx.approvals.saveAnswers({ id, answers }));
    await scene.harness.github.comment(REPO, scene.number, 'mia', 'Look again.');
    await scene.harness.advance(A_RECHECK);
    expect(merged(scene.harness)).toEqual([]);
  });
});

describe('nobody who may not countersign can answer for a step', () => {
  eachFirstQuick([
    ['a writer', 'will', {}, 'will has write access'],
    ['an outsider', 'otto', {}, 'otto has read access'],
    ['the author, even as a maintainer', 'mia', { author: 'mia' }, 'mia wrote this pull request'],
    ['the committer', 'mia', { committer: 'mia' }, 'mia wrote or co-wrote some of the commits'],
    [
      'a co-author',
      'mia',
      { title: 'Greet\n\nCo-authored-by: Mia <mia@users.noreply.github.com>' },
      'mia wrote or co-wrote some of the commits',
    ],
  ])('%s', async (_, login, input, because) => {
    const scene = await openConfirmation({}, input);
    const told = [`${because}, and so may not answer for \`safe\`.`];
    expect(await commentAndPoll(scene, login, '/countersign approve')).toEqual(told);
    expect(await commentAndPoll(scene, login, '/countersign reject safe')).toEqual(told);
    await pressApprove(scene, login);
    expect(replies(scene, 'button-')).toEqual(told);
    expect(hasContinued(scene)).toBe(false);
    expect(approvals(scene.harness, scene.number).map(headline)).toEqual(['✍️ Approve the step `safe`?']);
  });

  test('neither a bot, which gets no reply, nor people who edit, quote or hide a command', async () => {
    const scene = await openConfirmation();
    const { harness, number } = scene;
    harness.github.addUser('robot', { type: 'Bot' });
    harness.github.setPermission(REPO, 'robot', 'admin');
    const plain = await harness.github.comment(REPO, number, 'mia', 'Hm.');
    await harness.github.editComment(REPO, plain, 'mia', '/countersign approve');
    for (const [login, body] of [
      ['robot', '/countersign approve'],
      ['mia', '> /countersign approve'],
      ['mia', '```\n/countersign approve\n```'],
      ['mia', '<!--\n/countersign approve\n-->'],
    ] as const) {
      expect(await commentAndPoll(scene, login, body)).toEqual([]);
    }
    await pressApprove(scene, 'robot');
    expect(hasContinued(scene)).toBe(false);
  });
});

describe('an answer no longer counts', () => {
  test('once its author lost the role, and counts again once the role is back', {
    tags: 'slow',
  }, async () => {
    const scene = await openConfirmation({ settings: TWO });
    const { harness } = scene;
    await commentAndPoll(scene, 'mia', '/countersign approve');
    harness.github.setPermission(REPO, 'mia', 'write');
    await commentAndPoll(scene, 'max', '/countersign approve');
    expect(hasContinued(scene)).toBe(false);
    expect(approvalOf(harness, scene.number).body).toContain('mia approved, but has write access');
    harness.github.setPermission(REPO, 'mia', 'maintain');
    await harness.advance(A_RECHECK);
    expect(hasContinued(scene)).toBe(true);
  });

  test('when its author loses the role between the answer and its poll', { tags: 'slow' }, async () => {
    const scene = await openConfirmation();
    const { harness } = scene;
    let asks = 0;
    harness.github.fail((request) => {
      // The command reads twice, the role and the account; the third read is the poll's.
      if (READS.permission(request) && ++asks === 3) harness.github.setPermission(REPO, 'mia', 'write');
      return false;
    }, 'reset');
    expect(await commentAndPoll(scene, 'mia', '/countersign approve')).toEqual([
      expect.stringMatching(/^Noted/),
    ]);
    expect(asks).toBeGreaterThan(2);
    expect(hasContinued(scene)).toBe(false);
  });

  test('when another account has its author’s login', { tags: 'slow' }, async () => {
    const scene = await openConfirmation({ settings: TWO });
    const { harness } = scene;
    await commentAndPoll(scene, 'mia', '/countersign approve');
    const other = { permission: 'admin', role_name: 'admin', user: { id: 999, login: 'mia', type: 'User' } };
    harness.github.fail(({ path }) => path.includes('/collaborators/mia/'), { status: 200, body: other });
    await commentAndPoll(scene, 'max', '/countersign approve');
    expect(hasContinued(scene)).toBe(false);
  });

  test('for a newer head, and neither does the button of the older one', { tags: 'slow' }, async () => {
    const scene = await openConfirmation({ settings: TWO });
    const { harness, number } = scene;
    await commentAndPoll(scene, 'mia', '/countersign approve');
    let headSha = '';
    await pressedBefore(scene, async () => {
      headSha = await pushAgain(harness);
      await harness.advance(A_RECHECK);
    });
    await commentAndPoll({ ...scene, headSha }, 'max', '/countersign approve');
    expect(approvals(harness, number)).toHaveLength(2);
    expect(hasContinued(scene)).toBe(false);
  });

  test('for a newer approval, also when it was still on its way', { tags: 'slow' }, async () => {
    const scene = await openConfirmation();
    const { harness, number } = scene;
    const first = approvalOf(harness, number);
    let late = 0;
    await pressedBefore(scene, async () => {
      late = await harness.github.comment(REPO, number, 'mia', '/countersign approve');
      await harness.github.editComment(REPO, first.id, 'will', 'Who comes to lunch?');
      await harness.advance(60_000);
    });
    expect(approvals(harness, number)).toHaveLength(2);
    expect(replies(scene, late)).toEqual([
      'The step `safe` asked after you wrote this, so nothing was done; send it again if you mean what it asks.',
    ]);
    expect(hasContinued(scene)).toBe(false);
    await pressApprove(scene, 'mia');
    expect(hasContinued(scene)).toBe(true);
  });
});
