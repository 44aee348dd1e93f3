import type { z } from 'zod';
import { CHAIN_NAME } from '../../../domain/chain/chain.ts';
import { REVIEW_STATES } from '../../../domain/chain/trigger-schema.ts';
import { type Event, type EventOf, KEPT_BODY } from '../../../domain/event/event.ts';
import { commandOfButton, questionOfButton } from './button.ts';
import {
  checkRunFields,
  checkSuiteFields,
  envelope,
  installationFields,
  installationRepositoriesFields,
  issueCommentFields,
  issuesFields,
  mergeGroupFields,
  pullRequestFields,
  pullRequestReviewCommentFields,
  pullRequestReviewFields,
  pullRequestReviewThreadFields,
  pushFields,
  releaseFields,
  repositoryDispatchFields,
  repositoryFields,
  statusFields,
} from './webhook-fields.ts';

/**
 * What a payload says. `ignored` is deliberate. `unreadable` names the field that is missing or malformed.
 */
export type Reading =
  | { kind: 'events'; events: Event[] }
  | { kind: 'ignored'; because: string }
  | { kind: 'unreadable'; because: string };

/** Facts beyond the payload that tell this app's own actions from those of others. */
export interface Own {
  appId: number;
  /**
   * The run of the check run, if it is one of this app's: see `runBehind`. For a head in a fork, GitHub names
   * no pull request in a check run. Without the run, a button pressed there would have no effect.
   */
  run?: { repositoryId: number; pullRequest: number | null } | undefined;
}

/**
 * Reads one webhook as events. Pure, and never throws, whatever the payload is.
 * @param name the `X-GitHub-Event` header
 */
export function toEvents(name: string, payload: unknown, own: Own): Reading {
  const read = readers.get(name);
  if (!read) return ignored(`this app does not act on "${name}" webhooks`);
  if (!hasInstallation(payload)) {
    return ignored('the payload names no installation: it was not sent to a GitHub App');
  }
  return read(payload, own);
}

/** The id of the run whose check run the payload is about, if this app created that check run. */
export function runBehind(name: string, payload: unknown, appId: number): string | undefined {
  if (name !== 'check_run') return undefined;
  const read = checkRunFields.safeParse(payload);
  if (!read.success || read.data.check_run.app?.id !== appId) return undefined;
  return read.data.check_run.external_id || undefined;
}

type Place = Pick<EventOf<'ci.changed'>, 'installation_id' | 'repository'>;
type Reader = (payload: unknown, own: Own) => Reading;

/** Events, or the reason why there are none. */
type EventsOrReason = Event[] | string;

function reader<S extends z.ZodType>(
  fields: S,
  read: (payload: z.output<S>, place: Place, own: Own) => EventsOrReason,
): Reader {
  return (payload, own) => {
    const head = envelope.safeParse(payload);
    if (!head.success) return unreadable(head.error);
    const { installation, repository } = head.data;
    const place = {
      installation_id: installation.id,
      repository: { id: repository.id, owner: repository.owner.login, name: repository.name },
    };
    const parsed = fields.safeParse(payload);
    return parsed.success ? readingOf(read(parsed.data, place, own)) : unreadable(parsed.error);
  };
}

/** For webhooks that are about a whole installation and name no repository. */
function ofInstallation<S extends z.ZodType>(
  fields: S,
  read: (payload: z.output<S>) => EventsOrReason,
): Reader {
  return (payload) => {
    const parsed = fields.safeParse(payload);
    return parsed.success ? readingOf(read(parsed.data)) : unreadable(parsed.error);
  };
}

function readingOf(finding: EventsOrReason): Reading {
  return typeof finding === 'string' ? ignored(finding) : { kind: 'events', events: finding };
}

const pullRequest = reader(pullRequestFields, (payload, place) => {
  const { action, pull_request, changes, label, sender, reason } = payload;
  const at = { ...place, pull_request: pull_request.number };
  const asOf = pull_request.updated_at === undefined ? {} : { updated_at: pull_request.updated_at };
  switch (action) {
    case 'opened':
      return [{ kind: 'pr.opened', ...at, action, ...asOf }];
    case 'edited':
      if (!['title', 'body', 'base'].some((field) => changes?.[field]))
        return 'nothing that matters was edited';
      return [{ kind: 'pr.updated', ...at, action, ...asOf }];
    case 'reopened':
    case 'synchronize':
    case 'ready_for_review':
    case 'converted_to_draft':
    case 'unlabeled':
      return [{ kind: 'pr.updated', ...at, action, ...asOf }];
    case 'labeled': {
      const updated = { kind: 'pr.updated', ...at, action, ...asOf } as const;
      const base_ref = pull_request.base?.ref;
      const added = labelAdded(label, sender, pull_request.updated_at);
      return added && base_ref !== undefined
        ? [updated, { kind: 'pr.labeled', ...at, base_ref, ...headThen(pull_request), ...added }]
        : [updated];
    }
    case 'dequeued':
      // What the queue has merged is also closed.
      return reason === 'MERGE' ? notRelevant('pull_request', action) : [{ kind: 'approval.changed', ...at }];
    case 'closed':
      return [{ kind: pull_request.merged ? 'pr.merged' : 'pr.closed', ...at }];
    default:
      return notRelevant('pull_request', action);
  }
});

function headThen({ head }: { head?: { sha: string } | undefined }): { head_sha?: string } {
  return head ? { head_sha: head.sha } : {};
}

/**
 * The label that a person added. Labels of apps count for nothing here: otherwise two chains that label could trigger
 * each other for ever, and this app's own label is one.
 */
function labelAdded(
  label: { name: string } | null | undefined,
  sender: { login: string; type: string } | null | undefined,
  at: string | undefined,
): { label: string; actor: string; at: string } | undefined {
  if (!label || sender?.type !== 'User' || at === undefined) return undefined;
  return { label: label.name, actor: sender.login, at };
}

const pullRequestReview = reader(pullRequestReviewFields, ({ action, pull_request, review }, place) => {
  if (!['submitted', 'edited', 'dismissed'].includes(action))
    return notRelevant('pull_request_review', action);
  const at = { ...place, pull_request: pull_request.number };
  const changed = { kind: 'approval.changed', ...at } as const;
  const state = REVIEW_STATES.find((one) => one === review?.state.toLowerCase());
  const base_ref = pull_request.base?.ref;
  // A review by an app fires nothing, as for labels.
  if (action !== 'submitted' || !review || !state || review.user?.type !== 'User' || base_ref === undefined)
    return [changed];
  const about = { review_id: review.id, review: state, reviewer: review.user.login };
  return [changed, { kind: 'pr.review_submitted', ...at, base_ref, ...headThen(pull_request), ...about }];
});

/** A conversation was resolved, or not any more. It began with a review. */
const pullRequestReviewThread = reader(pullRequestReviewThreadFields, ({ action, pull_request }, place) =>
  action === 'resolved' || action === 'unresolved'
    ? [{ kind: 'approval.changed', ...place, pull_request: pull_request.number }]
    : notRelevant('pull_request_review_thread', action),
);

const checkRun = reader(checkRunFields, (payload, place, own) => {
  const { action, check_run, requested_action, repository, sender } = payload;
  const { head_sha, id, name, conclusion, check_suite } = check_run;
  if (check_run.app?.id !== own.appId) {
    if (action === 'requested_action') return 'the button belongs to another app';
    const { default_branch } = repository;
    const branch = check_suite?.head_branch;
    const ended = action === 'completed' && id !== undefined && name !== undefined && default_branch;
    if (!ended || conclusion == null) return [{ kind: 'ci.changed', ...place, head_sha }];
    const workflow_run = workflowRunOf(check_run.details_url);
    const about = {
      id,
      name,
      conclusion,
      ...(branch != null && { branch }),
      default_branch,
      ...(workflow_run !== undefined && { workflow_run }),
    };
    return [{ kind: 'ci.changed', ...place, head_sha, ended: about }];
  }
  const asked = commandOfAction(action, requested_action?.identifier);
  if (asked === undefined) return 'it is about this app’s own check run';
  if (asked === null) return 'the button is none that this app offers';
  const here = within(check_run.pull_requests, place);
  const numbers = here.length > 0 ? here : pullRequestsOf(own.run, place);
  const run_id = check_run.external_id;
  if (numbers.length === 0 && own.run?.pullRequest === null && run_id)
    return requested(asked, { run_id, head_sha, sender, place });
  const question = questionOfButton(requested_action?.identifier ?? '');
  return commands(asked, { numbers, sender, head_sha, place, ...(question ? { question } : {}) });
});

/**
 * The run of a workflow whose job the check is, by the page that it links to:
 * https://github.com/cli/cli/issues/6663.
 */
function workflowRunOf(page: string | null | undefined): number | undefined {
  const id = Number(/\/actions\/runs\/(\d{1,15})\/job/.exec(page ?? '')?.[1]);
  return Number.isSafeInteger(id) ? id : undefined;
}

interface ButtonPress {
  numbers: readonly number[];
  sender: { login: string; type: string } | null | undefined;
  head_sha: string;
  question?: string;
  place: Place;
}

/** The commands of a pressed button, GitHub's or this app's: one for each pull request that it belongs to. */
function commands(text: string, { numbers, sender, place, ...which }: ButtonPress): EventsOrReason {
  // Only people give commands. Otherwise an app that presses buttons through the API could keep this one busy
  // forever.
  if (sender?.type !== 'User') return 'no person asked for it';
  if (numbers.length === 0) return 'it belongs to no pull request of this repository';
  return numbers.map((number) => ({
    kind: 'command.issued',
    ...place,
    pull_request: number,
    actor: sender.login,
    text,
    via: { kind: 'button', ...which },
  }));
}

function within(
  pullRequests: readonly { number: number; base: { repo: { id: number } } }[] | null | undefined,
  place: Place,
): number[] {
  return (pullRequests ?? [])
    .filter(({ base }) => base.repo.id === place.repository.id)
    .map(({ number }) => number);
}

const RERUN = '/countersign rerun';
const CANCEL = '/countersign cancel';

/** For runs that are about no pull request, which no command can be about. */
function requested(
  text: string,
  { sender, place, run_id, head_sha }: Omit<ButtonPress, 'numbers'> & { run_id: string | null },
): EventsOrReason {
  if (sender?.type !== 'User') return 'no person asked for it';
  if (text !== RERUN && text !== CANCEL) return 'the button is for runs of pull requests';
  const asks = text === RERUN ? 'rerun' : 'cancel';
  return [{ kind: 'run.requested', ...place, asks, run_id, head_sha, actor: sender.login }];
}

/**
 * The command that the action asks for: `null` if the button is unknown, `undefined` if the action asks for
 * nothing.
 */
function commandOfAction(action: string, identifier: string | undefined): string | null | undefined {
  if (action === 'rerequested') return RERUN;
  if (action === 'requested_action') return commandOfButton(identifier ?? '') ?? null;
  return undefined;
}

function pullRequestsOf(run: Own['run'], place: Place): number[] {
  return run?.repositoryId === place.repository.id && run.pullRequest !== null ? [run.pullRequest] : [];
}

const checkSuite = reader(checkSuiteFields, ({ action, check_suite, sender }, place, own) => {
  if (check_suite.app?.id === own.appId) {
    if (action !== 'rerequested') return 'it is about this app’s own check suite';
    // "Re-run all checks". For a fork, GitHub names no pull request here; the check run's own button works
    // there.
    const numbers = within(check_suite.pull_requests, place);
    const { head_sha } = check_suite;
    if (numbers.length === 0) return requested(RERUN, { run_id: null, sender, head_sha, place });
    return commands(RERUN, { numbers, sender, head_sha, place });
  }
  if (action !== 'completed') return notRelevant('check_suite', action);
  return [{ kind: 'ci.changed', ...place, head_sha: check_suite.head_sha }];
});

const status = reader(statusFields, ({ sha, id, context, state, branches, repository }, place) => {
  const changed = { kind: 'ci.changed', ...place, head_sha: sha } as const;
  const { default_branch } = repository;
  const ended = id !== undefined && context !== undefined && state !== undefined && state !== 'pending';
  if (!ended || default_branch === undefined) return [changed];
  const names = (branches ?? []).map(({ name }) => name);
  const branch = names.includes(default_branch) ? default_branch : names[0];
  const about = {
    id,
    name: context,
    conclusion: state,
    ...(branch !== undefined && { branch }),
    default_branch,
  };
  return [{ ...changed, ended: about }];
});

/**
 * A cheap filter before the comment is parsed as Markdown. It accepts slightly more than the parser: any case
 * and indentation.
 */
const MAY_HOLD_COMMAND = /^[ \t]*\/countersign(?![\w-])/im;

const issueComment = reader(issueCommentFields, ({ action, issue, comment, sender }, place) => {
  if (issue.pull_request == null) return 'the comment is on an issue, not on a pull request';
  const at = { ...place, pull_request: issue.number };
  switch (action) {
    case 'created': {
      // The account's type, not the suffix "[bot]": anybody can take a name with that suffix.
      if (comment.user?.type !== 'User') return 'no person wrote the comment';
      const text = comment.body ?? '';
      if (!MAY_HOLD_COMMAND.test(text)) return [{ kind: 'approval.changed', ...at }];
      const via = { kind: 'comment', comment_id: comment.id, created_at: comment.created_at } as const;
      return [{ kind: 'command.issued', ...at, actor: comment.user.login, text, via }];
    }
    case 'edited':
    case 'deleted':
      // The sender counts, not the comment's author. A person may delete the app's approval comment, but the
      // app's own frequent edits must not wake it.
      return sender?.type === 'User'
        ? [{ kind: 'approval.changed', ...at }]
        : `no person ${action} the comment`;
    default:
      return notRelevant('issue_comment', action);
  }
});

/** What may ask something of this app in a conversation that it began. Whether it does depends on the conversation. */
const MAY_ASK = /[?@]|\/countersign/i;

const pullRequestReviewComment = reader(
  pullRequestReviewCommentFields,
  ({ action, pull_request, comment }, place) => {
    if (action !== 'created') return notRelevant('pull_request_review_comment', action);
    // The account's type, not the suffix "[bot]", as for commands. This app must not answer itself either.
    if (comment.user?.type !== 'User') return 'no person wrote the comment';
    if (comment.in_reply_to_id == null) return 'the comment begins a conversation';
    if (!MAY_ASK.test(comment.body ?? '')) return 'the reply asks nothing';
    const { id: comment_id, in_reply_to_id: thread, user } = comment;
    return [
      {
        kind: 'thread.replied',
        ...place,
        pull_request: pull_request.number,
        actor: user.login,
        comment_id,
        thread,
      },
    ];
  },
);

const issues = reader(issuesFields, ({ action, issue, label, sender }, place, own) => {
  if (action !== 'opened' && action !== 'labeled') return notRelevant('issues', action);
  // A chain that issues trigger must not trigger itself endlessly by the issues that it opens.
  if (action === 'opened' && issue.performed_via_github_app?.id === own.appId)
    return 'this app opened the issue itself';
  const about = {
    ...place,
    issue: issue.number,
    title: issue.title,
    author: issue.user?.login ?? 'ghost',
    labels: (issue.labels ?? []).map(({ name }) => name),
    ...(issue.author_association != null && { association: issue.author_association }),
    body: (issue.body ?? '').slice(0, KEPT_BODY),
  };
  if (action === 'opened') return [{ kind: 'issue.created', ...about }];
  const added = labelAdded(label, sender, issue.updated_at);
  return added ? [{ kind: 'issue.labeled', ...about, ...added }] : 'no person added the label';
});

const release = reader(releaseFields, ({ action, release: published }, place) => {
  if (action !== 'published') return notRelevant('release', action);
  const { id: release_id, tag_name: tag, name, body, prerelease, author } = published;
  return [
    {
      kind: 'release.published',
      ...place,
      release_id,
      tag,
      title: name ?? tag,
      body: (body ?? '').slice(0, KEPT_BODY),
      prerelease,
      author: author?.login ?? 'ghost',
    },
  ];
});

/** The beginning of an `event_type` that fires a chain. */
const DISPATCH = 'countersign.';

/**
 * `action` is the `event_type` of the request, and `client_payload` has the chain's inputs:
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#repository_dispatch. GitHub lets only those send it who can
 * write contents: https://docs.github.com/en/rest/repos/repos#create-a-repository-dispatch-event.
 */
const repositoryDispatch = reader(
  repositoryDispatchFields,
  ({ action, client_payload: inputs, sender }, place) => {
    if (!action.startsWith(DISPATCH)) return `its type does not begin with "${DISPATCH}"`;
    const chain = action.slice(DISPATCH.length);
    if (!CHAIN_NAME.test(chain)) return 'its type names no chain';
    const actor = sender?.login ?? 'ghost';
    const fired = { chain, pull_request: null, dispatched: true, actor, inputs: inputs ?? {} } as const;
    return [{ kind: 'manual.fired', ...place, ...fired }];
  },
);

const BRANCH = 'refs/heads/';

const push = reader(
  pushFields,
  ({ ref, before, after, forced, deleted, pusher, commits, repository }, place) => {
    if (!ref.startsWith(BRANCH)) return 'no branch was pushed';
    if (deleted) return 'the branch was deleted';
    const paths = new Set(
      commits.flatMap(({ added, modified, removed }) => [
        ...(added ?? []),
        ...(modified ?? []),
        ...(removed ?? []),
      ]),
    );
    const branch = ref.slice(BRANCH.length);
    return [
      {
        kind: 'file.changed',
        ...place,
        branch,
        default_branch: repository.default_branch,
        before_sha: before,
        forced,
        head_sha: after,
        pusher: pusher.name,
        paths: [...paths],
      },
    ];
  },
);

/**
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group: `base_ref` is a full ref,
 * `refs/heads/main`.
 */
const mergeGroup = reader(mergeGroupFields, ({ action, reason, merge_group }, place) => {
  const { head_sha, base_ref: ref } = merge_group;
  const base_ref = ref.startsWith(BRANCH) ? ref.slice(BRANCH.length) : ref;
  switch (action) {
    case 'checks_requested':
      return [{ kind: 'group.requested', ...place, head_sha, base_ref }];
    case 'destroyed':
      return [{ kind: 'group.destroyed', ...place, head_sha, base_ref, reason: reason ?? 'unknown' }];
    default:
      return notRelevant('merge_group', action);
  }
});

const installation = ofInstallation(installationFields, ({ action, installation: { id } }) => {
  switch (action) {
    case 'deleted':
      return [{ kind: 'installation.gone', installation_id: id, because: 'uninstalled' }];
    case 'suspend':
      return [{ kind: 'installation.gone', installation_id: id, because: 'suspended' }];
    case 'unsuspend':
      return [{ kind: 'installation.back', installation_id: id, because: 'unsuspended' }];
    default:
      return notRelevant('installation', action);
  }
});

const installationRepositories = ofInstallation(
  installationRepositoriesFields,
  ({ action, installation: { id: installation_id }, repositories_removed }) => {
    if (action === 'added') return [{ kind: 'installation.back', installation_id, because: 'taken_in' }];
    if (action !== 'removed') return notRelevant('installation_repositories', action);
    return repositories_removed.map(({ id, full_name }) => {
      const [owner = '', name = ''] = full_name.split('/');
      const repository = { id, owner, name };
      return { kind: 'repository.gone', installation_id, repository, because: 'taken_out' };
    });
  },
);

const repository = reader(repositoryFields, ({ action }, place) => {
  switch (action) {
    case 'renamed':
      return [{ kind: 'repository.renamed', ...place }];
    case 'deleted':
    case 'archived':
    case 'transferred':
      return [{ kind: 'repository.gone', ...place, because: action }];
    case 'unarchived':
      return [{ kind: 'installation.back', installation_id: place.installation_id, because: 'unarchived' }];
    default:
      return notRelevant('repository', action);
  }
});

/**
 * Deliberately without `workflow_run`: every workflow run also is a check suite, and reading workflow runs
 * would need another permission (actions).
 */
const readers: ReadonlyMap<string, Reader> = new Map([
  ['check_run', checkRun],
  ['check_suite', checkSuite],
  ['installation', installation],
  ['installation_repositories', installationRepositories],
  ['issue_comment', issueComment],
  ['issues', issues],
  ['merge_group', mergeGroup],
  ['pull_request', pullRequest],
  ['pull_request_review', pullRequestReview],
  ['pull_request_review_comment', pullRequestReviewComment],
  ['pull_request_review_thread', pullRequestReviewThread],
  ['push', push],
  ['release', release],
  ['repository', repository],
  ['repository_dispatch', repositoryDispatch],
  ['status', status],
]);

/** The webhooks that this app acts on and can subscribe to. `app.yml` subscribes to exactly these. */
export const WEBHOOK_NAMES: readonly string[] = [...readers.keys()].filter(
  // GitHub sends these to every App and rejects a subscription to them.
  (name) => name !== 'installation' && name !== 'installation_repositories',
);

function hasInstallation(payload: unknown): boolean {
  // A payload that is not an object passes here, so that the schema reports it.
  return (
    typeof payload !== 'object' ||
    payload === null ||
    ('installation' in payload && payload.installation != null)
  );
}

function ignored(because: string): Reading {
  return { kind: 'ignored', because };
}

function notRelevant(name: string, action: string): string {
  return `"${name}" webhooks with the action "${action}" do not matter here`;
}

/** zod's messages name types, never values. */
function unreadable(error: z.ZodError): Reading {
  const diagnostics = error.issues.slice(0, 3).map(({ path, message }) => {
    const field = path.length === 0 ? 'the payload' : path.join('.');
    return `${field}: ${message.replace(/^Invalid input: /, '')}`;
  });
  return { kind: 'unreadable', because: diagnostics.join('; ') };
}
