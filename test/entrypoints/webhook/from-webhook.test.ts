import { describe, expect, it } from 'vitest';
import { eventSchema } from '../../../src/domain/event/event.ts';
import { commandOfButton } from '../../../src/entrypoints/webhook/event/button.ts';
import {
  type Own,
  type Reading,
  runBehind,
  toEvents,
} from '../../../src/entrypoints/webhook/event/from-webhook.ts';

const OWN_APP = 99;
const own: Own = { appId: OWN_APP };
const person = { login: 'octocat', type: 'User' };
const bot = { login: 'octocat', type: 'Bot' };
const place = { installation_id: 5, repository: { id: 7, owner: 'acme', name: 'site' } };
const common = {
  installation: { id: 5 },
  repository: { id: 7, name: 'site', owner: { login: 'acme' }, default_branch: 'main' },
  sender: person,
};

const events = (...list: object[]): Reading => ({
  kind: 'events',
  events: list.map((one) => eventSchema.parse(one)),
});
const ignored = expect.objectContaining({ kind: 'ignored' });

type Row = [what: string, name: string, payload: object, expected: unknown];

function maps(title: string, rows: Row[]): void {
  describe(title, () => {
    it.each(rows)('%s', (_what, name, payload, expected) => {
      expect(toEvents(name, { ...common, ...payload }, own)).toEqual(expected);
    });
  });
}

const onPr = { ...place, pull_request: 3 };
const pr = (action: string, more: object = {}) => ({
  action,
  pull_request: { number: 3, merged: false },
  ...more,
});

const otherRepository = { id: 8, owner: 'acme', name: 'old' };
maps('an installation', [
  ...(
    [
      ['deleted', 'uninstalled'],
      ['suspend', 'suspended'],
    ] as const
  ).map(
    ([action, because]): Row => [
      `${action} is installation.gone`,
      'installation',
      { action, repository: undefined },
      events({ kind: 'installation.gone', installation_id: 5, because }),
    ],
  ),
  [
    'unsuspend is installation.back',
    'installation',
    { action: 'unsuspend', repository: undefined },
    events({ kind: 'installation.back', installation_id: 5, because: 'unsuspended' }),
  ],
  ...['created', 'new_permissions_accepted'].map(
    (action): Row => [`${action} is ignored`, 'installation', { action, repository: undefined }, ignored],
  ),
  [
    'from which repositories are removed is repository.gone for each',
    'installation_repositories',
    {
      action: 'removed',
      repository: undefined,
      repositories_removed: [{ id: 8, full_name: 'acme/old' }],
    },
    events({
      kind: 'repository.gone',
      installation_id: 5,
      repository: otherRepository,
      because: 'taken_out',
    }),
  ],
  [
    'to which repositories are added is installation.back',
    'installation_repositories',
    { action: 'added', repository: undefined, repositories_removed: [] },
    events({ kind: 'installation.back', installation_id: 5, because: 'taken_in' }),
  ],
]);

maps('a repository', [
  ...['deleted', 'archived', 'transferred'].map(
    (action): Row => [
      `${action} is repository.gone`,
      'repository',
      { action },
      events({ kind: 'repository.gone', ...place, because: action }),
    ],
  ),
  [
    'renamed is repository.renamed',
    'repository',
    { action: 'renamed' },
    events({ kind: 'repository.renamed', ...place }),
  ],
  [
    'unarchived is installation.back',
    'repository',
    { action: 'unarchived' },
    events({ kind: 'installation.back', installation_id: 5, because: 'unarchived' }),
  ],
  ...['privatized', 'publicized', 'edited', 'created'].map(
    (action): Row => [`${action} is ignored`, 'repository', { action }, ignored],
  ),
]);

maps('a pull request', [
  [
    'opened is pr.opened',
    'pull_request',
    pr('opened'),
    events({ kind: 'pr.opened', ...onPr, action: 'opened' }),
  ],
  ...['reopened', 'synchronize', 'ready_for_review', 'converted_to_draft', 'labeled', 'unlabeled'].map(
    (action): Row => [
      `${action} is pr.updated`,
      'pull_request',
      pr(action),
      events({ kind: 'pr.updated', ...onPr, action }),
    ],
  ),
  ...['title', 'body', 'base'].map(
    (field): Row => [
      `with an edited ${field} is pr.updated`,
      'pull_request',
      pr('edited', { changes: { [field]: { from: 'x' } } }),
      events({ kind: 'pr.updated', ...onPr, action: 'edited' }),
    ],
  ),
  ['edited in nothing that matters is ignored', 'pull_request', pr('edited', { changes: {} }), ignored],
  ['closed is pr.closed', 'pull_request', pr('closed'), events({ kind: 'pr.closed', ...onPr })],
  [
    'closed by merging is pr.merged',
    'pull_request',
    { action: 'closed', pull_request: { number: 3, merged: true } },
    events({ kind: 'pr.merged', ...onPr }),
  ],
  ['assigned is ignored', 'pull_request', pr('assigned'), ignored],
  ...['submitted', 'edited', 'dismissed'].map(
    (action): Row => [
      `review ${action} is approval.changed`,
      'pull_request_review',
      pr(action),
      events({ kind: 'approval.changed', ...onPr }),
    ],
  ),
]);

maps('a webhook about a conversation', [
  ...['resolved', 'unresolved'].map(
    (action): Row => [
      `a conversation that is ${action} is approval.changed`,
      'pull_request_review_thread',
      pr(action),
      events({ kind: 'approval.changed', ...onPr }),
    ],
  ),
  [
    'an action on a conversation that is not known is ignored',
    'pull_request_review_thread',
    pr('pinned'),
    ignored,
  ],
]);

const replied = (body: string, more: object = {}) => ({
  action: 'created',
  pull_request: { number: 3 },
  comment: { id: 12, body, user: person, in_reply_to_id: 11, ...more },
});

maps('a webhook about a comment on a line', [
  [
    'a reply that asks something is thread.replied, without its text',
    'pull_request_review_comment',
    replied('Why?'),
    events({ kind: 'thread.replied', ...onPr, actor: person.login, comment_id: 12, thread: 11 }),
  ],
  ['a reply that asks nothing is ignored', 'pull_request_review_comment', replied('I see.'), ignored],
  [
    'a comment that begins a conversation is ignored',
    'pull_request_review_comment',
    replied('Why?', { in_reply_to_id: undefined }),
    ignored,
  ],
  [
    'a reply of an app is ignored, so that two apps do not talk to each other',
    'pull_request_review_comment',
    replied('Why?', { user: { login: 'other[bot]', type: 'Bot' } }),
    ignored,
  ],
  [
    'a reply that is edited is ignored',
    'pull_request_review_comment',
    { ...replied('Why?'), action: 'edited' },
    ignored,
  ],
]);

const WRITTEN_AT = '2025-03-01T12:00:00Z';
const comment = (action: string, body: string, user: object | null = person, more: object = {}) => ({
  action,
  issue: { number: 3, pull_request: { url: 'x' } },
  comment: { id: 11, created_at: WRITTEN_AT, body, user },
  ...more,
});
const command = (text: string) =>
  events({
    kind: 'command.issued',
    ...onPr,
    actor: 'octocat',
    text,
    via: { kind: 'comment', comment_id: 11, created_at: WRITTEN_AT },
  });
const approvalChanged = events({ kind: 'approval.changed', ...onPr });

maps('a comment on a pull request', [
  ...['/countersign help', 'Thanks!\r\n/countersign rerun ci', '  /Countersign why', '/countersign'].map(
    (text): Row => [
      `${JSON.stringify(text)} is command.issued`,
      'issue_comment',
      comment('created', text),
      command(text),
    ],
  ),
  ...[
    'Looks good',
    'please /countersign rerun',
    '> /countersign rerun',
    '/countersigned',
    '/countersign-now',
  ].map(
    (text): Row => [
      `${JSON.stringify(text)} holds no command`,
      'issue_comment',
      comment('created', text),
      approvalChanged,
    ],
  ),
  [
    'by a bot is ignored, whatever its name',
    'issue_comment',
    comment('created', '/countersign help', bot),
    ignored,
  ],
  [
    'by a deleted account is ignored',
    'issue_comment',
    comment('created', '/countersign help', null),
    ignored,
  ],
  [
    'edited into a command is no command',
    'issue_comment',
    comment('edited', '/countersign help'),
    approvalChanged,
  ],
  ['of the app deleted by a person counts', 'issue_comment', comment('deleted', 'x', bot), approvalChanged],
  [
    'edited by the app itself is ignored',
    'issue_comment',
    comment('edited', 'x', bot, { sender: bot }),
    ignored,
  ],
  [
    'that is on an issue is ignored',
    'issue_comment',
    { ...comment('created', 'x'), issue: { number: 3 } },
    ignored,
  ],
]);

const sha = 'ec26c3e57ca3a959ca5aad62de7213c562f8c821';
const ciChanged = events({ kind: 'ci.changed', ...place, head_sha: sha });
const check = (action: string, appId: number | null, more: object = {}) => ({
  action,
  check_run: {
    head_sha: sha,
    app: appId === null ? null : { id: appId },
    pull_requests: [
      { number: 3, base: { repo: { id: 7 } } },
      { number: 8, base: { repo: { id: 1 } } },
    ],
  },
  ...more,
});
const button = (text: string, question?: string) =>
  events({
    kind: 'command.issued',
    ...onPr,
    actor: 'octocat',
    text,
    via: { kind: 'button', head_sha: sha, ...(question ? { question } : {}) },
  });
const pressed = (identifier: string) => ({ requested_action: { identifier } });

maps('a check', [
  ...['created', 'completed', 'rerequested'].map(
    (action): Row => [`run ${action} is ci.changed`, 'check_run', check(action, 15368), ciChanged],
  ),
  ['run of no app is ci.changed', 'check_run', check('completed', null), ciChanged],
  ['run of this app is ignored', 'check_run', check('completed', OWN_APP), ignored],
  [
    'button of another app is ignored',
    'check_run',
    check('requested_action', 15368, pressed('rerun')),
    ignored,
  ],
  [
    'button of this app is the command it stands for, for the pull requests of this repository only',
    'check_run',
    check('requested_action', OWN_APP, pressed('rerun:ci')),
    button('/countersign rerun ci'),
  ],
  [
    'button that answers a question names it',
    'check_run',
    check('requested_action', OWN_APP, pressed('approve:0123456789ab')),
    button('/countersign approve', '0123456789ab'),
  ],
  [
    'button with a foreign identifier is ignored',
    'check_run',
    check('requested_action', OWN_APP, pressed('lgtm|26764')),
    ignored,
  ],
  ['button without an identifier is ignored', 'check_run', check('requested_action', OWN_APP), ignored],
  [
    'button pressed by a bot is ignored',
    'check_run',
    check('requested_action', OWN_APP, { ...pressed('rerun'), sender: bot }),
    ignored,
  ],
  [
    're-run of this app’s run is a command',
    'check_run',
    check('rerequested', OWN_APP),
    button('/countersign rerun'),
  ],
  [
    'suite completed is ci.changed',
    'check_suite',
    { action: 'completed', check_suite: { head_sha: sha, app: { id: 15368 } } },
    ciChanged,
  ],
  [
    'suite of this app is ignored',
    'check_suite',
    { action: 'completed', check_suite: { head_sha: sha, app: { id: OWN_APP } } },
    ignored,
  ],
  [
    'suite of this app re-requested is a command, for the pull requests of this repository only',
    'check_suite',
    {
      action: 'rerequested',
      check_suite: { ...check('', OWN_APP).check_run },
    },
    button('/countersign rerun'),
  ],
  [
    'suite of another app re-requested is ignored',
    'check_suite',
    { action: 'rerequested', check_suite: { head_sha: sha, app: { id: 15368 } } },
    ignored,
  ],
  ['status is ci.changed', 'status', { sha, state: 'success' }, ciChanged],
]);

const BEFORE = '6113728f27ae82c7b1a177c8d03f9e96e0adf246';
const issue = { number: 4, title: 'Broken', user: person };
const pushed = {
  before: BEFORE,
  forced: false,
  ref: 'refs/heads/a/b',
  after: sha,
  deleted: false,
  pusher: { name: 'octocat' },
  commits: [],
};
const fileChanged = {
  kind: 'file.changed',
  ...place,
  branch: 'a/b',
  default_branch: 'main',
  before_sha: BEFORE,
  forced: false,
  head_sha: sha,
  pusher: 'octocat',
  paths: [],
};

maps('an issue', [
  [
    'opened is issue.created',
    'issues',
    { action: 'opened', issue },
    events({
      kind: 'issue.created',
      ...place,
      issue: 4,
      title: 'Broken',
      author: 'octocat',
      labels: [],
      body: '',
    }),
  ],
  [
    'labelled by an app fires nothing',
    'issues',
    {
      action: 'labeled',
      issue: { ...issue, updated_at: '2026-03-02T09:00:00Z' },
      label: { name: 'bug' },
      sender: { login: 'some[bot]', type: 'Bot' },
    },
    ignored,
  ],
  [
    'opened by this app is ignored',
    'issues',
    { action: 'opened', issue: { ...issue, performed_via_github_app: { id: OWN_APP } } },
    ignored,
  ],
  ['closed is ignored', 'issues', { action: 'closed', issue }, ignored],
]);

maps('a push', [
  ['without commits is file.changed', 'push', pushed, events(fileChanged)],
  [
    'names every changed path once',
    'push',
    {
      ...pushed,
      commits: [
        { added: ['a'], modified: ['b'], removed: [] },
        { added: [], modified: ['a'], removed: ['c d'] },
      ],
    },
    events({ ...fileChanged, paths: ['a', 'b', 'c d'] }),
  ],
  ['that deletes the branch is ignored', 'push', { ...pushed, deleted: true }, ignored],
  ['of a tag is ignored', 'push', { ...pushed, ref: 'refs/tags/v1' }, ignored],
]);

describe('a button of a check run on a fork’s head, which names no pull request,', () => {
  const payload = {
    ...common,
    action: 'rerequested',
    check_run: { head_sha: sha, external_id: 'run_1', app: { id: OWN_APP }, pull_requests: [] },
  };

  it('is ignored while the run is unknown', () => {
    expect(toEvents('check_run', payload, own)).toEqual(ignored);
  });

  it('belongs to the pull request of its check run’s run', () => {
    const run = { repositoryId: 7, pullRequest: 3 };
    expect(toEvents('check_run', payload, { ...own, run })).toEqual(button('/countersign rerun'));
  });

  it('does not reach a run of another repository', () => {
    const run = { repositoryId: 8, pullRequest: 3 };
    expect(toEvents('check_run', payload, { ...own, run })).toEqual(ignored);
  });

  it('names the run only if the check run is this app’s own', () => {
    expect(runBehind('check_run', payload, OWN_APP)).toBe('run_1');
    expect(runBehind('check_run', payload, 15368)).toBeUndefined();
  });
});

describe('commandOfButton', () => {
  it.each([
    ['rerun', '/countersign rerun'],
    ['rerun:unit-tests_2', '/countersign rerun unit-tests_2'],
    ['cancel', '/countersign cancel'],
    ['', undefined],
    ['Rerun', undefined],
    ['rerun:', undefined],
    ['rerun ci', undefined],
    ['rerun\n/countersign', undefined],
  ])('reads %j as %j', (identifier, expected) => {
    expect(commandOfButton(identifier)).toBe(expected);
  });
});
