import { describe, expect, it } from 'vitest';
import { endingBy } from '../../../src/domain/run/ending.ts';
import { atShare, bucketOf } from '../../../src/domain/run/figures.ts';
import {
  inOrder,
  type RepositoryReport,
  type RepositoryState,
  reportOf,
  totalsOf,
} from '../../../src/domain/run/report.ts';

const state = (repositoryId: number, repository: string, errors = 0): RepositoryState => ({
  repositoryId,
  installationId: 7,
  repository,
  branch: 'main',
  rollout: { level: 'observe' },
  errors,
  first: null,
});
const ended = (repositoryId: number, name: string, count: number) => ({
  repositoryId,
  what: 'ended' as const,
  name,
  bucket: 0,
  count,
});
const answered = (repositoryId: number, seconds: number, count = 1) => ({
  repositoryId,
  what: 'answered' as const,
  name: '',
  bucket: bucketOf(seconds),
  count,
});
const NOTHING = { figures: [], leads: [], waiting: [] };
const noon = new Date('2026-03-02T12:00:00Z');
const ten = new Date('2026-03-02T10:00:00Z');

describe('how a run ended, by its status', () => {
  it.each([
    ['running', null, undefined],
    ['waiting_approval', null, undefined],
    ['completed', 'run.completed', 'completed'],
    ['completed', 'run.completed.changes_requested', 'completed'],
    ['completed', 'run.completed.rollout', 'withheld'],
    ['failed', 'run.failed.step', 'failed'],
    ['timed_out', 'run.timed_out.step', 'failed'],
    ['cancelled', 'run.cancelled.superseded', 'stopped'],
    ['aborted', 'run.aborted.repository_gone', 'stopped'],
  ] as const)('%s because of %s is %s', (status, because, ending) => {
    expect(endingBy(status, because)).toBe(ending);
  });
});

describe('the share of times', () => {
  it('is nothing without times', () => {
    expect(atShare([], 0.5)).toBeUndefined();
    expect(atShare([{ bucket: 3, count: 0 }], 0.5)).toBeUndefined();
  });

  it.each([
    [0.5, 60],
    [0.9, 3_600],
  ])('%d of ten times is within 5 %% of what so many did not exceed', (share, seconds) => {
    const buckets = [
      { bucket: bucketOf(3_600), count: 4 },
      { bucket: bucketOf(60), count: 5 },
      { bucket: bucketOf(90_000), count: 1 },
    ];
    const found = atShare(buckets, share) ?? 0;
    expect(Math.abs(found - seconds) / seconds).toBeLessThanOrEqual(0.051);
  });
});

describe('a report', () => {
  it('gives each repository its own figures', () => {
    const [shop, docs] = reportOf([state(1, 'acme/shop'), state(2, 'acme/docs')], {
      figures: [ended(1, 'merged', 3), ended(2, 'would_merge', 2), answered(1, 60), answered(1, 120)],
      leads: [{ repositoryId: 1, bucket: bucketOf(600), count: 3 }],
      waiting: [{ repositoryId: 2, count: 1, since: noon }],
    });
    expect(shop).toMatchObject({
      runs: { merged: 3, would_merge: 0 },
      answered: { count: 2 },
      merged: { count: 3 },
    });
    expect(shop?.waiting).toBeUndefined();
    expect(docs).toMatchObject({ runs: { merged: 0, would_merge: 2 }, waiting: { count: 1, since: noon } });
    expect([docs?.answered, docs?.merged]).toEqual([undefined, undefined]);
  });

  it('counts no number below 0, where a run went on that ended before figures were counted', () => {
    const [report] = reportOf([state(1, 'acme/shop')], { ...NOTHING, figures: [ended(1, 'failed', -1)] });
    expect(report?.runs.failed).toBe(0);
  });

  it('sums what it has, with the oldest question, and nothing of other repositories', () => {
    const facts = {
      figures: [ended(1, 'merged', 3), ended(2, 'merged', 2), answered(1, 60), answered(9, 60)],
      leads: [],
      waiting: [
        { repositoryId: 1, count: 2, since: noon },
        { repositoryId: 2, count: 1, since: ten },
      ],
    };
    const reports = reportOf([state(1, 'acme/shop', 2), state(2, 'acme/docs')], facts);
    expect(totalsOf(reports, facts.figures)).toMatchObject({
      repositories: 2,
      misconfigured: 1,
      runs: { merged: 5 },
      answered: { count: 1 },
      waiting: { count: 3, since: ten },
    });
  });
});

describe('the order of a report', () => {
  const reports = reportOf(
    [
      state(1, 'acme/quiet'),
      state(2, 'acme/observed'),
      state(3, 'acme/waits'),
      state(4, 'acme/waits-longer'),
      state(5, 'acme/broken', 1),
      state(6, 'Acme/busy'),
    ],
    {
      figures: [
        ended(2, 'would_merge', 4),
        ended(6, 'merged', 9),
        ended(6, 'failed', 1),
        answered(6, 60),
        answered(3, 900),
      ],
      leads: [],
      waiting: [
        { repositoryId: 3, count: 5, since: noon },
        { repositoryId: 4, count: 1, since: ten },
      ],
    },
  );
  const names = (sorted: readonly RepositoryReport[]) =>
    sorted.map(({ repository }) => repository.slice(repository.indexOf('/') + 1));

  it.each([
    ['attention', ['broken', 'waits-longer', 'waits', 'observed', 'busy', 'quiet']],
    ['name', ['broken', 'busy', 'observed', 'quiet', 'waits', 'waits-longer']],
    ['runs', ['busy', 'observed', 'broken', 'quiet', 'waits', 'waits-longer']],
    ['failed', ['busy', 'broken', 'observed', 'quiet', 'waits', 'waits-longer']],
    ['merged', ['busy', 'broken', 'observed', 'quiet', 'waits', 'waits-longer']],
    ['would_merge', ['observed', 'broken', 'busy', 'quiet', 'waits', 'waits-longer']],
    ['answered', ['waits', 'busy', 'broken', 'observed', 'quiet', 'waits-longer']],
  ] as const)('by %s', (by, sorted) => {
    expect(names(inOrder(reports, by))).toEqual(sorted);
  });
});
