import type { State } from '../state.ts';
import { viewIssue, viewLabel } from '../views/issue.ts';
import { viewFullPull } from '../views/pull.ts';
import type { Account, Issue, Pull, Repository, StateReason } from '../world.ts';
import { isPullRequest } from '../world.ts';
import { emit } from './emit.ts';

/** Creates an issue or, with `pull`, a pull request; sends no webhook yet. */
export function addIssue(
  state: State,
  repository: Repository,
  input: { author: Account; title: string; body: string | null; pull?: Pull },
): Issue {
  const now = state.now();
  const issue: Issue = {
    id: state.nextId('issue'),
    number: repository.issues.size + 1,
    repository,
    author: input.author,
    title: input.title,
    body: input.body,
    state: 'open',
    labels: [],
    assignees: [],
    milestone: undefined,
    comments: [],
    createdAt: now,
    updatedAt: now,
    closedAt: undefined,
    closedBy: undefined,
    stateReason: null,
    pull: input.pull,
  };
  repository.issues.set(issue.number, issue);
  return issue;
}

export function openIssue(
  state: State,
  repository: Repository,
  author: Account,
  title: string,
  body: string | null,
): Issue {
  const issue = addIssue(state, repository, { author, title, body });
  announceIssue(state, issue, author, 'opened');
  return issue;
}

/** Sends `pull_request` or `issues`, whichever the issue is. */
export function announceIssue(
  state: State,
  issue: Issue,
  sender: Account,
  action: string,
  extra: object = {},
): void {
  const about = { repository: issue.repository, sender };
  if (isPullRequest(issue))
    emit(state, about, 'pull_request', {
      action,
      number: issue.number,
      ...extra,
      pull_request: viewFullPull(state, issue),
    });
  else emit(state, about, 'issues', { action, ...extra, issue: viewIssue(state, issue) });
}

/** Closes or reopens it; does nothing if it is in that state already. */
export function setIssueState(
  state: State,
  issue: Issue,
  by: Account,
  to: 'open' | 'closed',
  reason?: StateReason,
): void {
  if (issue.state === to) return;
  if (!isPullRequest(issue)) issue.stateReason = to === 'open' ? 'reopened' : (reason ?? 'completed');
  const now = state.now();
  issue.state = to;
  issue.updatedAt = now;
  issue.closedAt = to === 'closed' ? now : undefined;
  issue.closedBy = to === 'closed' ? by : undefined;
  if (isPullRequest(issue)) state.autoMerging.delete(issue);
  announceIssue(state, issue, by, to === 'closed' ? 'closed' : 'reopened');
}

export function addLabels(state: State, issue: Issue, by: Account, names: readonly string[]): void {
  for (const name of names) {
    const label = state.label(issue.repository, name);
    if (issue.labels.includes(label)) continue;
    issue.labels.push(label);
    issue.updatedAt = state.now();
    announceIssue(state, issue, by, 'labeled', { label: viewLabel(state, issue.repository, label) });
  }
}

/** @returns whether the issue had the label. */
export function removeLabel(state: State, issue: Issue, by: Account, name: string): boolean {
  const index = issue.labels.findIndex((label) => label.name.toLowerCase() === name.toLowerCase());
  const [label] = index < 0 ? [] : issue.labels.splice(index, 1);
  if (!label) return false;
  issue.updatedAt = state.now();
  announceIssue(state, issue, by, 'unlabeled', { label: viewLabel(state, issue.repository, label) });
  return true;
}
