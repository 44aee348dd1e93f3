import { z } from 'zod';

/**
 * The fields that this app reads from GitHub's payloads. All others may change freely. The fields say only
 * what to read again from GitHub; no decision relies on them.
 */
const id = z.int();
const account = z.object({ login: z.string(), type: z.string() });
const shaField = z.string().min(1);

export const envelope = z.object({
  installation: z.object({ id }),
  repository: z.object({ id, name: z.string(), owner: z.object({ login: z.string() }) }),
});

export const installationFields = z.object({
  action: z.string(),
  installation: z.object({ id }),
});

export const installationRepositoriesFields = z.object({
  action: z.string(),
  installation: z.object({ id }),
  repositories_removed: z.array(z.object({ id, full_name: z.string() })),
});

export const repositoryFields = z.object({ action: z.string() });

const app = z.object({ id }).nullish();
const sender = account.nullish();
const withDefaultBranch = z.object({ default_branch: z.string().optional() });

const head = z.object({ sha: shaField }).optional();

export const repositoryDispatchFields = z.object({
  action: z.string().max(100),
  client_payload: z.record(z.string(), z.json()).nullish(),
  sender,
});

export const pullRequestFields = z.object({
  action: z.string(),
  pull_request: z.object({
    number: id,
    merged: z.boolean().nullish(),
    updated_at: z.string().optional(),
    base: z.object({ ref: z.string() }).optional(),
    head,
  }),
  label: z.object({ name: z.string() }).nullish(),
  sender,
  changes: z.record(z.string(), z.unknown()).nullish(),
  /** Why it left the merge queue. */
  reason: z.string().nullish(),
});

export const mergeGroupFields = z.object({
  action: z.string(),
  reason: z.string().nullish(),
  merge_group: z.object({ head_sha: shaField, base_ref: z.string().min(1) }),
});

export const pullRequestReviewFields = z.object({
  action: z.string(),
  pull_request: z.object({ number: id, base: z.object({ ref: z.string() }).optional(), head }),
  review: z.object({ id, state: z.string(), user: account.nullish() }).nullish(),
});

export const pullRequestReviewThreadFields = z.object({
  action: z.string(),
  pull_request: z.object({ number: id }),
});

/** The pull requests that offer a commit. The list can include some of other repositories. */
const pullRequests = z.array(z.object({ number: id, base: z.object({ repo: z.object({ id }) }) })).nullish();

export const checkRunFields = z.object({
  action: z.string(),
  check_run: z.object({
    id: id.optional(),
    name: z.string().optional(),
    status: z.string().nullish(),
    conclusion: z.string().nullish(),
    check_suite: z.object({ head_branch: z.string().nullish() }).nullish(),
    head_sha: shaField,
    external_id: z.string().nullish(),
    details_url: z.string().nullish(),
    app,
    pull_requests: pullRequests,
  }),
  requested_action: z.object({ identifier: z.string() }).nullish(),
  repository: withDefaultBranch,
  sender,
});

export const checkSuiteFields = z.object({
  action: z.string(),
  check_suite: z.object({ head_sha: shaField, app, pull_requests: pullRequests }),
  sender,
});

export const statusFields = z.object({
  sha: shaField,
  id: id.optional(),
  context: z.string().optional(),
  state: z.string().optional(),
  /** The branches whose head the commit is: https://docs.github.com/en/webhooks/webhook-events-and-payloads#status */
  branches: z.array(z.object({ name: z.string() })).nullish(),
  repository: withDefaultBranch,
});

export const releaseFields = z.object({
  action: z.string(),
  release: z.object({
    id,
    tag_name: z.string(),
    name: z.string().nullish(),
    body: z.string().nullish(),
    prerelease: z.boolean(),
    author: account.nullish(),
  }),
});

export const issueCommentFields = z.object({
  action: z.string(),
  issue: z.object({ number: id, pull_request: z.unknown().optional() }),
  comment: z.object({ id, created_at: z.string(), body: z.string().nullish(), user: account.nullish() }),
  sender,
});

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request_review_comment */
export const pullRequestReviewCommentFields = z.object({
  action: z.string(),
  pull_request: z.object({ number: id }),
  comment: z.object({
    id,
    body: z.string().nullish(),
    user: account.nullish(),
    /** The first comment of the conversation; missing in that one itself. */
    in_reply_to_id: id.nullish(),
  }),
});

export const issuesFields = z.object({
  action: z.string(),
  issue: z.object({
    number: id,
    title: z.string(),
    body: z.string().nullish(),
    author_association: z.string().nullish(),
    user: account.nullish(),
    labels: z.array(z.object({ name: z.string() })).nullish(),
    performed_via_github_app: app,
    updated_at: z.string().optional(),
  }),
  label: z.object({ name: z.string() }).nullish(),
  sender,
});

const paths = z.array(z.string()).nullish();

export const pushFields = z.object({
  ref: z.string(),
  before: z.string(),
  forced: z.boolean(),
  after: z.string(),
  repository: z.object({ default_branch: z.string() }),
  deleted: z.boolean(),
  pusher: z.object({ name: z.string() }),
  commits: z.array(z.object({ added: paths, modified: paths, removed: paths })),
});
