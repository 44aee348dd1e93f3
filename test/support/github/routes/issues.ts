import { z } from 'zod';
import { invalid, notFound } from '../api-error.ts';
import { createComment, deleteComment, editComment } from '../operations/comments.ts';
import { addLabels, announceIssue, openIssue, removeLabel, setIssueState } from '../operations/issues.ts';
import { paginate } from '../pages.ts';
import { type Call, json, numberIn, type RepositoryCall, type Router } from '../router.ts';
import { viewComment, viewIssue, viewLabel, viewMilestone } from '../views/issue.ts';
import type { Comment, Issue } from '../world.ts';
import { pathOf } from './git.ts';
import { parse } from './input.ts';

/** An issue's comments and labels are those of its pull request: either permission is enough. */
const READ = ['issues:read', 'pull_requests:read'] as const;
const WRITE = ['issues:write', 'pull_requests:write'] as const;

const LONGEST_BODY = 65_536;
const LONGEST_TITLE = 256;

const LabelNames = z.array(
  z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]),
);

const CommentBody = z.object({ body: z.string() });
const NewIssue = z.object({
  title: z.string(),
  body: z.string().nullish(),
  labels: LabelNames.default([]),
  assignees: z.array(z.string()).default([]),
});
const IssueEdit = z.object({
  title: z.string().optional(),
  body: z.string().nullish(),
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.enum(['completed', 'not_planned', 'duplicate', 'reopened']).nullish(),
  milestone: z.int().nullish(),
});
const Labels = z.union([LabelNames, z.object({ labels: LabelNames })]);

/** Issues, and the comments and labels that pull requests share with them. */
export function issueRoutes(router: Router): void {
  router.repository('GET', '/issues', READ, (call) => {
    const wanted = call.query.get('state') ?? 'open';
    const labels = (call.query.get('labels') ?? '').split(',').filter((name) => name !== '');
    const since = Date.parse(call.query.get('since') ?? '1970-01-01T00:00:00Z');
    const issues = [...call.repository.issues.values()]
      .filter((issue) => issue.updatedAt.getTime() >= since)
      .filter((issue) => wanted === 'all' || issue.state === wanted)
      .filter((issue) => labels.every((name) => issue.labels.some((label) => label.name === name)));
    return paginate(call, pathOf(call, '/issues'), issues.toReversed(), (issue) =>
      viewIssue(call.state, issue),
    );
  });

  router.repository('POST', '/issues', 'issues:write', (call) => {
    const { title, body, labels, assignees } = parse(NewIssue, call.body);
    const { bot } = call.state.app;
    refuseLong('Issue', body);
    if ([...title].length > LONGEST_TITLE)
      throw invalid('Issue', 'title', `title is too long (maximum is ${LONGEST_TITLE} characters)`);
    const issue = openIssue(call.state, call.repository, bot, title, body ?? null);
    addLabels(call.state, issue, bot, labels);
    assign(call, issue, assignees);
    return json(viewIssue(call.state, issue), 201);
  });

  commentRoutes(router);

  router.repository('GET', '/issues/:number', READ, (call) => json(viewIssue(call.state, issueIn(call))));

  router.repository('PATCH', '/issues/:number', WRITE, (call) => {
    const issue = issueIn(call);
    const edit = parse(IssueEdit, call.body);
    const { bot } = call.state.app;
    const changes = {
      ...(edit.title === undefined ? {} : { title: { from: issue.title } }),
      ...(edit.body === undefined ? {} : { body: { from: issue.body } }),
    };
    if (edit.title !== undefined) issue.title = edit.title;
    if (edit.body !== undefined) {
      refuseLong('Issue', edit.body);
      issue.body = edit.body;
    }
    if (Object.keys(changes).length > 0) announceIssue(call.state, issue, bot, 'edited', { changes });
    if (edit.milestone !== undefined) {
      const { milestones } = call.repository;
      const milestone = milestones.find(({ number }) => number === edit.milestone);
      if (edit.milestone !== null && !milestone) throw invalid('Issue', 'milestone', 'is invalid');
      issue.milestone = milestone;
    }
    if (edit.state) setIssueState(call.state, issue, bot, edit.state, edit.state_reason ?? undefined);
    return json(viewIssue(call.state, issue));
  });

  labelRoutes(router);
  assigneeRoutes(router);

  router.repository('GET', '/milestones', READ, (call) => {
    const wanted = call.query.get('state') ?? 'open';
    const milestones = call.repository.milestones.filter(({ state }) => wanted === 'all' || state === wanted);
    return paginate(call, pathOf(call, '/milestones'), milestones, (milestone) =>
      viewMilestone(call.state, call.repository, milestone),
    );
  });
}

/** Who cannot write is left out silently: https://docs.github.com/en/rest/issues/assignees#add-assignees-to-an-issue */
function assign(call: RepositoryCall, issue: Issue, logins: readonly string[]): void {
  for (const login of logins) {
    const account = call.state.findAccount(login);
    if (!account || !isAssignable(call, login) || issue.assignees.includes(account)) continue;
    issue.assignees.push(account);
    issue.updatedAt = call.state.now();
  }
}

function isAssignable({ state, repository }: RepositoryCall, login: string): boolean {
  const account = state.findAccount(login);
  return (
    account !== undefined &&
    ['admin', 'maintain', 'write', 'triage'].includes(state.roleOf(repository, account) ?? '')
  );
}

const NewAssignees = z.object({ assignees: z.array(z.string()) });

function assigneeRoutes(router: Router): void {
  router.repository('GET', '/assignees/:login', READ, (call) => {
    if (!isAssignable(call, call.params.login ?? '')) throw notFound();
    return { status: 204 };
  });

  router.repository('POST', '/issues/:number/assignees', WRITE, (call) => {
    const issue = issueIn(call);
    assign(call, issue, parse(NewAssignees, call.body).assignees);
    return json(viewIssue(call.state, issue), 201);
  });
}

function commentRoutes(router: Router): void {
  router.repository('GET', '/issues/:number/comments', READ, (call) => {
    const since = Date.parse(call.query.get('since') ?? '1970-01-01T00:00:00Z');
    const comments = issueIn(call).comments.filter((comment) => comment.updatedAt.getTime() >= since);
    return paginate(call, pathOf(call, `/issues/${call.params.number}/comments`), comments, (comment) =>
      viewComment(call.state, comment),
    );
  });

  router.repository('POST', '/issues/:number/comments', WRITE, (call) => {
    const { body } = parse(CommentBody, call.body);
    if (body.trim() === '') throw invalid('IssueComment', 'body', 'body cannot be blank');
    refuseLong('IssueComment', body);
    const comment = createComment(call.state, issueIn(call), call.state.app.bot, body);
    return json(viewComment(call.state, comment), 201);
  });

  router.repository('GET', '/issues/comments/:id', READ, (call) =>
    json(viewComment(call.state, commentIn(call))),
  );

  router.repository('PATCH', '/issues/comments/:id', WRITE, (call) => {
    const comment = commentIn(call);
    const { body } = parse(CommentBody, call.body);
    refuseLong('IssueComment', body);
    editComment(call.state, comment, call.state.app.bot, body);
    return json(viewComment(call.state, comment));
  });

  router.repository('DELETE', '/issues/comments/:id', WRITE, (call) => {
    deleteComment(call.state, commentIn(call), call.state.app.bot);
    return { status: 204 };
  });
}

function labelRoutes(router: Router): void {
  const labelsOf = (call: RepositoryCall, issue: Issue) =>
    issue.labels.map((label) => viewLabel(call.state, call.repository, label));
  const wanted = (call: RepositoryCall): string[] => {
    const input = parse(Labels, call.body);
    return Array.isArray(input) ? input : input.labels;
  };

  router.repository('GET', '/issues/:number/labels', READ, (call) => {
    const path = pathOf(call, `/issues/${call.params.number}/labels`);
    return paginate(call, path, issueIn(call).labels, (label) =>
      viewLabel(call.state, call.repository, label),
    );
  });

  router.repository('POST', '/issues/:number/labels', WRITE, (call) => {
    const issue = issueIn(call);
    addLabels(call.state, issue, call.state.app.bot, wanted(call));
    return json(labelsOf(call, issue));
  });

  router.repository('PUT', '/issues/:number/labels', WRITE, (call) => {
    const issue = issueIn(call);
    const names = wanted(call);
    for (const { name } of [...issue.labels])
      if (!names.includes(name)) removeLabel(call.state, issue, call.state.app.bot, name);
    addLabels(call.state, issue, call.state.app.bot, names);
    return json(labelsOf(call, issue));
  });

  router.repository('DELETE', '/issues/:number/labels/*name', WRITE, (call) => {
    const issue = issueIn(call);
    if (!removeLabel(call.state, issue, call.state.app.bot, call.params.name ?? '')) throw notFound();
    return json(labelsOf(call, issue));
  });
}

/** GitHub counts characters here, not bytes. */
function refuseLong(resource: string, body: string | null | undefined): void {
  if (body && [...body].length > LONGEST_BODY)
    throw invalid(resource, 'body', `body is too long (maximum is ${LONGEST_BODY} characters)`);
}

function issueIn(call: RepositoryCall): Issue {
  const issue = call.repository.issues.get(numberIn(call, 'number'));
  if (!issue) throw notFound();
  return issue;
}

export function commentIn(call: Call & Pick<RepositoryCall, 'repository'>): Comment {
  const comment = call.state.findComment(call.repository, numberIn(call, 'id'));
  if (!comment) throw notFound();
  return comment;
}
