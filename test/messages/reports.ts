import { type RepositoryReport, type RepositoryState, reportOf } from '../../src/domain/run/report.ts';
import { at } from './builders.ts';

const stateOf = (
  repositoryId: number,
  repository: string,
  more: Partial<RepositoryState> = {},
): RepositoryState => ({
  repositoryId,
  installationId: 7,
  repository,
  branch: 'main',
  rollout: { level: 'enforce' },
  errors: 0,
  first: null,
  ...more,
});
const counted = (repositoryId: number, name: string, count: number) => ({
  repositoryId,
  what: 'ended' as const,
  name,
  bucket: 0,
  count,
});

/** One that merges, one that is observed and misconfigured, one whose organisation is misconfigured, and one without runs. */
export const REPORTS: readonly RepositoryReport[] = reportOf(
  [
    stateOf(2, 'acme/docs', {
      rollout: { level: 'observe', by: 'organisation' },
      errors: 2,
      first: {
        file: '.github/countersign.yml',
        line: 2,
        column: 3,
        message: 'unknown key "<b>bye</b>": did you mean "by"?',
      },
    }),
    stateOf(3, 'acme/api', {
      errors: 1,
      first: {
        file: 'acme/.github:countersign/chains/deploy.yaml',
        line: 4,
        column: 1,
        message: 'there is no action "gh-coment"',
      },
    }),
    stateOf(1, 'acme/shop'),
    stateOf(4, 'acme/quiet', { rollout: { level: 'off', by: 'server' } }),
  ],
  {
    figures: [
      counted(1, 'merged', 31),
      counted(1, 'failed', 4),
      counted(1, 'stopped', 5),
      counted(2, 'would_merge', 3),
      counted(2, 'withheld', 1),
      counted(3, 'completed', 1),
      { repositoryId: 2, what: 'changes_requested', name: '', bucket: 0, count: 2 },
      { repositoryId: 1, what: 'answered', name: '', bucket: 81, count: 30 },
      { repositoryId: 1, what: 'answered', name: '', bucket: 118, count: 6 },
    ],
    leads: [{ repositoryId: 1, bucket: 96, count: 31 }],
    waiting: [{ repositoryId: 1, count: 2, since: at('10:00') }],
  },
);
