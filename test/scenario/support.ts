import { expect, onTestFinished } from 'vitest';
import { isGateCheck, type SeenCheckRun, type SeenComment } from '../support/github/read.ts';
import { type Harness, type HarnessOptions, REPO, startHarness } from '../support/harness.ts';
import { until } from '../support/until.ts';

/**
 * The shipped chain without its review: a review takes a child process and a second, and most behaviour does not depend on it.
 * Its name replaces the shipped chain, so no other chain runs beside it.
 */
export const CI_AND_MERGE = `name: pr-review
trigger:
  event: pr.opened
  filter: { base: "{{ repo.default_branch }}", draft: false }
steps:
  - id: ci
    skill: ci
  - id: merge
    action: gh-merge
    condition: "{{ steps.ci.outcome.passed }}"
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;

/** A chain that asks right away, for tests of the approval comment and the merge. */
export const MERGE_ONLY = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - id: merge
    action: gh-merge
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;

export interface Setting extends HarnessOptions {
  /** The repository's own chain; the shipped one by default. */
  chain?: string;
  /** The text of `.github/countersign.yml`. */
  settings?: string;
}

/** The app and its GitHub for one test, stopped after it. A request that GitHub's description does not allow fails the test. */
export async function start({ chain, settings, files, ...rest }: Setting = {}): Promise<Harness> {
  const harness = await startHarness({
    ...rest,
    files: {
      ...(chain === undefined ? {} : { '.github/countersign/chains/pr-review.yaml': chain }),
      ...(settings === undefined ? {} : { '.github/countersign.yml': settings }),
      ...files,
    },
  });
  onTestFinished(async () => {
    await harness.stop();
    expect(harness.faultyRequests).toEqual([]);
  });
  return harness;
}

type OpenInput = Partial<Parameters<Harness['github']['openPullRequest']>[0]>;

/** Whether a request is about a repository, and not the app's own search for missed deliveries. */
export function isAboutRepository({ path }: { path: string }): boolean {
  return path !== '/app' && !path.startsWith('/app/') && !path.startsWith('/installation/repositories');
}

/** A pull request of ada's that adds one harmless file. */
export async function open(
  { github, settle }: Harness,
  input: OpenInput = {},
): Promise<{ number: number; headSha: string }> {
  const opened = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'greet',
    title: 'Greet people by name',
    files: { 'src/greet.ts': GREETING },
    ...input,
  });
  await settle();
  return opened;
}

export const GREETING = `export function greet(name: string): string {
  return ['Hello', name].join(', ');
}
`;

/** Another commit on the branch of `open`. @returns the new head. */
export async function pushAgain({ github, settle }: Harness, content = GREETING.repeat(2)): Promise<string> {
  const files = { 'src/greet.ts': content };
  const sha = await github.push({ repo: REPO, branch: 'greet', author: 'ada', files });
  await settle();
  return sha;
}

/** CI reports its result in a commit status, which can change later, unlike a completed check run. */
export async function reportCi(
  { github, settle }: Harness,
  sha: string,
  state: 'pending' | 'success' | 'failure',
): Promise<void> {
  await github.setStatus(REPO, sha, { context: 'test', state });
  await settle();
}

/** Resolves with the status that the app answered to the webhook of a pull request's end. */
export function closingDelivered(github: Harness['github']): Promise<number> {
  return until(
    'the webhook of the end',
    () =>
      github.deliveries.find(({ event, action }) => event === 'pull_request' && action === 'closed')?.status,
  );
}

/** Every comment that asked, oldest first. What each shows by now can be anything. */
export function approvals({ github }: Harness, number: number): SeenComment[] {
  return github.comments(REPO, number).filter(({ body }) => body.includes('<!-- countersign:question'));
}

/** The newest approval comment. */
export function approvalOf(harness: Harness, number: number): SeenComment {
  const newest = approvals(harness, number).at(-1);
  if (!newest) throw new Error(`nobody was asked to countersign #${number}`);
  return newest;
}

/** The person reacts to the newest approval comment; no webhook reports it. @returns the reaction's id. */
export function react(
  harness: Harness,
  number: number,
  login: string,
  content: 'rocket' | '+1' | '-1' | 'heart' = 'rocket',
): Promise<number> {
  return harness.github.react(REPO, approvalOf(harness, number).id, login, content);
}

/** Enough time for a poll of an approval younger than two minutes, and for showing its result. */
export const A_RECHECK = 6_000;

/** The person reacts, and the app has polled. */
export async function countersign(harness: Harness, number: number, login = 'mia'): Promise<void> {
  await react(harness, number, login);
  await harness.advance(A_RECHECK);
}

/** The comment that shows the state of the pull request; there is only one, unless several questions are open. */
export function statusOf({ github }: Harness, number: number): SeenComment {
  const found = github
    .comments(REPO, number)
    .filter(({ body, isMinimized }) => !isMinimized && /<!-- countersign:(status|question)/.test(body));
  const [only] = found;
  if (!only || found.length > 1) throw new Error(`#${number} has ${found.length} current comments`);
  return only;
}

/** The app's check runs on a commit, oldest first. */
export function ownChecks({ github }: Harness, sha: string): SeenCheckRun[] {
  return github.checkRuns(REPO, sha).filter((run) => run.app === github.app.slug && !isGateCheck(run));
}

/** The gate checks of a commit, oldest first, as a person sees them: which gate, its state, and its text. */
export function gates({ github }: Harness, sha: string): string[] {
  return github
    .checkRuns(REPO, sha)
    .filter((run) => run.app === github.app.slug && isGateCheck(run))
    .map(({ name, status, conclusion, title }) => `${name}: ${conclusion ?? status}: ${title}`);
}

/** The state of a commit's gate check: the newest of its name counts on GitHub. */
export function gate(harness: Harness, sha: string, base = 'main'): string {
  const newest = gates(harness, sha).findLast((checkLines) =>
    checkLines.startsWith(`countersign: ${base}: `),
  );
  return newest?.slice(`countersign: ${base}: `.length) ?? 'none';
}

/** The newest of them. */
export function ownCheck(harness: Harness, sha: string): SeenCheckRun {
  const newest = ownChecks(harness, sha).at(-1);
  if (!newest) throw new Error(`the app said nothing about ${sha}`);
  return newest;
}

/** What the list of checks on a pull request's page shows of the app: the conclusion and the text. */
export function checkLines(harness: Harness, sha: string): string[] {
  return ownChecks(harness, sha).map(
    ({ status, conclusion, title }) => `${conclusion ?? status}: ${title ?? 'nothing'}`,
  );
}

/** The first heading or bold line of a comment, or what it says instead if a newer one replaces it. */
export function headline({ body }: SeenComment): string {
  const replaced = /^⏭️ .* replaces this one\.$/m.test(body) ? 'replaced' : '';
  return /^(?:###\s*|\*\*)(.+?)\**$/m.exec(body)?.[1] ?? replaced;
}

/** Whether a comment says that it was an approval request and that nobody can answer it any more. */
export function hasExpired({ body }: SeenComment): boolean {
  return /Reactions to (this comment|it) no longer count\./.test(body);
}

/** A text for a snapshot: commits by name, without ports, versions of analyzers and sizes and hashes of logs, which contain times. */
export function readable({ github }: Harness, text: string, commits: Record<string, string> = {}): string {
  const named = Object.entries(commits).reduce(
    (so, [name, sha]) => so.replaceAll(sha, `<${name}>`).replaceAll(sha.slice(0, 7), `<${name}>`),
    text,
  );
  return named
    .replaceAll(github.url, 'https://github.test')
    .replaceAll(/ \d+\.\d+\.\d+(?=[,.])/g, ' <version>')
    .replaceAll(
      /\d+(\.\d+)? (bytes|KB), text\/plain, sha256 \w+, `countersign artifact get \w+`(?= \|)/g,
      '<file>',
    );
}
