import { criterion } from '../../src/domain/explanation/explanation.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import type { FailurePolicy } from '../../src/domain/gate/gate.ts';
import type { GateScope } from '../../src/domain/gate/placed.ts';
import type { Criterion, GateVerdict } from '../../src/domain/outcome/gate-verdict.ts';
import { conditionOf, unjudged, verdictOf } from '../../src/domain/policy/gate/verdict.ts';
import { waitsForChain } from '../../src/messages/run/chain-step.ts';
import { at, check, done, ends, makeApproval, makeCi, makeReview, makeState } from './builders.ts';
import type { Scene } from './scenes.ts';

function placed(id: string, policy: FailurePolicy, scope: GateScope = 'step') {
  return { gate: { kind: 'skill' as const, id, skill: 'ci', on_failure: policy }, scope, at: 'pre' as const };
}

function verdict(
  id: string,
  step: string,
  policy: FailurePolicy,
  criteria: readonly Criterion[],
  scope?: GateScope,
): GateVerdict {
  return verdictOf(placed(id, policy, scope), step, criteria, 'sha256:0');
}

function gateCriterion(
  description: string,
  passed: boolean,
  evidence: string,
  may_change = !passed,
): Criterion {
  return { id: 'it', description, passed, evidence, may_change };
}

const owners = verdict('owners', 'merge', 'block', [
  gateCriterion('approval by code owners', false, 'no owner approves src/pay.ts (acme/payments or carol)'),
]);
const signed = verdict(
  'signed',
  'merge',
  'block',
  [gateCriterion('Commits are signed here', true, 'pr.signed is true')],
  'organisation',
);
const size = verdict('size', 'merge', 'warn', [
  gateCriterion('Small changes are read more carefully', false, 'pr.additions is 812', false),
  gateCriterion('<b>hidden</b> [a](b)', true, 'pr.changed_paths is ["a | b"]'),
]);
const person = verdict('outsiders', 'merge', 'require_human', [
  gateCriterion('not pr.fork', false, 'pr.fork is true', false),
]);
const outsiders = verdict('outsiders', 'changes', 'require_human', [
  gateCriterion('not pr.fork', false, 'pr.fork is true', false),
]);
const freeze = verdict('freeze', 'changes', 'block', [
  gateCriterion('no freeze: Nobody is on call', false, 'frozen until 2025-03-03 (Europe/Berlin)'),
]);
const lessened = verdict('coverage', 'review', 'degrade', [
  gateCriterion('tests are there', false, '', false),
]);
const broken = unjudged(
  placed('odd', 'warn', 'repository'),
  'review',
  'it failed inside Countersign',
  'sha256:0',
);

const review = done(makeReview());
const green = done(makeCi([check('build')]));
const decision = criterion('unmet', 'not merging: gate owners is not passed', [
  criterion('met', 'the pull request is open'),
  criterion('met', 'countersigned by alice'),
  ...[signed, owners, size, person].map(conditionOf),
  criterion('met', 'not paused'),
]);

export const GATES: Record<string, Scene> = {
  'a merge held up by a gate': {
    state: {
      ...makeState(
        { status: 'waiting_approval' },
        {
          review,
          ci: green,
          merge: {
            status: 'waiting_approval',
            reason: reason('step.waiting.approval', decision.summary),
            startedAt: at('12:03'),
          },
        },
      ),
      verdicts: [signed, owners, size, person],
    },
    approval: makeApproval({ decision, lookedAt: at('12:04'), countersignedBy: ['alice'] }),
  },
  'a step waits for a gate': {
    state: {
      ...makeState(
        { status: 'waiting_until' },
        {
          review,
          changes: {
            status: 'waiting_until',
            reason: reason('step.waiting.gate', freeze.summary, [
              { kind: 'gate', id: 'freeze', label: 'freeze' },
            ]),
            startedAt: at('12:03'),
          },
        },
      ),
      verdicts: [lessened, freeze],
    },
    approval: null,
  },
  'a step waits until an expression holds': {
    state: makeState(
      { status: 'waiting_until' },
      {
        review,
        changes: {
          status: 'waiting_until',
          reason: reason('step.waiting.until', "until 'ready' in pr.labels (pr.labels is [])"),
          startedAt: at('12:03'),
        },
      },
    ),
    approval: null,
  },
  'a step waits for its run of another chain': {
    state: makeState(
      { status: 'waiting_until' },
      {
        review,
        changes: {
          status: 'waiting_until',
          reason: reason('step.waiting.chain', waitsForChain('deploy')),
          startedAt: at('12:03'),
        },
      },
    ),
    approval: null,
  },
  'a step that merges nothing asks': {
    state: {
      ...makeState(
        { status: 'waiting_approval' },
        {
          review,
          changes: {
            status: 'waiting_approval',
            reason: reason('step.waiting.approval', 'not going on: nobody has countersigned yet'),
            startedAt: at('12:03'),
          },
        },
      ),
      verdicts: [outsiders],
    },
    approval: makeApproval({
      invocationId: 'inv_changes',
      decision: criterion('pending', 'not going on: nobody has countersigned yet', [
        criterion('pending', 'nobody has countersigned yet', [
          criterion('unmet', 'ada approved, but wrote this pull request'),
        ]),
      ]),
    }),
  },
  'a gate blocked a step': {
    state: {
      ...makeState(
        {
          status: 'failed',
          reason: reason('run.failed.step', `review: ${broken.summary}`),
          finishedAt: at('12:03'),
        },
        {
          review: ends('failed', reason('gate.blocked.policy', broken.summary)),
          ci: ends('skipped', reason('step.skipped.run_ended', 'review failed before it')),
          merge: ends('skipped', reason('step.skipped.run_ended', 'review failed before it')),
          changes: ends('skipped', reason('step.skipped.run_ended', 'review failed before it')),
        },
      ),
      verdicts: [broken],
    },
    approval: null,
  },
};
