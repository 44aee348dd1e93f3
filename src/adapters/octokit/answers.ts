import { z } from 'zod';
import type { Review } from '../../domain/policy/facts/reviews.ts';
import type { Commit, Person, TreeEntry } from '../../ports/github.ts';
import { accountSchema, personOrGhost } from './account.ts';

/**
 * The parts of GitHub's responses that are used. GitHub adds fields and values at any time, so unknown ones
 * are ignored. A missing field that a decision depends on makes the whole response invalid (I5).
 */

export const dateOrNull = z.iso
  .datetime({ offset: true })
  .nullish()
  .transform((text) => (text ? new Date(text) : null));

/**
 * For writes whose response is not needed. A page of HTML, with any status, is refused: it does not show that
 * the write happened.
 */
export const anythingSchema = z.record(z.string(), z.unknown()).or(z.array(z.unknown()));

export const repositorySchema = z
  .object({
    id: z.int(),
    default_branch: z.string(),
    allow_squash_merge: z.boolean().nullish(),
    allow_merge_commit: z.boolean().nullish(),
    allow_rebase_merge: z.boolean().nullish(),
  })
  .transform(({ id, default_branch: defaultBranch, ...allows }) => {
    const methods = [
      ['squash', allows.allow_squash_merge],
      ['merge', allows.allow_merge_commit],
      ['rebase', allows.allow_rebase_merge],
    ] as const;
    const isShown = methods.every(([, allowed]) => typeof allowed === 'boolean');
    const mergeMethods = methods.flatMap(([method, allowed]) => (allowed ? [method] : []));
    return { id, defaultBranch, ...(isShown && { mergeMethods }) };
  });

export const pullRequestSchema = z
  .object({
    number: z.int(),
    title: z.string(),
    body: z.string().nullish(),
    user: personOrGhost,
    state: z.enum(['open', 'closed']),
    closed_at: z.string().nullish(),
    merged: z.boolean(),
    merge_commit_sha: z.string().nullish(),
    mergeable: z.boolean().nullish(),
    rebaseable: z.boolean().nullish(),
    mergeable_state: z.string().nullish(),
    merged_by: accountSchema.nullish(),
    draft: z.boolean(),
    head: z.object({
      sha: z.string(),
      ref: z.string(),
      repo: z.object({ id: z.int(), full_name: z.string() }).nullable(),
    }),
    base: z.object({
      sha: z.string(),
      ref: z.string(),
      repo: z.object({ id: z.int(), default_branch: z.string() }),
    }),
    labels: z.array(z.object({ name: z.string() })),
    changed_files: z.int(),
    author_association: z.string(),
    updated_at: z.string(),
  })
  .transform((pull) => ({
    number: pull.number,
    repositoryId: pull.base.repo.id,
    defaultBranch: pull.base.repo.default_branch,
    title: pull.title,
    body: pull.body ?? '',
    author: pull.user,
    state: pull.state,
    closedAt: pull.closed_at == null ? null : new Date(pull.closed_at),
    merged: pull.merged,
    mergeCommitSha: pull.merge_commit_sha ?? null,
    mergeable: pull.mergeable ?? null,
    rebaseable: pull.rebaseable ?? null,
    mergeableState: pull.mergeable_state ?? null,
    mergedBy: pull.merged_by ?? null,
    draft: pull.draft,
    headSha: pull.head.sha,
    headRef: pull.head.ref,
    headRepository: pull.head.repo?.full_name ?? null,
    headRepositoryId: pull.head.repo?.id ?? null,
    baseRef: pull.base.ref,
    baseSha: pull.base.sha,
    labels: pull.labels.map(({ name }) => name),
    changedFiles: pull.changed_files,
    authorAssociation: pull.author_association,
    updatedAt: new Date(pull.updated_at),
  }));

export const listedPullRequestsSchema = z.array(
  z
    .object({
      number: z.int(),
      state: z.enum(['open', 'closed']),
      merged_at: z.string().nullable(),
      updated_at: z.iso.datetime({ offset: true }),
    })
    .transform(({ number, state, merged_at, updated_at }) => ({
      number,
      state,
      merged: merged_at !== null,
      updatedAt: new Date(updated_at),
    })),
);

export const openPullRequestsSchema = z.array(
  z
    .object({
      number: z.int(),
      title: z.string(),
      user: personOrGhost,
      // Absent where the plan has no drafts.
      draft: z.boolean().default(false),
      labels: z.array(z.object({ name: z.string() })),
      updated_at: z.iso.datetime({ offset: true }),
    })
    .transform(({ number, title, user, draft, labels, updated_at }) => ({
      number,
      title,
      author: user,
      draft,
      labels: labels.map(({ name }) => name),
      updatedAt: new Date(updated_at),
    })),
);

export const installedRepositoriesSchema = z
  .object({
    repositories: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        owner: z.object({ login: z.string() }),
        default_branch: z.string(),
        archived: z.boolean().default(false),
        disabled: z.boolean().default(false),
        // Internal repositories of an enterprise are private, too.
        private: z.boolean().default(true),
      }),
    ),
  })
  .transform(({ repositories }) =>
    repositories.map(({ id, name, owner, default_branch, archived, disabled, private: isPrivate }) => ({
      id,
      owner: owner.login,
      name,
      defaultBranch: default_branch,
      readOnly: archived || disabled,
      isPublic: !isPrivate,
    })),
  );

export const installationSchema = z.object({ id: z.int() });

/** An enterprise has a slug instead of a login. */
const account = z.object({ login: z.string().optional(), slug: z.string().optional() });
const nameOf = (owner: z.infer<typeof account> | null | undefined) =>
  owner?.login ?? owner?.slug ?? 'an unknown account';

const grants = {
  permissions: z.record(z.string(), z.string()).default({}),
  events: z.array(z.string()).default([]),
};

/** https://docs.github.com/en/rest/apps/apps#get-the-authenticated-app */
export const appSchema = z
  .object({ name: z.string(), owner: account.nullish(), html_url: z.string(), ...grants })
  .transform(({ owner, html_url: url, ...app }) => ({ ...app, owner: nameOf(owner), url }));

/** https://docs.github.com/en/rest/apps/webhooks#get-a-webhook-configuration-for-an-app */
export const webhookSchema = z
  .object({
    url: z.string().nullish(),
    content_type: z.string().nullish(),
    // GitHub shows stars instead of it.
    secret: z.string().nullish(),
    insecure_ssl: z.union([z.string(), z.number()]).nullish(),
  })
  .transform(({ url, content_type, secret, insecure_ssl }) => ({
    url: url || undefined,
    contentType: content_type ?? undefined,
    hasSecret: Boolean(secret),
    checksTls: Number(insecure_ssl ?? 0) === 0,
  }));

export const installationsSchema = z.array(
  z
    .object({ id: z.int(), account: account.nullish(), suspended_at: z.string().nullish(), ...grants })
    .transform(({ id, account, suspended_at, permissions, events }) => ({
      id,
      owner: nameOf(account),
      suspended: suspended_at != null,
      permissions,
      events,
    })),
);

export const deliveryAttemptsSchema = z.array(
  z
    .object({
      id: z.int(),
      guid: z.string(),
      delivered_at: z.iso.datetime({ offset: true }),
      status_code: z.int(),
    })
    .transform(({ id, guid, delivered_at, status_code }) => ({
      id,
      guid,
      deliveredAt: new Date(delivered_at),
      statusCode: status_code,
    })),
);

export const filesSchema = z.array(
  z
    .object({
      filename: z.string(),
      previous_filename: z.string().optional(),
      status: z.enum(['added', 'modified', 'removed', 'renamed', 'copied', 'changed', 'unchanged']),
      patch: z.string().optional(),
      sha: z.string().nullable(),
      additions: z.int(),
      deletions: z.int(),
      contents_url: z.string().nullish(),
    })
    .transform(({ filename, previous_filename, status, patch, sha, additions, deletions, contents_url }) => ({
      path: filename,
      ...(previous_filename !== undefined && { previousPath: previous_filename }),
      status,
      ...(patch !== undefined && { patch }),
      blobSha: sha,
      additions,
      deletions,
      // The list names no commit, but the URL of each file's contents does.
      headSha: /[?&]ref=([0-9a-f]{40,64})$/.exec(contents_url ?? '')?.[1] ?? null,
    })),
);

/** GitHub returns `null` for an unknown address, and `{}` in some old commits. */
const contributor = accountSchema
  .or(z.strictObject({}).transform(() => null))
  .nullish()
  .transform((account): Person | null => account ?? null);
const signature = z.object({ email: z.string().nullish() }).nullish();

export const commitsSchema = z.array(
  z
    .object({
      sha: z.string(),
      commit: z.object({
        message: z.string(),
        author: signature,
        committer: signature,
        // Without GitHub's confirmation, a commit is not verified.
        verification: z.object({ verified: z.boolean() }).nullish(),
      }),
      author: contributor,
      committer: contributor,
    })
    .transform(
      ({ sha, commit, author, committer }): Commit => ({
        sha,
        message: commit.message,
        author,
        committer,
        authorEmail: commit.author?.email ?? null,
        committerEmail: commit.committer?.email ?? null,
        verified: commit.verification?.verified ?? false,
      }),
    ),
);

/** https://docs.github.com/en/rest/repos/repos#list-repository-activities */
export const pushesSchema = z
  .array(z.object({ before: z.string(), after: z.string(), actor: accountSchema.nullable() }))
  .transform((activities) =>
    activities.flatMap(({ before, after, actor }) => (actor ? [{ before, after, actorId: actor.id }] : [])),
  );

export const blobSchema = z.object({
  content: z.string(),
  encoding: z.literal('base64'),
  size: z.int(),
});

const contentSchema = z
  .object({ path: z.string(), type: z.string(), sha: z.string(), size: z.int() })
  .transform(
    ({ path, type, sha, size }): TreeEntry => ({
      path,
      type: type === 'file' || type === 'dir' ? type : 'other',
      sha,
      size,
    }),
  );

/** `undefined` if it is not a file. GitHub shows a symbolic link to a file as that file. */
export const fileSchema = contentSchema
  .transform((entry) => (entry.type === 'file' ? entry : undefined))
  .or(z.array(z.unknown()).transform(() => undefined))
  .or(z.looseObject({ type: z.string() }).transform(() => undefined));

export const REVIEW_STATES: Readonly<Record<string, Review['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
  PENDING: 'pending',
};

export const reviewsSchema = z.array(
  z
    .object({
      id: z.int(),
      user: personOrGhost,
      state: z.string(),
      commit_id: z.string().nullable(),
      submitted_at: dateOrNull,
    })
    .transform(
      ({ id, user, state, commit_id, submitted_at }): Review => ({
        id,
        person: user,
        state: REVIEW_STATES[state] ?? 'unknown',
        commitSha: commit_id,
        submittedAt: submitted_at,
      }),
    ),
);

/** `undefined` if it is not a folder: GitHub returns an object for a file, a link or a submodule. */
export const folderSchema = z
  .array(contentSchema)
  .or(z.looseObject({ type: z.string() }).transform(() => undefined));

export const treeSchema = z.object({
  truncated: z.boolean(),
  tree: z.array(
    z.object({
      path: z.string(),
      mode: z.string(),
      type: z.string(),
      sha: z.string(),
      size: z.int().optional(),
    }),
  ),
});

export const issueStateSchema = z.object({ state: z.enum(['open', 'closed']) });

export const createdReviewSchema = z.object({ id: z.int() });
export const createdIssueSchema = z.object({ number: z.int() });

export const issuesSchema = z.array(
  z
    .object({
      number: z.int(),
      body: z.string().nullish(),
      user: personOrGhost,
      closed_at: z.string().nullish(),
      state_reason: z.string().nullish(),
      performed_via_github_app: z.object({ id: z.int() }).nullish(),
      pull_request: z.unknown().optional(),
    })
    .transform(
      ({ number, body, user, closed_at, state_reason, performed_via_github_app: app, pull_request }) => ({
        number,
        body: body ?? '',
        author: user,
        viaAppId: app?.id ?? null,
        closedAt: closed_at ?? null,
        reason: state_reason ?? null,
        isPullRequest: pull_request !== undefined,
      }),
    ),
);

/** Of a review, or of a comment in one. Neither names the app that it was written through. */
export const reviewTextsSchema = z.array(
  z
    .object({ id: z.int(), user: personOrGhost, body: z.string().nullish() })
    .transform(({ id, user, body }) => ({ id, author: user, viaAppId: null, body: body ?? '' })),
);

export const reviewCommentsSchema = z.array(
  z
    .object({ id: z.int(), user: personOrGhost, path: z.string(), body: z.string().nullish() })
    .transform(({ id, user, path, body }) => ({ id, author: user, viaAppId: null, path, body: body ?? '' })),
);

/** https://docs.github.com/en/rest/pulls/comments#list-review-comments-on-a-pull-request */
export const threadCommentsSchema = z.array(
  z
    .object({
      id: z.int(),
      user: personOrGhost,
      path: z.string(),
      body: z.string().nullish(),
      diff_hunk: z.string().nullish(),
      original_commit_id: z.string(),
      line: z.int().nullish(),
      original_line: z.int().nullish(),
      in_reply_to_id: z.int().nullish(),
    })
    .transform(
      ({ id, user, path, body, diff_hunk, original_commit_id, line, original_line, in_reply_to_id }) => ({
        id,
        author: user,
        viaAppId: null,
        path,
        body: body ?? '',
        hunk: diff_hunk ?? '',
        commitSha: original_commit_id,
        line: line ?? original_line ?? null,
        thread: in_reply_to_id ?? id,
      }),
    ),
);

export const milestonesSchema = z.array(z.object({ number: z.int(), title: z.string() }));

/** Keeps the account only if it is a bot's, because this app is one. */
export const createdCommentSchema = z
  .object({ id: z.int(), node_id: z.string().nullish(), user: accountSchema.nullish().catch(null) })
  .transform(({ id, node_id, user }) => ({
    id,
    nodeId: node_id ?? undefined,
    authorId: user?.type === 'Bot' ? user.id : undefined,
  }));
export const createdCheckRunSchema = z
  .object({ id: z.int(), node_id: z.string().nullish(), html_url: z.string().nullish() })
  .transform(({ id, node_id, html_url }) => ({
    id,
    nodeId: node_id ?? undefined,
    url: html_url ?? undefined,
  }));

export const branchSchema = z.object({ name: z.string(), commit: z.object({ sha: z.string() }) });

/** The counts by content, without the total and the URL in the same object; empty if GitHub shows none. */
const reactionCounts = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((rollup): Readonly<Record<string, number>> => {
    const counts = Object.entries(rollup ?? {}).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && entry[0] !== 'total_count',
    );
    return Object.fromEntries(counts);
  });

export const commentSchema = z
  .object({
    id: z.int(),
    node_id: z.string().nullish(),
    body: z.string().nullish(),
    user: personOrGhost,
    performed_via_github_app: z.object({ id: z.int() }).nullish(),
    reactions: reactionCounts,
  })
  .transform(({ id, node_id, body, user, performed_via_github_app: app, reactions }) => ({
    id,
    nodeId: node_id ?? null,
    body: body ?? '',
    author: user,
    viaAppId: app?.id ?? null,
    reactions,
  }));

export const commentsSchema = z.array(commentSchema);

export const reactionsSchema = z.array(
  z
    .object({
      id: z.int(),
      user: personOrGhost,
      content: z.string(),
      created_at: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
    })
    .transform(({ id, user, content, created_at }) => ({ id, person: user, content, createdAt: created_at })),
);

export const mergedSchema = z.object({ merged: z.literal(true), sha: z.string() });

export const tokenSchema = z.object({ token: z.string().min(1) });
