import { criterion } from '../../../src/domain/explanation/explanation.ts';
import type { CountersignRules } from '../../../src/domain/policy/countersign-rules.ts';
import type { MergeFacts, MergeQuestion, Reactor } from '../../../src/domain/policy/merge-gate.ts';
import { at, HEAD } from '../../support/builders.ts';

export const AUTHOR = { id: 1, login: 'ada' };

export function rules(more: Partial<CountersignRules> = {}): CountersignRules {
  return {
    permission: 'maintain',
    teams: [],
    users: [],
    count: 1,
    approve: ['rocket', '+1'],
    reject: ['-1'],
    ...more,
  };
}

export function question(more: Partial<MergeQuestion> = {}): MergeQuestion {
  return {
    runId: 'run_1',
    owner: 'acme',
    repo: 'shop',
    pullRequest: 7,
    headSha: HEAD,
    baseRef: 'main',
    method: 'squash',
    by: 'app',
    rules: rules(),
    ...more,
  };
}

/** A maintainer, mia, who reacts with a rocket. */
export function reactor(more: Partial<Reactor> = {}): Reactor {
  return { id: 10, login: 'mia', type: 'User', content: 'rocket', role: 'maintain', teams: [], ...more };
}

/** Facts that meet every criterion, with mia's countersign. */
export function facts(more: Partial<MergeFacts> = {}): MergeFacts {
  return {
    readAt: at(0),
    pullRequest: {
      state: 'open',
      merged: false,
      draft: false,
      headSha: HEAD,
      baseRef: 'main',
      author: AUTHOR,
    },
    configuration: { kind: 'as_asked' },
    comment: 'as_written',
    contributors: { ids: [1], logins: ['ada'], pushers: [1], unattributed: [] },
    reactors: [reactor()],
    conditions: [criterion('met', 'every condition of the step still holds')],
    rejectedBefore: [],
    pausedBy: null,
    ...more,
  };
}
