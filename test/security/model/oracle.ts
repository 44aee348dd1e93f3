import type {
  MergeRecord,
  MergeRequest,
  Person,
  PullRequestState,
  RecordedComment,
  StateAtMerge,
} from '../../support/github/merge-record.ts';
import type { Rules } from './rules.ts';

/**
 * What is wrong with a merge request of the app, as sentences; none if it satisfies invariant I1. Judged from what the stand-in
 * recorded at that moment, and from nothing that the app says, knows or consists of.
 * @param rules those of the branch that governs, at that moment
 */
export function violationsOf(request: MergeRequest, bot: string, rules: Rules): string[] {
  const { lastReported, pullRequest } = request;
  if (lastReported === undefined) return ['the pull request was never read'];
  // The app cannot know what changes between its last read and its request: there GitHub's refusal is the guard.
  const movedUnseen = request.refused !== undefined && !isSame(lastReported, pullRequest);
  const standing = movedUnseen ? lastReported : pullRequest;
  const named = request.sha === standing.headSha ? [] : [`it names the head ${short(request.sha)}`];
  if (movedUnseen) return [...named, ...aboutStanding(standing), ...aboutQuestion(request, standing, bot)];
  return [...named, ...faultsAt(request, bot, rules)];
}

/** The states up to some moment, and the rules that were in force. */
export interface Moment {
  standing: StateAtMerge;
  rules: Rules;
}

/** How long, and in what, the gate check may lag behind the facts: docs/security.md, "Protect a branch". */
export interface Window {
  ms: number;
  /** Reactions and roles change without an event; everything else is known at once, unless webhooks cannot arrive. */
  of: 'reactions and roles' | 'everything';
}

/**
 * What is wrong with a merge that a person, GitHub's auto-merge or its merge queue made. Nothing is wrong if everything held at
 * that moment, or, within the window, at an earlier one: for the very same head and base.
 */
export function violationsOfOthersMerge(
  merge: MergeRecord,
  bot: string,
  now: Rules,
  { window, before }: { window: Window; before: readonly Moment[] },
): string[] {
  const faults = faultsAt(merge, bot, now);
  if (faults.length === 0) return [];
  const isCovered = before
    .filter(({ standing }) => merge.at.getTime() - standing.at.getTime() <= window.ms)
    .filter(
      ({ standing }) => standing.number === merge.number && isSame(standing.pullRequest, merge.pullRequest),
    )
    .map((moment) =>
      window.of === 'everything' ? moment : { standing: asSeen(merge, moment.standing), rules: now },
    )
    .some(({ standing, rules }) => faultsAt(standing, bot, rules).length === 0);
  return isCovered ? [] : faults;
}

/** The moment of the merge, but with reactions and roles as they were before. */
function asSeen(merge: StateAtMerge, { roles, comments }: StateAtMerge): StateAtMerge {
  const reactionsTo = new Map(comments.map(({ id, reactions }) => [id, reactions]));
  return {
    ...merge,
    roles,
    comments: merge.comments.map((comment) => ({ ...comment, reactions: reactionsTo.get(comment.id) ?? [] })),
  };
}

function faultsAt(witnessed: StateAtMerge, bot: string, rules: Rules): string[] {
  const about = [
    ...aboutStanding(witnessed.pullRequest),
    ...aboutQuestion(witnessed, witnessed.pullRequest, bot),
  ];
  const question = newestQuestion(witnessed, bot);
  return about.length > 0 || question === undefined ? about : byRules(witnessed, question, rules);
}

function aboutStanding({ state, draft }: PullRequestState): string[] {
  return [
    ...(state === 'open' ? [] : ['the pull request is closed']),
    ...(draft ? ['the pull request is a draft'] : []),
  ];
}

/** `<!-- countersign:approval head=… base=… -->`, as README and design promise it to people's scripts. */
const MARKER = /^<!-- countersign:approval head=(\S+) base=(\S+) -->/;

function newestQuestion({ comments }: StateAtMerge, bot: string): RecordedComment | undefined {
  return comments.findLast(({ author, body }) => author.login === bot && MARKER.test(body));
}

function aboutQuestion(witnessed: StateAtMerge, standing: PullRequestState, bot: string): string[] {
  const question = newestQuestion(witnessed, bot);
  if (question === undefined) return ['nobody was asked'];
  const [, head, base] = MARKER.exec(question.body) ?? [];
  return [
    ...(question.lastWriter.login === bot ? [] : [`${question.lastWriter.login} edited the newest question`]),
    ...(head === standing.headSha ? [] : [`the newest question is about the head ${short(head)}`]),
    ...(base === standing.baseRef ? [] : [`the newest question is about the base ${base}`]),
  ];
}

function byRules(witnessed: StateAtMerge, { reactions }: RecordedComment, rules: Rules): string[] {
  if (rules.stopped !== undefined) return [`nothing may be merged: ${rules.stopped}`];
  const eligible = (content: readonly string[]) => [
    ...new Set(
      reactions
        .filter((reaction) => content.includes(reaction.content) && isEligible(reaction.by, witnessed, rules))
        .map(({ by }) => by.login),
    ),
  ];
  const approving = eligible(rules.approve);
  return [
    ...(approving.length >= rules.count
      ? []
      : [`${approving.length} of ${rules.count} eligible people approve`]),
    ...eligible(rules.reject).map((login) => `${login} rejects`),
    ...ciDiagnostics(witnessed, rules),
  ];
}

function isEligible({ login, type }: Person, witnessed: StateAtMerge, { least, named }: Rules): boolean {
  if (type !== 'User' || login === witnessed.author || contributors(witnessed).has(login)) return false;
  const role = RANK.indexOf(witnessed.roles[login] ?? 'read');
  const byRole = least !== 'nobody' && role >= RANK.indexOf(least);
  return byRole || (named.includes(login) && role >= RANK.indexOf('write'));
}

const RANK = ['read', 'triage', 'write', 'maintain', 'admin'];

function contributors({ commits }: StateAtMerge): Set<string> {
  const coAuthors = commits.flatMap(({ message }) => [...message.matchAll(/^Co-authored-by: (\S+) </gm)]);
  return new Set([
    ...commits.flatMap(({ author, committer }) => [author, committer]),
    ...coAuthors.map((match) => match[1] ?? ''),
  ]);
}

function ciDiagnostics({ checks }: StateAtMerge, { ci }: Rules): string[] {
  if (ci === 'ignored') return [];
  const others = checks.filter(({ app }) => app !== 'countersign');
  const missing = ci === 'test passed' && !others.some(({ name }) => name === 'test');
  return [
    ...(missing ? ['the check test is missing'] : []),
    ...others
      .filter(({ result }) => result !== 'success')
      .map(({ name, result }) => `${name} says ${result}`),
  ];
}

function isSame(one: PullRequestState, other: PullRequestState): boolean {
  return (
    one.state === other.state &&
    one.draft === other.draft &&
    one.headSha === other.headSha &&
    one.baseRef === other.baseRef
  );
}

function short(sha: string | undefined): string {
  return sha?.slice(0, 7) ?? 'none';
}
