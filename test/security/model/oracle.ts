import type { MergeRequest, Person, Standing, WitnessedComment } from '../../support/github/witness.ts';
import type { Rules } from './rules.ts';

/**
 * What is wrong with a merge request, as sentences; none when it is as invariant I1 wants it. Judged from what the
 * stand-in wrote down in that moment, and from nothing that the app says, knows or is made of.
 * @param rulesFor The rules that were in force on a base branch at some moment of a span: any of them may be the run's.
 */
export function faultsOf(
  request: MergeRequest,
  bot: string,
  rulesFor: (base: string, from: Date, to: Date) => readonly Rules[],
): string[] {
  const { lastTold, pullRequest } = request;
  if (lastTold === undefined) return ['the pull request was never read'];
  // What moves between the app's last read and its request, the app cannot know of: there GitHub's refusal is the guard.
  const movedUnseen = request.refused !== undefined && !isSame(lastTold, pullRequest);
  const standing = movedUnseen ? lastTold : pullRequest;
  const question = newestQuestion(request, bot);
  const about = [
    ...(request.sha === standing.headSha ? [] : [`it names the head ${short(request.sha)}`]),
    ...(standing.state === 'open' ? [] : ['the pull request is closed']),
    ...(standing.draft ? ['the pull request is a draft'] : []),
    ...aboutQuestion(question, standing, bot),
  ];
  if (about.length > 0 || movedUnseen || question === undefined) return about;

  const pushed = request.commits.at(-1)?.at ?? question.createdAt;
  const verdicts = rulesFor(standing.baseRef, pushed, question.createdAt).map((rules) =>
    byRules(request, question, rules),
  );
  return verdicts.some((faults) => faults.length === 0) ? [] : [...new Set(verdicts.flat())];
}

/** `<!-- countersign:approval head=… base=… -->`, as README and design promise it to people's scripts. */
const MARKER = /^<!-- countersign:approval head=(\S+) base=(\S+) -->/;

function newestQuestion({ comments }: MergeRequest, bot: string): WitnessedComment | undefined {
  return comments.findLast(({ author, body }) => author.login === bot && MARKER.test(body));
}

function aboutQuestion(question: WitnessedComment | undefined, standing: Standing, bot: string): string[] {
  if (question === undefined) return ['nobody was asked'];
  const [, head, base] = MARKER.exec(question.body) ?? [];
  return [
    ...(question.lastWriter.login === bot ? [] : [`${question.lastWriter.login} edited the newest question`]),
    ...(head === standing.headSha ? [] : [`the newest question is about the head ${short(head)}`]),
    ...(base === standing.baseRef ? [] : [`the newest question is about the base ${base}`]),
  ];
}

function byRules(request: MergeRequest, { reactions }: WitnessedComment, rules: Rules): string[] {
  if (rules.broken) return ['the settings are broken'];
  const eligible = (content: readonly string[]) => [
    ...new Set(
      reactions
        .filter((reaction) => content.includes(reaction.content) && isEligible(reaction.by, request, rules))
        .map(({ by }) => by.login),
    ),
  ];
  const approving = eligible(rules.approve);
  return [
    ...(approving.length >= rules.count
      ? []
      : [`${approving.length} of ${rules.count} eligible people approve`]),
    ...eligible(rules.reject).map((login) => `${login} rejects`),
    ...ciFaults(request, rules),
  ];
}

function isEligible({ login, type }: Person, request: MergeRequest, { least, named }: Rules): boolean {
  if (type !== 'User' || login === request.author || contributors(request).has(login)) return false;
  const role = RANK.indexOf(request.roles[login] ?? 'read');
  const byRole = least !== 'nobody' && role >= RANK.indexOf(least);
  return byRole || (named.includes(login) && role >= RANK.indexOf('write'));
}

const RANK = ['read', 'triage', 'write', 'maintain', 'admin'];

function contributors({ commits }: MergeRequest): Set<string> {
  const coAuthors = commits.flatMap(({ message }) => [...message.matchAll(/^Co-authored-by: (\S+) </gm)]);
  return new Set([
    ...commits.flatMap(({ author, committer }) => [author, committer]),
    ...coAuthors.map((match) => match[1] ?? ''),
  ]);
}

function ciFaults({ checks }: MergeRequest, { ci }: Rules): string[] {
  if (ci === 'ignored') return [];
  const others = checks.filter(({ app }) => app !== 'countersign');
  const missing = ci === 'test passed' && !others.some(({ name }) => name === 'test');
  return [
    ...(missing ? ['the check test is missing'] : []),
    ...others.filter(({ says }) => says !== 'success').map(({ name, says }) => `${name} says ${says}`),
  ];
}

function isSame(one: Standing, other: Standing): boolean {
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
