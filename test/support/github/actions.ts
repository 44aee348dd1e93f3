import type { FileInput } from './git/objects.ts';
import { disableAutoMerge, enableAutoMerge } from './operations/auto-merge.ts';
import { moveBranch, writeCommit } from './operations/branches.ts';
import {
  type CheckRunChange,
  createCheckRun,
  requestAction,
  rerequestCheckRun,
  rerequestSuite,
  setStatus,
  updateCheckRun,
} from './operations/checks.ts';
import { createComment, deleteComment, editComment, react, unreact } from './operations/comments.ts';
import { emit } from './operations/emit.ts';
import { followUp } from './operations/follow-up.ts';
import { addLabels, openIssue, removeLabel, setIssueState } from './operations/issues.ts';
import { type ButtonPress, type ButtonResult, pressMergeButton } from './operations/merge.ts';
import {
  addReview,
  dismissReview,
  editPullRequest,
  type OpenPullRequest,
  openPullRequest,
  type PullRequestEdit,
  reopenPullRequest,
  replyInConversation,
  resolveConversation,
  setDraft,
} from './operations/pulls.ts';
import { dequeue, enqueue } from './operations/queue.ts';
import type { State } from './state.ts';
import type {
  CheckConclusion,
  CheckRun,
  CheckStatus,
  Comment,
  JobStep,
  MergeMethod,
  ReactionContent,
  Repository,
  Review,
  StatusState,
} from './world.ts';

interface Push {
  repo: string;
  /** Created from the default branch if it does not exist. */
  branch: string;
  author: string;
  /** What the new commit changes; an empty commit by default. */
  files?: Record<string, FileInput | null>;
  message?: string;
  /** Force-pushes the branch to this existing commit, and `files` on top of it if there are any. */
  forceTo?: string;
  coAuthors?: readonly string[];
  /** Who pushes; the author by default. */
  pusher?: string;
  writtenAs?: string;
}

interface LeftArtifact {
  name: string;
  headSha: string;
  /** Where its archive is: a server of the test. */
  archiveUrl: string;
  runId?: number;
  expired?: boolean;
}

export interface CheckReport {
  name: string;
  status: CheckStatus;
  conclusion?: CheckConclusion;
  /** Slug of the other app that reports; `ci` by default. */
  app?: string;
  startedAt?: Date;
  completedAt?: Date;
  detailsUrl?: string;
  output?: CheckRunChange['output'];
  /** What a job of the app `GitHub Actions` did. */
  steps?: readonly JobStep[];
  /** The app has more jobs to run, which have no check run yet. */
  goesOn?: boolean;
}

/**
 * What people and other apps do on GitHub. Each promise resolves when the state is changed and the app has answered the webhooks,
 * or when they were recorded as failed or held. So a webhook receiver must not await one before it answers. Repositories are
 * `owner/name`; an unknown login becomes a new person.
 */
export interface Actions {
  openPullRequest(input: OpenPullRequest): Promise<{ number: number; headSha: string }>;
  /** @returns the branch's new commit. */
  push(input: Push): Promise<string>;
  editPullRequest(repo: string, number: number, actor: string, edit: PullRequestEdit): Promise<void>;
  closePullRequest(repo: string, number: number, actor: string): Promise<void>;
  reopenPullRequest(repo: string, number: number, actor: string): Promise<void>;
  convertToDraft(repo: string, number: number, actor: string): Promise<void>;
  /** A workflow that the app has started ends. */
  endWorkflow(repo: string, id: number, conclusion: CheckConclusion): void;
  /** Adds an artifact to a workflow run; GitHub sends no webhook for it. */
  leaveArtifact(repo: string, left: LeftArtifact): void;
  readyForReview(repo: string, number: number, actor: string): Promise<void>;
  /** A person presses the merge button, and it must succeed; the method is `merge` by default. @returns the merge commit. */
  mergePullRequest(repo: string, number: number, actor: string, method?: MergeMethod): Promise<string>;
  /** A person presses the merge button. @returns GitHub's answer, whatever it is. */
  pressMergeButton(repo: string, number: number, actor: string, press?: ButtonPress): Promise<ButtonResult>;
  /** A person asks GitHub to merge as soon as everything that is required is satisfied. Rejects with GitHub's message. */
  enableAutoMerge(repo: string, number: number, actor: string, method?: MergeMethod): Promise<void>;
  disableAutoMerge(repo: string, number: number, actor: string): Promise<void>;
  /** A person puts it into the merge queue of its base branch. Rejects with GitHub's message. */
  enqueue(repo: string, number: number, actor: string, options?: { jump?: boolean }): Promise<void>;
  dequeue(repo: string, number: number, actor: string): Promise<void>;
  addLabel(repo: string, number: number, actor: string, name: string): Promise<void>;
  removeLabel(repo: string, number: number, actor: string, name: string): Promise<void>;
  /** @returns the comment's id. */
  comment(repo: string, number: number, author: string, body: string): Promise<number>;
  editComment(repo: string, id: number, actor: string, body: string): Promise<void>;
  deleteComment(repo: string, id: number, actor: string): Promise<void>;
  /** Sends no webhook, as on GitHub. @returns the reaction's id. */
  react(repo: string, commentId: number, login: string, content: ReactionContent): Promise<number>;
  unreact(repo: string, commentId: number, reactionId: number): Promise<void>;
  /** @returns the review's id. */
  review(repo: string, number: number, login: string, state: Review['state'], body?: string): Promise<number>;
  dismissReview(repo: string, number: number, id: number, actor: string): Promise<void>;
  /** Somebody begins a conversation about the first line of a file. @returns its id. */
  beginConversation(repo: string, number: number, login: string, path: string): Promise<number>;
  /** Somebody replies in a conversation. @returns the reply's id */
  replyInConversation(
    repo: string,
    number: number,
    first: number,
    login: string,
    body: string,
  ): Promise<number>;
  /** Somebody marks a conversation as resolved, or with `false` as unresolved again. */
  resolveConversation(
    repo: string,
    number: number,
    id: number,
    actor: string,
    isResolved?: boolean,
  ): Promise<void>;
  /** GitHub verifies the commit's signature. */
  vouchFor(sha: string): void;
  /** Another app reports a check. The same name, app and commit update the same run. @returns the run's id. */
  reportCheck(repo: string, sha: string, report: CheckReport): Promise<number>;
  setStatus(
    repo: string,
    sha: string,
    status: { context: string; state: StatusState; description?: string; targetUrl?: string },
  ): Promise<void>;
  /** @returns the issue's number. */
  createIssue(repo: string, author: string, title: string, body?: string): Promise<number>;
  closeIssue(
    repo: string,
    number: number,
    actor: string,
    reason?: 'completed' | 'not_planned',
  ): Promise<void>;
  /** @returns the milestone's number. */
  createMilestone(repo: string, title: string, state?: 'open' | 'closed'): number;
  renameRepository(repo: string, name: string): Promise<void>;
  deleteRepository(repo: string): Promise<void>;
  archiveRepository(repo: string): Promise<void>;
  unarchiveRepository(repo: string): Promise<void>;
  /** Presses one of the buttons on a check run of the app. */
  clickAction(repo: string, checkRunId: number, actor: string, identifier: string): Promise<void>;
  rerequestCheck(repo: string, checkRunId: number, actor: string): Promise<void>;
  /** The same for all checks that are in one suite with the run. */
  rerequestAllChecks(repo: string, checkRunId: number, actor: string): Promise<void>;
}

export function createActions(state: State): Actions {
  const act = async <T>(change: () => T): Promise<T> => {
    const result = change();
    followUp(state);
    await state.webhooks.flush();
    return result;
  };
  const pull = (repo: string, number: number) => state.pullRequest(state.repository(repo), number);

  return {
    openPullRequest: (input) =>
      act(() => {
        const pr = openPullRequest(state, input);
        return { number: pr.number, headSha: pr.pull.head.sha };
      }),
    push: (input) => act(() => push(state, input)),
    editPullRequest: (repo, number, actor, edit) =>
      act(() => editPullRequest(state, pull(repo, number), state.account(actor), edit)),
    closePullRequest: (repo, number, actor) =>
      act(() => setIssueState(state, pull(repo, number), state.account(actor), 'closed')),
    reopenPullRequest: (repo, number, actor) =>
      act(() => reopenPullRequest(state, pull(repo, number), state.account(actor))),
    endWorkflow(repo, id, conclusion) {
      const run = state.repository(repo).startedWorkflows.find((one) => one.id === id);
      if (!run) throw new Error(`There is no workflow run ${id}.`);
      run.conclusion = conclusion;
    },
    leaveArtifact(repo, { name, headSha, archiveUrl, runId = 1, expired = false }) {
      const { workflowArtifacts } = state.repository(repo);
      const id = workflowArtifacts.length + 1;
      workflowArtifacts.push({ id, name, headSha, archiveUrl, runId, expired, createdAt: state.now() });
    },
    convertToDraft: (repo, number, actor) =>
      act(() => setDraft(state, pull(repo, number), state.account(actor), true)),
    readyForReview: (repo, number, actor) =>
      act(() => setDraft(state, pull(repo, number), state.account(actor), false)),
    mergePullRequest: (repo, number, actor, method = 'merge') =>
      act(() => {
        const pressed = pressMergeButton(state, pull(repo, number), state.account(actor), { method });
        if (pressed.kind === 'merged') return pressed.sha;
        throw new Error(`${actor} cannot merge ${repo}#${number}: ${pressed.message}`);
      }),
    pressMergeButton: (repo, number, actor, press = {}) =>
      act(() => pressMergeButton(state, pull(repo, number), state.account(actor), press)),
    enableAutoMerge: (repo, number, actor, method = 'merge') =>
      act(() => enableAutoMerge(state, pull(repo, number), state.account(actor), method)),
    disableAutoMerge: (repo, number, actor) =>
      act(() => disableAutoMerge(state, pull(repo, number), state.account(actor), 'Disabled by a person')),
    enqueue: (repo, number, actor, options = {}) =>
      act(() => void enqueue(state, pull(repo, number), state.account(actor), options)),
    dequeue: (repo, number, actor) =>
      act(() => void dequeue(state, pull(repo, number), state.account(actor))),
    addLabel: (repo, number, actor, name) =>
      act(() => addLabels(state, state.issue(state.repository(repo), number), state.account(actor), [name])),
    removeLabel: (repo, number, actor, name) =>
      act(() => {
        removeLabel(state, state.issue(state.repository(repo), number), state.account(actor), name);
      }),
    comment: (repo, number, author, body) =>
      act(
        () =>
          createComment(state, state.issue(state.repository(repo), number), state.account(author), body).id,
      ),
    editComment: (repo, id, actor, body) =>
      act(() => editComment(state, commentAt(state, repo, id), state.account(actor), body)),
    deleteComment: (repo, id, actor) =>
      act(() => deleteComment(state, commentAt(state, repo, id), state.account(actor))),
    react: (repo, commentId, login, content) =>
      act(() => react(state, commentAt(state, repo, commentId), state.account(login), content).reaction.id),
    unreact: (repo, commentId, reactionId) =>
      act(() => {
        if (!unreact(commentAt(state, repo, commentId), reactionId))
          throw new Error(`Comment ${commentId} has no reaction ${reactionId}.`);
      }),
    review: (repo, number, login, verdict, body = '') =>
      act(() => addReview(state, pull(repo, number), state.account(login), verdict, body).id),
    dismissReview: (repo, number, id, actor) =>
      act(() => dismissReview(state, pull(repo, number), id, state.account(actor))),
    beginConversation: (repo, number, login, path) =>
      act(() => {
        const comment = {
          id: state.nextId('comment'),
          path,
          line: 1,
          side: 'RIGHT',
          startLine: null,
          hunk: '@@ -0,0 +1 @@\n+the line',
          body: 'Why?',
          isResolved: false,
        } as const;
        addReview(state, pull(repo, number), state.account(login), 'COMMENTED', '', [comment]);
        return comment.id;
      }),
    replyInConversation: (repo, number, first, login, body) =>
      act(() => {
        const id = replyInConversation(state, pull(repo, number), first, state.account(login), body);
        if (id === undefined) throw new Error(`#${number} has no conversation ${first}.`);
        return id;
      }),
    resolveConversation: (repo, number, id, actor, isResolved = true) =>
      act(() => resolveConversation(state, pull(repo, number), id, state.account(actor), isResolved)),
    vouchFor: (sha) => {
      state.verified.add(sha);
    },
    reportCheck: (repo, sha, report) => act(() => reportCheck(state, state.repository(repo), sha, report)),
    setStatus: (repo, sha, status) =>
      act(() => {
        setStatus(state, state.repository(repo), {
          ...status,
          sha,
          creator: state.account('ci[bot]', 'Bot'),
        });
      }),
    createIssue: (repo, author, title, body) =>
      act(() => openIssue(state, state.repository(repo), state.account(author), title, body ?? null).number),
    closeIssue: (repo, number, actor, reason) =>
      act(() =>
        setIssueState(
          state,
          state.issue(state.repository(repo), number),
          state.account(actor),
          'closed',
          reason,
        ),
      ),
    createMilestone(repo, title, standing = 'open') {
      const { milestones } = state.repository(repo);
      const number = milestones.length + 1;
      milestones.push({ id: state.nextId('milestone'), number, title, state: standing });
      return number;
    },
    renameRepository: (repo, name) =>
      act(() => {
        const repository = state.repository(repo);
        const from = repository.name;
        state.rename(repository, name);
        emit(state, { repository, sender: repository.owner }, 'repository', {
          action: 'renamed',
          changes: { repository: { name: { from } } },
        });
      }),
    archiveRepository: (repo) => act(() => setArchived(state, repo, true)),
    unarchiveRepository: (repo) => act(() => setArchived(state, repo, false)),
    deleteRepository: (repo) =>
      act(() => {
        const repository = state.repository(repo);
        emit(state, { repository, sender: repository.owner }, 'repository', { action: 'deleted' });
        state.remove(repository);
      }),
    clickAction: (repo, checkRunId, actor, identifier) =>
      act(() => requestAction(state, runAt(state, repo, checkRunId), state.account(actor), identifier)),
    rerequestCheck: (repo, checkRunId, actor) =>
      act(() => rerequestCheckRun(state, runAt(state, repo, checkRunId), state.account(actor))),
    rerequestAllChecks: (repo, checkRunId, actor) =>
      act(() => rerequestSuite(state, runAt(state, repo, checkRunId), state.account(actor))),
  };
}

function setArchived(state: State, repo: string, archived: boolean): void {
  const repository = state.repository(repo);
  repository.archived = archived;
  const action = archived ? 'archived' : 'unarchived';
  emit(state, { repository, sender: repository.owner }, 'repository', { action });
}

function push(state: State, input: Push): string {
  const repository = state.repository(input.repo);
  const author = state.account(input.author);
  const parent =
    input.forceTo ??
    repository.branches.get(input.branch) ??
    repository.branches.get(repository.defaultBranch) ??
    '';
  const sha =
    input.forceTo !== undefined && input.files === undefined
      ? repository.git.commitAt(input.forceTo).sha
      : writeCommit(state, {
          repository,
          parent,
          author,
          message: input.message ?? `Update ${Object.keys(input.files ?? {}).join(', ') || 'nothing'}`,
          coAuthors: input.coAuthors,
          writtenAs: input.writtenAs,
          files: input.files ?? {},
        }).sha;
  moveBranch(
    state,
    repository,
    input.branch,
    sha,
    input.pusher === undefined ? author : state.account(input.pusher),
  );
  return sha;
}

function reportCheck(state: State, repository: Repository, sha: string, report: CheckReport): number {
  const app = state.addApp(report.app ?? 'ci');
  const { name, app: _slug, ...told } = report;
  const change = { goesOn: false, ...told };
  // A mistyped commit throws here instead of making a suite that no pull request shows.
  repository.git.commitAt(sha);
  const known = repository.checkSuites
    .find((suite) => suite.app === app && suite.headSha === sha)
    ?.runs.findLast((run) => run.name === name);
  // A rerun check is a new check run: a completed one never becomes queued again.
  const again = known?.status === 'completed' && report.status !== 'completed';
  if (!known || again) return createCheckRun(state, { repository, app, sha, name }, change).id;
  updateCheckRun(state, known, change);
  return known.id;
}

function commentAt(state: State, repo: string, id: number): Comment {
  const comment = state.findComment(state.repository(repo), id);
  if (!comment) throw new Error(`${repo} has no comment ${id}.`);
  return comment;
}

function runAt(state: State, repo: string, id: number): CheckRun {
  const run = state.findCheckRun(state.repository(repo), id);
  if (!run) throw new Error(`${repo} has no check run ${id}.`);
  return run;
}
