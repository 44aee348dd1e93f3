// @module-tag security

import { describe, expect, test } from 'vitest';
import type { MergeRecord, StateAtMerge } from '../../support/github/merge-record.ts';
import { type Moment, violationsOfOthersMerge, type Window } from './oracle.ts';
import { RULES } from './rules.ts';

const AT = Date.parse('2026-03-02T09:10:00Z');
const ADA = { login: 'ada', type: 'User' } as const;
const MAX = { login: 'max', type: 'User' } as const;
const BOT = { login: 'countersign[bot]', type: 'Bot' } as const;

/** Countersigned by max, so many milliseconds before the merge. */
function countersigned(msBefore: number, change: Partial<StateAtMerge> = {}): StateAtMerge {
  return {
    repo: 'octo/app',
    number: 1,
    at: new Date(AT - msBefore),
    pullRequest: { state: 'open', draft: false, headSha: 'abc', baseRef: 'main' },
    lastReported: undefined,
    author: ADA.login,
    commits: [{ author: ADA.login, committer: ADA.login, message: 'Greet', at: new Date(AT - 60_000) }],
    comments: [question([{ by: MAX, content: 'rocket' }])],
    roles: { max: 'maintain' },
    checks: [{ app: 'ci', name: 'test', result: 'success' }],
    ...change,
  };
}

function question(
  reactions: StateAtMerge['comments'][number]['reactions'],
): StateAtMerge['comments'][number] {
  const body = '<!-- countersign:approval head=abc base=main -->';
  return { id: 7, author: BOT, lastWriter: BOT, body, createdAt: new Date(AT - 30_000), reactions };
}

function pressed(standing: StateAtMerge): MergeRecord {
  return {
    ...standing,
    sha: 'def',
    headSha: standing.pullRequest.headSha,
    by: 'will',
    method: 'merge',
    via: 'button',
  };
}

const TAKEN_BACK = { comments: [question([])] };
const RED = { checks: [{ app: 'ci', name: 'test', result: 'failure' }] };
const SILENT: Window = { ms: 3_000, of: 'reactions and roles' };
const HELD: Window = { ms: 3_000, of: 'everything' };

describe('the oracle, for a merge by the button,', () => {
  test.each<[string, Partial<StateAtMerge>, number, Window, string[]]>([
    ['allows what holds at that moment', {}, 90_000, SILENT, []],
    ['allows a reaction that was withdrawn within the window', TAKEN_BACK, 3_000, SILENT, []],
    [
      'blames a reaction that was withdrawn before',
      TAKEN_BACK,
      3_001,
      SILENT,
      ['0 of 1 eligible people approve'],
    ],
    ['allows a role that was removed within the window', { roles: {} }, 3_000, SILENT, []],
    [
      'blames a role that was removed before',
      { roles: {} },
      3_001,
      SILENT,
      ['0 of 1 eligible people approve'],
    ],
    ['blames red CI at once', RED, 1, SILENT, ['test says failure']],
    ['allows red CI that no webhook reported', RED, 3_000, HELD, []],
  ])('%s', (_, change, msBefore, window, faults) => {
    const before: Moment[] = [{ standing: countersigned(msBefore), rules: RULES.people }];
    const merge = pressed(countersigned(0, change));
    expect(violationsOfOthersMerge(merge, BOT.login, RULES.people, { window, before })).toEqual(faults);
  });

  test('blames a countersign of another head, however recent it is', () => {
    const pullRequest = { state: 'open', draft: false, headSha: 'other', baseRef: 'main' } as const;
    const before: Moment[] = [{ standing: countersigned(0), rules: RULES.people }];
    const merge = pressed(countersigned(0, { pullRequest }));
    const faults = violationsOfOthersMerge(merge, BOT.login, RULES.people, { window: HELD, before });
    expect(faults).toEqual(['the newest question is about the head abc']);
  });

  test('blames a merge that rules from the meantime forbid', () => {
    const before: Moment[] = [{ standing: countersigned(1), rules: RULES.people }];
    const merge = pressed(countersigned(0));
    const faults = violationsOfOthersMerge(merge, BOT.login, RULES.frozen, { window: SILENT, before });
    expect(faults).toEqual(['nothing may be merged: a freeze']);
  });
});
