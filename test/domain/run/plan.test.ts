import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Chain } from '../../../src/domain/chain/chain.ts';
import type { RepositoryEvent } from '../../../src/domain/event/event.ts';
import { type PullRequestNow, planRuns } from '../../../src/domain/run/plan.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import {
  chain,
  manualEvent,
  pullRequestEvent,
  pullRequestNow,
  REPOSITORY,
  runState,
} from '../../support/builders.ts';
import { PullRequestPlayer } from './pull-request-player.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

function named(name: string, filter = '{}', event = 'pr.opened'): Chain {
  const step = event.startsWith('issue.') ? 'action: gh-label, with: { labels: [x] }' : 'skill: ci';
  return chain(`name: ${name}\ntrigger: { event: ${event}, filter: ${filter} }\nsteps: [{ ${step} }]`);
}

const review = named('review', '{ base: ["{{ repo.default_branch }}", release/*], draft: false }');
const labelled = named('labelled', '{ labels: ready }');
const opened = (...chains: Chain[]) => {
  const play = new PullRequestPlayer(...chains);
  play.look();
  return play;
};

describe('a pull request that is opened', () => {
  test('starts every chain whose trigger matches', () => {
    expect(new PullRequestPlayer(review, named('other')).look()).toEqual(['begin review', 'begin other']);
  });

  test('starts nothing when the delivery is repeated', () => {
    const play = opened(review);
    expect(play.look()).toEqual([]);
  });

  test.each(['completed', 'failed', 'by_person'] as const)(
    'starts nothing when the delivery is repeated after the run has ended: %s',
    (status) => {
      expect(opened(review).ends(status).look()).toEqual([]);
    },
  );

  test.each([
    ['pr.updated', true],
    ['pr.merged', false],
    ['pr.closed', false],
    ['issue.created', false],
    ['file.changed', false],
    ['manual.fired', false],
  ])('starts a chain for %s: %s', (event, begins) => {
    expect(new PullRequestPlayer(named('any', '{}', event)).look()).toEqual(begins ? ['begin any'] : []);
  });

  test('starts nothing as a draft when the chain is not for drafts', () => {
    expect(new PullRequestPlayer(review).becomes({ draft: true }).look()).toEqual([]);
  });
});

describe('a push', () => {
  test('supersedes the run of the older head and starts one for the newer', () => {
    const play = opened(review).becomes({ headSha: B });
    expect(play.look()).toEqual([
      'cancel run_1 run.cancelled.superseded: superseded by a newer push (bbbbbbb)',
      'begin review',
    ]);
    expect(play.runs[1]?.reason?.evidence).toEqual([{ kind: 'commit', id: B, label: 'bbbbbbb' }]);
    expect(play.runs[0]).toMatchObject({ headSha: B, status: 'running' });
  });

  test('starts a run after the older one has ended, and leaves that one unchanged', () => {
    expect(opened(review).ends('completed').becomes({ headSha: B }).look()).toEqual(['begin review']);
  });

  test('back to an earlier head starts a run if that head’s run was superseded', () => {
    const play = opened(review).becomes({ headSha: B });
    play.look();
    expect(play.becomes({ headSha: A }).look()).toEqual([
      'cancel run_2 run.cancelled.superseded: superseded by a newer push (aaaaaaa)',
      'begin review',
    ]);
  });

  test('back to an earlier head starts a run even if that head’s run was completed', () => {
    const play = opened(review).ends('completed').becomes({ headSha: B });
    play.look();
    expect(play.ends('completed').becomes({ headSha: A }).look()).toEqual(['begin review']);
  });

  test('starts a run although a person cancelled the previous one', () => {
    expect(opened(review).ends('by_person').becomes({ headSha: B }).look()).toEqual(['begin review']);
  });
});

describe('a draft', () => {
  test('ends the run of a chain that is not for drafts, which starts again when the pull request is ready', () => {
    const play = opened(review).becomes({ draft: true });
    expect(play.look()).toEqual(['cancel run_1 run.cancelled.draft: the pull request is a draft now']);
    expect(play.look()).toEqual([]);
    expect(play.becomes({ draft: false }).look()).toEqual(['begin review']);
  });

  test('does not affect a chain without a draft filter', () => {
    expect(opened(named('any')).becomes({ draft: true }).look()).toEqual([]);
  });

  test('does not end a run that a person fired for it', () => {
    const play = new PullRequestPlayer(review).becomes({ draft: true }).fireByHand(review);
    expect(play.look()).toEqual([]);
  });
});

describe('a new base', () => {
  test('voids the run and starts another if the chain is also for the new base', () => {
    expect(opened(review).becomes({ baseRef: 'release/2' }).look()).toEqual([
      'cancel run_1 run.cancelled.retargeted: the base changed from main to release/2',
      'begin review',
    ]);
  });

  test('voids the run if the chain is not for the new base', () => {
    const play = opened(review).becomes({ baseRef: 'playground' });
    expect(play.look()).toEqual([
      'cancel run_1 run.cancelled.retargeted: the base changed from main to playground',
    ]);
    expect(play.becomes({ baseRef: 'main' }).look()).toEqual(['begin review']);
  });

  test('starts a run although the run of the old base was completed', () => {
    expect(opened(review).ends('completed').becomes({ baseRef: 'release/2' }).look()).toEqual([
      'begin review',
    ]);
  });
});

describe('a pull request that is closed', () => {
  test('ends its runs and starts none', () => {
    const play = opened(review).becomes({ state: 'closed' });
    expect(play.look()).toEqual(['cancel run_1 run.cancelled.closed: the pull request was closed']);
    expect(play.look()).toEqual([]);
  });

  test('starts nothing on a push', () => {
    expect(new PullRequestPlayer(review).becomes({ state: 'closed', headSha: B }).look()).toEqual([]);
  });

  test('and reopened starts again what closing ended', () => {
    const play = opened(review).becomes({ state: 'closed' });
    play.look();
    expect(play.becomes({ state: 'open' }).look()).toEqual(['begin review']);
  });

  test.each(['completed', 'failed', 'by_person'] as const)(
    'and reopened does not repeat a run that ended before: %s',
    (status) => {
      const play = opened(review).ends(status).becomes({ state: 'closed' });
      expect(play.look()).toEqual([]);
      expect(play.becomes({ state: 'open' }).look()).toEqual([]);
    },
  );

  describe('and known to be reopened', () => {
    const AT = '2026-03-02T10:00:00Z';
    const asOf = (updated_at: string) => ({ ...pullRequestEvent(), updated_at }) as RepositoryEvent;
    const over = { status: 'completed' } as const;
    test.each<[string, Partial<Run>, string[], ...string[]]>([
      ['starts again what ended before', { ...over, event: asOf('2026-03-02T09:00:00Z') }, ['review']],
      [
        'starts again what somebody cancelled',
        { status: 'cancelled', event: manualEvent('review') },
        ['review'],
      ],
      ['keeps what this reopening started itself', { ...over, event: asOf(AT) }, []],
      ['keeps what started after it', { ...over, event: asOf('2026-03-02T11:00:00Z') }, []],
      ['keeps what is not over', { status: 'running', event: asOf('2026-03-02T09:00:00Z') }, []],
      ['keeps what a maintainer rejected', over, [], 'review'],
      ['starts again if a maintainer rejected another chain', over, ['review'], 'other'],
    ])('%s', (_, run, begins, ...rejected) => {
      const reopening = { at: AT, rejected: new Set(rejected) };
      const runs = [runState(review, run).run];
      const { begin, cancel } = planRuns(pullRequestNow(), [review], runs, REPOSITORY, reopening);
      expect({ begin: begin.map(({ name }) => name), cancel }).toEqual({ begin: begins, cancel: [] });
    });
  });

  test('by the merge of another chain ends its runs and names that chain', () => {
    const ownMerge = {
      runId: 'run_9',
      chain: 'ship',
      headSha: pullRequestNow().headSha,
      countersignedBy: ['mia'],
    };
    const merged = { state: 'closed', merged: true, ownMerge } as const;
    expect(opened(review).becomes(merged).look()).toEqual([
      'cancel run_1 run.cancelled.merged_by_chain: the chain ship merged the pull request, countersigned by mia',
    ]);
    const older = { ...merged, ownMerge: { ...ownMerge, headSha: 'f'.repeat(40) } };
    expect(opened(review).becomes(older).look()).toEqual([
      expect.stringContaining('run.cancelled.merged_elsewhere'),
    ]);
  });

  test('by a merge that the app did not make ends its runs and says so', () => {
    expect(opened(review).becomes({ state: 'closed', merged: true }).look()).toEqual([
      'cancel run_1 run.cancelled.merged_elsewhere: the pull request was merged by hand',
    ]);
  });

  test('by a merge leaves the run that made the merge', () => {
    const afterMerge = named('after-merge', '{}', 'pr.merged');
    const { run } = runState(afterMerge, { event: pullRequestEvent({ kind: 'pr.merged' }) });
    const now = pullRequestNow({ state: 'closed', merged: true });
    expect(planRuns(now, [afterMerge], [run], REPOSITORY).cancel).toEqual([]);
  });
});

describe('a run whose chain', () => {
  test('no longer matches is ended, and starts again when the chain matches again', () => {
    const play = new PullRequestPlayer(labelled).becomes({ labels: ['ready'] });
    expect(play.look()).toEqual(['begin labelled']);
    expect(play.becomes({ labels: [] }).look()).toEqual([
      'cancel run_1 run.cancelled.not_triggered: its chain is not for this pull request any more',
    ]);
    expect(play.becomes({ labels: ['Ready'] }).look()).toEqual(['begin labelled']);
  });

  test('is gone from the base branch is ended', () => {
    const play = opened(review);
    play.chains = [];
    expect(play.look()).toEqual([
      'cancel run_1 run.cancelled.not_triggered: its chain is not for this pull request any more',
    ]);
  });

  test('no longer matches its label is not said to be ended by a draft that it always was', () => {
    const play = new PullRequestPlayer(labelled).becomes({ labels: ['ready'], draft: true });
    play.look();
    expect(play.becomes({ labels: [] }).look()[0]).toContain('run.cancelled.not_triggered');
  });

  test('a person fired is kept until the head moves, although its trigger does not match', () => {
    const play = new PullRequestPlayer(labelled).fireByHand(labelled);
    expect(play.look()).toEqual([]);
    expect(play.becomes({ headSha: B }).look()).toEqual([
      'cancel run_1 run.cancelled.superseded: superseded by a newer push (bbbbbbb)',
    ]);
  });

  test('was aborted when the app was uninstalled starts again once the app is back', () => {
    expect(opened(review).ends('aborted').look()).toEqual(['begin review']);
  });
});

describe('two chains', () => {
  test('run independently', () => {
    const play = new PullRequestPlayer(review, labelled).becomes({ labels: ['ready'] });
    expect(play.look()).toEqual(['begin review', 'begin labelled']);
    expect(play.ends('completed', 'review').becomes({ labels: [] }).look()).toEqual([
      'cancel run_2 run.cancelled.not_triggered: its chain is not for this pull request any more',
    ]);
    expect(play.becomes({ headSha: B, labels: ['ready'] }).look()).toEqual([
      'begin review',
      'begin labelled',
    ]);
  });

  test('are both superseded by a push', () => {
    expect(opened(review, named('any')).becomes({ headSha: B }).look()).toEqual([
      'cancel run_2 run.cancelled.superseded: superseded by a newer push (bbbbbbb)',
      'cancel run_1 run.cancelled.superseded: superseded by a newer push (bbbbbbb)',
      'begin review',
      'begin any',
    ]);
  });
});

describe('after any history', () => {
  type Act =
    | { becomes: Partial<PullRequestNow> }
    | { ends: 'completed' | 'failed' | 'by_person' }
    | { fires: 'review' | 'labelled' };

  const change = fc.constantFrom<Partial<PullRequestNow>[]>(
    ...[A, B, 'c'.repeat(40)].map((headSha) => ({ headSha })),
    ...['main', 'release/2', 'playground'].map((baseRef) => ({ baseRef })),
    { draft: true },
    { draft: false },
    { labels: [] },
    { labels: ['ready'] },
    { state: 'closed' },
    { state: 'open' },
    { state: 'closed', merged: true },
  );
  const act = fc.oneof<fc.WeightedArbitrary<Act>[]>(
    { weight: 6, arbitrary: fc.record({ becomes: change }) },
    { weight: 2, arbitrary: fc.record({ ends: fc.constantFrom('completed', 'failed', 'by_person') }) },
    { weight: 1, arbitrary: fc.record({ fires: fc.constantFrom('review', 'labelled') }) },
  );

  function happens(play: PullRequestPlayer, what: Act): void {
    if ('becomes' in what) {
      // GitHub never reopens a merged pull request.
      if (!(play.now.merged && what.becomes.state === 'open')) play.becomes(what.becomes);
    } else if ('ends' in what) play.ends(what.ends);
    else if (play.now.state === 'open') play.fireByHand(what.fires === 'review' ? review : labelled);
  }

  /** Deliveries can get lost, so only some changes are followed by planning. */
  const history = fc.array(fc.record({ act, heard: fc.boolean() }), { maxLength: 25 });

  function afterAnyHistory(check: (play: PullRequestPlayer) => void): void {
    fc.assert(
      fc.property(history, (happened) => {
        const play = new PullRequestPlayer(review, labelled);
        for (const { act: what, heard } of happened) {
          happens(play, what);
          if (heard) play.look();
        }
        play.look();
        check(play);
      }),
      { numRuns: 300 },
    );
  }

  test('planning twice changes nothing', () => {
    afterAnyHistory((play) => expect(play.look()).toEqual([]));
  });

  test('no chain has two unfinished runs', () => {
    afterAnyHistory((play) => {
      const names = play.unfinished.map((run) => run.chain);
      expect(new Set(names).size).toBe(names.length);
    });
  });

  test('every unfinished run is about the current head and base of an open pull request', () => {
    afterAnyHistory((play) => {
      for (const run of play.unfinished) {
        expect(play.now.state).toBe('open');
        expect([run.headSha, run.baseRef]).toEqual([play.now.headSha, play.now.baseRef]);
      }
    });
  });

  test('every matching chain has a run, ended or not, for the current head and base of the open pull request', () => {
    afterAnyHistory((play) => {
      const { state, draft, baseRef, labels, headSha } = play.now;
      if (state === 'closed') return;
      const wanted = [
        ...(!draft && baseRef !== 'playground' ? ['review'] : []),
        ...(labels.length > 0 ? ['labelled'] : []),
      ];
      for (const name of wanted) {
        expect(play.runs.find((run) => run.chain === name)).toMatchObject({ headSha, baseRef });
      }
    });
  });
});
