import { criterion } from '../../src/domain/explanation/explanation.ts';
import { type ReasonCode, reason } from '../../src/domain/explanation/reason.ts';
import type { Approval } from '../../src/domain/policy/approval.ts';
import { mergedByChain, newerRun } from '../../src/domain/run/plan.ts';
import type { RunStatus } from '../../src/domain/run/run.ts';
import { stepEndedFirst } from '../../src/messages/run/chain-step.ts';
import {
  at,
  check,
  done,
  ends,
  HEAD,
  makeApproval,
  makeCi,
  makeReview,
  makeState,
  NEWER,
} from './builders.ts';
import type { Scene } from './scenes.ts';

function cancelled(code: ReasonCode, summary: string, approval: Partial<Approval> | null = null): Scene {
  const status: RunStatus = code.startsWith('run.aborted') ? 'aborted' : 'cancelled';
  return {
    state: makeState(
      { status, reason: reason(code, summary), finishedAt: at('12:09') },
      {
        review: done(makeReview()),
        ci: done(makeCi([check('build'), check('test')])),
        merge: ends('cancelled', reason('step.cancelled', summary)),
        changes: ends('skipped', reason('step.skipped.condition', 'the review requests no changes')),
      },
    ),
    approval: approval && makeApproval({ status: 'void', ...approval }),
  };
}

/** Runs that something outside ended while the maintainers were being asked. */
export const STOPPED: Record<string, Scene> = {
  'superseded by a push': cancelled(
    'run.cancelled.superseded',
    'not merging: the head moved from abc1234 to fed9876',
    {
      decision: criterion('unmet', 'not merging: the head moved from abc1234 to fed9876', [
        criterion('met', 'the pull request is open'),
        criterion('unmet', 'the head moved from abc1234 to fed9876'),
      ]),
    },
  ),
  'superseded before the next look': (() => {
    const scene = cancelled('run.cancelled.superseded', 'a newer commit was pushed', {});
    scene.state.run.reason = reason('run.cancelled.superseded', 'a newer commit was pushed', [
      { kind: 'commit', id: HEAD, label: 'abc1234' },
      { kind: 'commit', id: NEWER, label: 'fed9876' },
    ]);
    return scene;
  })(),
  'superseded by a newer run': (() => {
    const scene = cancelled('run.cancelled.newer_run', 'superseded', {});
    scene.state.run.reason = newerRun({ id: 'run_2', chain: 'pr-review' }, 'mia');
    return scene;
  })(),
  'rollout raised': cancelled(
    'run.cancelled.rollout',
    'rollout is enforce for this repository, and was observe when the run began',
  ),
  'withheld by the rollout': (() => {
    const summary = 'would have asked a maintainer to countersign, and then merged into main (squash)';
    const state = makeState(
      { status: 'completed', reason: reason('run.completed.rollout', summary), finishedAt: at('12:09') },
      {
        review: done(makeReview()),
        ci: done(makeCi([check('build'), check('test')])),
        merge: ends(
          'skipped',
          reason('step.skipped.rollout', `${summary}; rollout is comment for this repository`),
        ),
        changes: ends('skipped', reason('step.skipped.condition', 'its condition does not hold')),
      },
    );
    state.run.facts.rollout = 'comment';
    return { state, approval: null };
  })(),
  closed: cancelled('run.cancelled.closed', 'the pull request was closed', {}),
  'merged by hand': cancelled('run.cancelled.merged_elsewhere', 'the pull request was merged by hand', {}),
  'merged by another chain': (() => {
    const scene = cancelled('run.cancelled.merged_by_chain', 'merged', {});
    const merge = { runId: 'run_2', chain: 'ship', countersignedBy: ['mia', 'max'], headSha: HEAD };
    scene.state.run.reason = mergedByChain(merge);
    return scene;
  })(),
  'back to draft': cancelled('run.cancelled.draft', 'the pull request is a draft', {}),
  retargeted: cancelled('run.cancelled.retargeted', 'the base changed from main to next', {}),
  'no longer triggered': cancelled('run.cancelled.not_triggered', 'the label "ready" is gone', {}),
  'settings changed': cancelled(
    'run.cancelled.settings_changed',
    'the settings on main changed since this was asked',
    {},
  ),
  'chain changed': cancelled(
    'run.cancelled.chain_changed',
    'not merging: chains/ship.yaml on main changed since this was asked: gates of merge',
    {
      decision: criterion('unmet', 'not merging: chains/ship.yaml on main changed since this was asked', [
        criterion('unmet', 'chains/ship.yaml on main changed since this was asked: gates of merge'),
      ]),
    },
  ),
  'the step that ran it ended': cancelled('run.cancelled.parent_ended', stepEndedFirst('outer', 'sub'), {}),
  'cancelled by a person': (() => {
    const scene = cancelled('run.cancelled.by_person', 'cancelled by alice', {});
    scene.state.run.reason = reason('run.cancelled.by_person', 'cancelled by alice', [
      { kind: 'person', id: 'alice', label: 'alice' },
    ]);
    return scene;
  })(),
  'app shut out': cancelled('run.aborted.shut_out', 'GitHub refuses this app here'),
  'app removed': cancelled('run.aborted.installation_gone', 'the app was removed from this repository'),
};
