import { defaultSettings } from '../../src/domain/chain/settings.ts';
import { criterion, type Explanation } from '../../src/domain/explanation/explanation.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import type { Approval } from '../../src/domain/policy/approval.ts';
import type { Invocation, RunState } from '../../src/domain/run/run.ts';
import { gitHubIsUnavailable, limitIsSpent } from '../../src/messages/text/outage.ts';
import {
  at,
  check,
  done,
  ends,
  finding,
  makeApproval,
  makeCi,
  makeReview,
  makeState,
  mergedOutcome,
  suggestion,
} from './builders.ts';
import { GATES } from './gate-scenes.ts';
import { STOPPED } from './stopped-scenes.ts';

export interface Scene {
  state: RunState;
  approval: Approval | null;
}

const approved = done(makeReview());
const suggested = done(
  makeReview({
    verdict: 'APPROVE_WITH_SUGGESTIONS',
    summary: '1 medium finding in 3 files, and nothing that stands in the way of merging.',
    findings: [suggestion],
  }),
);
const green = done(makeCi([check('build'), check('test', { required: true, duration_ms: 182_000 })]));
const red = done(
  makeCi([
    check('build'),
    check('test', { required: true, state: 'failed', conclusion: 'failure', said: '2 failed, 40 passed' }),
  ]),
);
const asking: Partial<Invocation> = {
  status: 'waiting_approval',
  reason: reason('step.waiting.approval', 'not merging: 0 of 1 countersign given'),
  startedAt: at('12:03'),
};
const interrupted: Partial<Invocation> = {
  ...asking,
  reason: reason('step.waiting.github', gitHubIsUnavailable('GitHub answered 500 to PUT pulls/merge.')),
};
const noComment = ends('skipped', reason('step.skipped.condition', 'the review requests no changes'));
const noMerge = ends('skipped', reason('step.skipped.condition', 'the review did not pass'));

function decision(status: Explanation['status'], summary: string, ...changed: Explanation[]): Explanation {
  return criterion(status, summary, [
    criterion('met', 'the pull request is open'),
    criterion('met', 'it is not a draft'),
    criterion('met', 'the head is still abc1234'),
    criterion('met', 'the base is still main'),
    ...changed,
    criterion('met', 'ci: all 2 checks passed'),
    criterion('met', 'every condition of the step still holds'),
    criterion('met', 'not paused'),
  ]);
}

const nobodyYet = decision(
  'pending',
  'not merging: 0 of 1 countersign given',
  criterion('pending', '0 of 1 countersign given', [
    criterion('unmet', 'bob reacted, but wrote this pull request'),
    criterion('unmet', 'mallory reacted, but has read access'),
  ]),
  criterion('met', 'nobody who may countersign rejects it'),
);
const alice = decision(
  'met',
  'countersigned by alice; merging',
  criterion('met', 'countersigned by alice', [criterion('met', 'alice may countersign and did')]),
  criterion('met', 'nobody who may countersign rejects it'),
);

/** One scene for each situation that a reader can meet. */
export const SCENES: Record<string, Scene> = {
  queued: { state: makeState({}), approval: null },
  reviewing: {
    state: makeState({}, { review: { status: 'running', startedAt: at('12:01') } }),
    approval: null,
  },
  'waiting for CI': {
    state: makeState(
      { status: 'waiting_ci' },
      {
        review: suggested,
        ci: {
          status: 'waiting_ci',
          startedAt: at('12:02'),
          reason: reason('step.waiting.ci', '2 of 5 checks are done', [
            { kind: 'check', id: 'test', label: 'test', url: 'https://github.com/acme/shop/runs/2' },
            { kind: 'check', id: 'lint', label: 'lint' },
          ]),
        },
        changes: noComment,
      },
    ),
    approval: null,
  },
  'waiting for a countersign': {
    state: makeState(
      { status: 'waiting_approval' },
      { review: suggested, ci: green, merge: asking, changes: noComment },
    ),
    approval: makeApproval({ decision: nobodyYet, lookedAt: at('12:04') }),
  },
  'no checks, two countersigns needed': {
    state: makeState(
      {
        status: 'waiting_approval',
        settings: {
          ...defaultSettings,
          countersign: {
            ...defaultSettings.countersign,
            count: 2,
            teams: ['acme/release'],
            users: ['carol'],
          },
        },
      },
      {
        review: approved,
        ci: done(makeCi([])),
        merge: {
          ...asking,
          reason: reason('step.waiting.approval', 'not merging: 1 of 2 countersigns given'),
        },
        changes: noComment,
      },
    ),
    approval: makeApproval({
      decision: criterion('pending', 'not merging: 1 of 2 countersigns given', [
        criterion('pending', '1 of 2 countersigns given', [
          criterion('met', 'alice may countersign and did'),
        ]),
      ]),
      countersignedBy: ['alice'],
      lookedAt: at('12:04'),
    }),
  },
  'just asked': {
    state: makeState(
      { status: 'waiting_approval' },
      { review: approved, ci: green, merge: { ...asking, reason: null }, changes: noComment },
    ),
    approval: makeApproval(),
  },
  'countersigned, but GitHub cannot merge it yet': {
    state: makeState(
      { status: 'waiting_approval' },
      {
        review: approved,
        ci: green,
        merge: {
          ...asking,
          reason: reason('step.waiting.approval', 'GitHub says it cannot be merged yet: merge conflict'),
        },
        changes: noComment,
      },
    ),
    approval: makeApproval({
      decision: { ...alice, status: 'unmet', summary: 'not merging: GitHub says: merge conflict' },
      lookedAt: at('12:04'),
      countersignedBy: ['alice'],
    }),
  },
  'it conflicts, and nobody is asked': {
    state: makeState(
      { status: 'waiting_until' },
      {
        review: approved,
        ci: green,
        merge: {
          status: 'waiting_until',
          reason: reason('step.waiting.conflict', 'conflicts with main: resolve them by merging or rebasing'),
          startedAt: at('12:04'),
        },
        changes: noComment,
      },
    ),
    approval: null,
  },
  'countersigned, and GitHub wants a break': {
    state: makeState(
      { status: 'waiting_approval' },
      {
        review: approved,
        ci: green,
        merge: { ...asking, reason: reason('step.waiting.rate_limit', limitIsSpent(at('12:30'))) },
        changes: noComment,
      },
    ),
    approval: makeApproval({ decision: alice, lookedAt: at('12:04'), countersignedBy: ['alice'] }),
  },
  'countersigned, but GitHub fails': {
    state: makeState(
      { status: 'waiting_approval' },
      { review: approved, ci: green, merge: interrupted, changes: noComment },
    ),
    approval: makeApproval({ decision: alice, lookedAt: at('12:04'), countersignedBy: ['alice'] }),
  },
  'asked, and GitHub fails': {
    state: makeState(
      { status: 'waiting_approval' },
      { review: approved, ci: green, merge: interrupted, changes: noComment },
    ),
    approval: makeApproval({ decision: nobodyYet, lookedAt: at('12:04') }),
  },
  'waiting for CI, and GitHub fails': {
    state: makeState(
      { status: 'waiting_ci' },
      {
        review: approved,
        ci: { ...interrupted, status: 'waiting_ci', startedAt: at('12:02') },
        changes: noComment,
      },
    ),
    approval: null,
  },
  paused: {
    state: makeState(
      {
        status: 'waiting_approval',
        paused: true,
        reason: reason('step.waiting.paused', 'the pull request is paused; `/countersign resume` goes on'),
      },
      { review: approved, ci: green, merge: asking, changes: noComment },
    ),
    approval: makeApproval({ decision: nobodyYet, lookedAt: at('12:04') }),
  },
  retrying: {
    state: makeState(
      { status: 'waiting_until' },
      {
        review: {
          status: 'waiting_until',
          startedAt: at('12:01'),
          reason: reason('step.waiting.retry', 'attempt 1 of 3 failed (GitHub did not answer); trying again'),
        },
      },
    ),
    approval: null,
  },
  merged: {
    state: makeState(
      {
        status: 'completed',
        reason: reason('run.completed', mergedOutcome.summary),
        finishedAt: at('12:06'),
      },
      { review: suggested, ci: green, merge: done(mergedOutcome), changes: noComment },
    ),
    approval: makeApproval({
      status: 'countersigned',
      decision: alice,
      countersignedBy: ['alice'],
      lookedAt: at('12:05'),
    }),
  },
  'changes requested': {
    state: makeState(
      {
        status: 'completed',
        reason: reason('run.completed.changes_requested', '1 critical and 1 high finding'),
        finishedAt: at('12:06'),
      },
      {
        review: done(
          makeReview({
            verdict: 'REQUEST_CHANGES',
            passed: false,
            round: 2,
            summary:
              '1 critical and 1 high finding in 3 files must be fixed first; 1 medium finding can wait.',
            findings: [
              suggestion,
              finding({
                severity: 'high',
                category: 'injection',
                file: 'src/db.ts',
                line: 8,
                end_line: 9,
                description: 'A value from outside is put into an SQL statement.',
                suggestion: 'Pass it as a parameter.',
                rule: 'ast-grep/sql-injection',
                evidence: 'db.query(`SELECT * FROM users WHERE name = ` + name)',
              }),
              finding(),
            ],
            left_out: [{ path: 'logo.png', reason: 'binary' }],
          }),
        ),
        ci: ends('skipped', reason('step.skipped.condition', 'the review did not pass')),
        merge: noMerge,
        changes: { status: 'completed', reason: reason('step.completed', 'commented on #7') },
      },
    ),
    approval: null,
  },
  'review incomplete': {
    state: makeState(
      {
        status: 'completed',
        reason: reason('run.completed.not_merged', 'The review is incomplete: oxlint timed out.'),
        finishedAt: at('12:06'),
      },
      {
        review: done(
          makeReview({
            verdict: null,
            passed: null,
            summary:
              'No findings in 3 files. The review is incomplete: oxlint timed out. So there is no verdict.',
            analyzers: [
              { name: 'oxlint', version: '1.94.0', status: 'timed_out', files: 3, duration_ms: 60_000 },
              { name: 'secrets', version: '12.0.0', status: 'ok', files: 3, duration_ms: 340 },
            ],
          }),
        ),
        ci: noMerge,
        merge: noMerge,
        changes: noComment,
      },
    ),
    approval: null,
  },
  'CI failed': {
    state: makeState(
      {
        status: 'completed',
        reason: reason('run.completed.not_merged', '1 of 2 checks failed: test'),
        finishedAt: at('12:06'),
      },
      { review: approved, ci: red, merge: noMerge, changes: noComment },
    ),
    approval: null,
  },
  'no checks, and the settings ask for some': {
    state: makeState(
      {
        status: 'completed',
        reason: reason('run.completed.not_merged', 'no checks ran on this commit'),
        finishedAt: at('12:06'),
        settings: { ...defaultSettings, ci: { ...defaultSettings.ci, no_checks: 'block' } },
      },
      { review: approved, ci: done(makeCi([])), merge: noMerge, changes: noComment },
    ),
    approval: null,
  },
  rejected: {
    state: makeState(
      {
        status: 'failed',
        reason: reason('run.failed.step', 'merge: rejected by alice'),
        finishedAt: at('12:06'),
      },
      {
        review: approved,
        ci: green,
        merge: ends(
          'failed',
          reason('step.failed.rejected', 'rejected by alice', [
            { kind: 'person', id: 'alice', label: 'alice' },
          ]),
        ),
        changes: noComment,
      },
    ),
    approval: makeApproval({
      status: 'rejected',
      rejectedBy: [{ id: 7, login: 'alice' }],
      decision: decision('unmet', 'not merging: rejected by alice', criterion('unmet', 'rejected by alice')),
      lookedAt: at('12:05'),
    }),
  },
  'GitHub refused the merge': {
    state: makeState(
      {
        status: 'failed',
        reason: reason('run.failed.step', 'merge: GitHub refused'),
        finishedAt: at('12:06'),
      },
      {
        review: approved,
        ci: green,
        merge: ends(
          'failed',
          reason(
            'step.failed.not_mergeable',
            'GitHub refused the merge (403): a rule of the branch forbids it',
          ),
        ),
        changes: noComment,
      },
    ),
    approval: makeApproval({ status: 'void', decision: alice, countersignedBy: ['alice'] }),
  },
  'a step broke': {
    state: makeState(
      {
        status: 'failed',
        reason: reason('run.failed.step', 'review: the analyzers could not be started'),
        finishedAt: at('12:06'),
      },
      {
        review: ends('failed', reason('step.failed.error', 'the analyzers could not be started')),
        ci: ends('skipped', reason('step.skipped.run_ended', 'review failed before it')),
        merge: ends('skipped', reason('step.skipped.run_ended', 'review failed before it')),
        changes: ends('skipped', reason('step.skipped.run_ended', 'review failed before it')),
      },
    ),
    approval: null,
  },
  'CI took too long': {
    state: makeState(
      { status: 'failed', reason: reason('run.failed.step', 'ci: gave up'), finishedAt: at('18:06') },
      {
        review: approved,
        ci: ends(
          'failed',
          reason('step.failed.ci_wait', 'gave up waiting for CI: 1 of 2 checks are done', [
            { kind: 'check', id: 'test', label: 'test' },
          ]),
        ),
        merge: ends('skipped', reason('step.skipped.run_ended', 'ci failed before it')),
        changes: noComment,
      },
    ),
    approval: null,
  },
  'timed out': {
    state: makeState(
      {
        status: 'timed_out',
        reason: reason('run.timed_out.step', 'review: review took longer than it may'),
        finishedAt: at('12:31'),
      },
      {
        review: ends('timed_out', reason('step.timed_out', 'review took longer than it may')),
        ci: ends('skipped', reason('step.skipped.run_ended', 'review timed out before it')),
        merge: ends('skipped', reason('step.skipped.run_ended', 'review timed out before it')),
        changes: ends('skipped', reason('step.skipped.run_ended', 'review timed out before it')),
      },
    ),
    approval: null,
  },
  ...GATES,
  ...STOPPED,
};
