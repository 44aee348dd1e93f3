import { expect, test } from 'vitest';
import type { Effect } from '../../src/domain/effect/effect.ts';
import { written } from '../../src/messages/run/what-is-written.ts';

const at = { installation_id: 1, owner: 'acme', repo: 'shop' };

const ISSUE: Effect = {
  kind: 'issue',
  ...at,
  marker: '<!-- countersign:issue -->',
  number: null,
  closed_at: null,
  title: 'Security: a secret',
  body: 'In `src/a.ts`.\n\n<sub>Opened by a step.</sub>',
  labels: ['countersign', 'bug'],
  assignees: ['mia'],
};

test.each<[string, Effect]>([
  ['a new issue', ISSUE],
  ['the text of an issue', { ...ISSUE, number: 31 }],
  ['an issue that is reopened', { ...ISSUE, number: 31, closed_at: '2026-03-01T00:00:00Z' }],
  [
    'a review',
    {
      kind: 'review',
      ...at,
      pull_request: 7,
      head_sha: 'a'.repeat(40),
      marker: '<!-- countersign:review -->',
      body: '2 new findings.',
      listed: [],
      body_alone: '',
      comments: [
        { path: 'src/a.ts', start_line: 2, line: 2, finding: 'f1', body: 'One.' },
        {
          path: 'src/a.ts',
          start_line: 4,
          line: 6,
          finding: 'f2',
          body: 'Two.\n\n```suggestion\nthree\n```',
        },
      ],
    },
  ],
  ['assignees', { kind: 'assignment', ...at, issue: 7, people: ['mia', 'max'] }],
  ['a milestone', { kind: 'milestone', ...at, issue: 7, milestone: { number: 2, title: '2.0\u202E' } }],
  ['a pull request that is closed', { kind: 'closing', ...at, issue: 7, reason: null }],
  ['an issue that is closed', { kind: 'closing', ...at, issue: 7, reason: 'not_planned' }],
])('a dry run shows %s', (_, effect) => {
  expect(written(effect).join('\n')).toMatchSnapshot();
});
