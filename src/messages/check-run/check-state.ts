import type { CheckRunContent } from '../../domain/effect/effect.ts';
import { type Approval, questionTag } from '../../domain/policy/approval.ts';
import type { RunState } from '../../domain/run/run.ts';
import { answerableStep, type RunSummary } from '../run/run-summary.ts';
import { clip } from '../text/pretty.ts';

type Completed = Extract<CheckRunContent['state'], { status: 'completed' }>;

/** The buttons of a check run. GitHub sends back the identifier, which is the command. */
const BUTTONS = {
  rerun: { label: 'Run again', description: 'Try again what failed' },
  cancel: { label: 'Cancel', description: 'Stop this run for good' },
  ci: { label: 'Read CI again', description: 'Read the results of CI again' },
  review: { label: 'Review again', description: 'Review this commit again' },
  pause: { label: 'Pause', description: 'Stop here until somebody resumes' },
  resume: { label: 'Resume', description: 'Go on where it was paused' },
} as const;
type ButtonIdentifier = keyof typeof BUTTONS;

interface Presentation {
  /** The conclusion of the check run; `undefined` while the run continues. */
  conclusion?: Completed['conclusion'];
  mark: string;
  buttons: readonly ButtonIdentifier[];
}

/**
 * The check run for each run summary. A cancelled or superseded run ends as `cancelled`, not as a failure,
 * because nothing was found wrong. Only a merge, or a chain whose steps are all done, ends as `success`
 * (invariant I5).
 */
const PRESENTATION: Readonly<Record<RunSummary['kind'], Presentation>> = {
  queued: { mark: '⚪', buttons: ['cancel', 'pause'] },
  paused: { mark: '⏸️', buttons: ['resume', 'cancel'] },
  working: { mark: '🔄', buttons: ['cancel', 'pause'] },
  waiting_ci: { mark: '⏳', buttons: ['ci', 'cancel', 'pause'] },
  waiting_countersign: { mark: '✍️', buttons: ['review', 'cancel', 'pause'] },
  countersigned: { mark: '✍️', buttons: ['cancel', 'pause'] },
  ready_to_merge: { mark: '✅', buttons: ['cancel', 'pause'] },
  waiting_github: { mark: '⏳', buttons: ['cancel', 'pause'] },
  held_back: { mark: '✋', buttons: ['review', 'cancel', 'pause'] },
  conflict: { mark: '✋', buttons: ['cancel', 'pause'] },
  waiting_retry: { mark: '⏳', buttons: ['cancel', 'pause'] },
  merged: { conclusion: 'success', mark: '🎉', buttons: [] },
  done: { conclusion: 'success', mark: '✅', buttons: ['rerun'] },
  changes_requested: { conclusion: 'failure', mark: '🔧', buttons: ['review'] },
  review_incomplete: { conclusion: 'failure', mark: '❔', buttons: ['review'] },
  ci_failed: { conclusion: 'failure', mark: '❌', buttons: ['ci', 'review'] },
  no_checks: { conclusion: 'neutral', mark: '❔', buttons: ['ci'] },
  not_passed: { conclusion: 'failure', mark: '❌', buttons: ['rerun'] },
  rejected: { conclusion: 'failure', mark: '✋', buttons: ['rerun'] },
  not_mergeable: { conclusion: 'failure', mark: '❌', buttons: ['rerun'] },
  step_failed: { conclusion: 'failure', mark: '❌', buttons: ['rerun'] },
  timed_out: { conclusion: 'timed_out', mark: '⌛', buttons: ['rerun'] },
  not_merged: { conclusion: 'neutral', mark: '⚪', buttons: ['rerun'] },
  withheld: { conclusion: 'neutral', mark: '👁️', buttons: ['rerun'] },
  ended_early: { conclusion: 'neutral', mark: '⚪', buttons: ['rerun'] },
  superseded: { conclusion: 'cancelled', mark: '⏭️', buttons: [] },
  newer_run: { conclusion: 'cancelled', mark: '⏭️', buttons: [] },
  closed: { conclusion: 'cancelled', mark: '🚫', buttons: [] },
  merged_elsewhere: { conclusion: 'cancelled', mark: '🚫', buttons: [] },
  merged_by_chain: { conclusion: 'cancelled', mark: '⏭️', buttons: [] },
  draft: { conclusion: 'skipped', mark: '📝', buttons: [] },
  retargeted: { conclusion: 'cancelled', mark: '⏭️', buttons: [] },
  not_triggered: { conclusion: 'skipped', mark: '⏭️', buttons: [] },
  rollout_changed: { conclusion: 'cancelled', mark: '⏭️', buttons: [] },
  settings_changed: { conclusion: 'cancelled', mark: '⏭️', buttons: [] },
  chain_changed: { conclusion: 'cancelled', mark: '⏭️', buttons: [] },
  parent_ended: { conclusion: 'cancelled', mark: '⏭️', buttons: [] },
  stopped: { conclusion: 'cancelled', mark: '🚫', buttons: ['review'] },
  installation_gone: { conclusion: 'cancelled', mark: '🚫', buttons: [] },
  shut_out: { conclusion: 'cancelled', mark: '🚫', buttons: ['review'] },
};

export function markOf(where: RunSummary): string {
  return PRESENTATION[where.kind].mark;
}

/** `undefined` while the run continues. */
export function conclusionOf(where: RunSummary): Completed['conclusion'] | undefined {
  return PRESENTATION[where.kind].conclusion;
}

/** GitHub's limits for a button's description and for the number of buttons of a check run. */
const MAX_DESCRIPTION = 40;
const MAX_BUTTONS = 3;

export function buttonsOf(
  where: RunSummary,
  state: RunState,
  approval: Approval | null,
): CheckRunContent['actions'] {
  if (state.run.pullRequest === null) {
    const only = conclusionOf(where) === undefined ? 'cancel' : 'rerun';
    const description = only === 'rerun' ? 'Start this chain again' : BUTTONS[only].description;
    return [{ ...BUTTONS[only], description, identifier: only }];
  }
  const usual = PRESENTATION[where.kind].buttons.map((identifier) => ({
    ...BUTTONS[identifier],
    identifier,
  }));
  const step = where.kind === 'waiting_countersign' ? answerableStep(state, approval) : undefined;
  if (step === undefined || approval === null) return usual;
  const approve = {
    label: 'Approve',
    description: clip(`Let ${step} go on`, MAX_DESCRIPTION),
    identifier: `approve:${questionTag(approval)}`,
  };
  return [approve, ...usual.filter(({ identifier }) => identifier !== 'review')].slice(0, MAX_BUTTONS);
}
