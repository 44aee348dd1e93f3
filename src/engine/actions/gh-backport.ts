import { z } from 'zod';
import { contentHash } from '../../core/canonical.ts';
import { listOrOne } from '../../domain/chain/shape.ts';
import type { EffectOf, EffectRow } from '../../domain/effect/effect.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { type Contributors, isWebFlow, NO_CONTRIBUTORS } from '../../domain/policy/authorship.ts';
import { type BackportResult, backportComment, backportText } from '../../messages/comments/backport.ts';
import type { Commit, GitCommit, PullRequest } from '../../ports/github.ts';
import { pushedBy, readContributors, withoutPushers } from '../approvals/contributors.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import type { StepContext } from '../steps/step.ts';
import { keyOf, plainAction } from './action.ts';
import { gitName, invalidInput, pullRequestInput } from './inputs.ts';
import { noSubject } from './target.ts';

/** Each is a pull request that people must look at. */
const MAX_BRANCHES = 10;
/** The commits of a pull request that was merged by rebase are compared with what landed, on one page. */
const MAX_REBASED = 99;
const MAX_CO_AUTHORS = 50;

const branch = gitName('a branch to backport to', 200);

export const ghBackport = plainAction({
  name: 'gh-backport',
  about:
    'Copies the change of a merged pull request to other branches, with one pull request for each. What conflicts is said in a comment, with the commands for doing it by hand.',
  permissions: ['contents: write', 'pull_requests: write', 'issues: write'],
  input: z.strictObject({
    ...pullRequestInput,
    branches: listOrOne(branch, { most: MAX_BRANCHES })
      .optional()
      .describe('The branches. Left out, those that labels of the pull request name. At most 10.'),
    label_prefix: z
      .string()
      .min(1)
      .max(50)
      .optional()
      .describe(
        'What comes before the branch in a label; "backport " if left out, as in `backport release-1.x`.',
      ),
  }),
  once: 'one branch and one pull request for each merged pull request and branch, also if several chains or runs ask; both are found again by the name of the branch',
  async plan(context, { branches, label_prefix: prefix = 'backport ' }) {
    const { state, repo, reader } = context;
    const { run } = state;
    if (run.pullRequest === null) return noSubject('gh-backport');
    const pullRequest = await reader.pullRequest(repo, run.pullRequest);
    const { number, baseRef, mergeCommitSha } = pullRequest;
    if (!pullRequest.merged || mergeCommitSha === null)
      return cannot(`#${number} is not merged, so there is nothing to copy`);
    const labelled = pullRequest.labels.filter((label) => label.startsWith(prefix));
    const named = branches ?? labelled.map((label) => label.slice(prefix.length).trim());
    const unfit = named.find((name) => !branch.safeParse(name).success);
    if (unfit !== undefined)
      return invalidInput('gh-backport', `"${unfit}" is not a branch that a change can be copied to`);
    const onto = [...new Set(named)].filter((name) => name !== baseRef);
    if (onto.length > MAX_BRANCHES)
      return invalidInput(
        'gh-backport',
        `${onto.length} branches are named, and ${MAX_BRANCHES} are allowed`,
      );
    const details = { pull_request: number, opened: [], conflicts: [], failed: [] };
    if (onto.length === 0)
      return { kind: 'does', summary: `#${number} names no branch to copy it to`, details, effects: [] };
    const change = await changeOf(context, pullRequest, mergeCommitSha);
    if ('problem' in change) return cannot(change.problem, change.again);
    return {
      kind: 'does',
      summary: `copies #${number} to ${onto.join(', ')}`,
      details,
      effects: onto.map((name) => ({
        key: `${keyOf('backport', context)}:${name}`,
        effect: {
          kind: 'backport',
          ...placeOfEffect(run),
          pull_request: number,
          onto: name,
          branch: branchFor(number, name),
          ...change,
          ...backportText(pullRequest, name),
        },
      })),
    };
  },
  finish(context, rows) {
    const { run } = context.state;
    const results = rows.flatMap((row) =>
      row.effect.kind === 'backport' ? [resultOf(row, row.effect)] : [],
    );
    const undone = results.filter(({ kind }) => kind === 'conflict' || kind === 'failed');
    const { marker, text } = backportComment(run.id, context.step.id, undone);
    const of = (...kinds: BackportResult['kind'][]) =>
      results.filter(({ kind }) => kinds.includes(kind)).map(({ effect }) => effect.onto);
    const parts = [
      ['opened pull requests into', of('opened')],
      ['found nothing to copy to', of('nothing')],
      ['conflicts with', of('conflict')],
      ['failed for', of('failed')],
    ] as const;
    return {
      kind: 'does',
      passed: undone.length === 0,
      summary: parts
        .flatMap(([words, names]) => (names.length > 0 ? [`${words} ${names.join(', ')}`] : []))
        .join('; '),
      details: {
        pull_request: run.pullRequest ?? 0,
        opened: results.flatMap(({ effect, number }) =>
          number === null ? [] : [`${effect.onto} #${number}`],
        ),
        conflicts: of('conflict'),
        failed: of('failed'),
      },
      effects:
        undone.length === 0 || run.pullRequest === null
          ? []
          : [
              {
                key: `${keyOf('backport', context)}:comment`,
                effect: {
                  kind: 'comment',
                  ...placeOfEffect(run),
                  issue: run.pullRequest,
                  marker,
                  body: text,
                },
              },
            ],
    };
  },
});

function resultOf(
  { status, error, githubId, progress }: EffectRow,
  effect: EffectOf<'backport'>,
): BackportResult {
  if (status === 'failed')
    return { effect, kind: 'failed', because: error ?? 'no reason given', number: null };
  const kind = progress.result === 'conflict' || progress.result === 'nothing' ? progress.result : 'opened';
  return { effect, kind, because: '', number: githubId };
}

/** Two branches that differ by a slash must not share one, so those with a slash also get a part of a hash. */
function branchFor(number: number, onto: string): string {
  const flat = onto.replaceAll('/', '-');
  return `backport/${number}-to-${flat === onto ? onto : `${flat}-${contentHash(onto).slice(0, 7)}`}`;
}

type Change = Pick<EffectOf<'backport'>, 'picked' | 'parent' | 'how' | 'author' | 'message'>;

/**
 * What landed on the base branch, as one change. A merge commit is compared with its first parent, as `git cherry-pick -m 1`
 * does. After a rebase, GitHub names the last of several commits, which keep their messages:
 * https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/about-merge-methods-on-github
 */
async function changeOf(
  context: StepContext,
  pullRequest: PullRequest,
  sha: string,
): Promise<Change | { problem: string; again?: boolean }> {
  const { reader, repo } = context;
  const { number, title, headSha } = pullRequest;
  const landed = await reader.commit(repo, sha);
  const [parent] = landed.parents;
  if (parent === undefined) return { problem: `${short(sha)} has no parent to compare it with` };
  const { commits, truncated } = await reader.pullRequestCommits(repo, number);
  if (truncated)
    return { problem: `GitHub does not list all commits of #${number}, so not all authors are known` };
  const contributors = await readContributors(context, pullRequest, headSha);
  const change = (text: string, by: GitCommit, how: Change['how'], start = parent) => {
    const message = messageOf(text, by, commits, pullRequest, sha, contributors ?? NO_CONTRIBUTORS);
    if (message === undefined) return { problem: `#${number} has more than ${MAX_CO_AUTHORS} authors` };
    if (!contributors) return { problem: `GitHub does not say who contributed to #${number}`, again: true };
    return { picked: sha, parent: start, how, author: by.author, message };
  };
  const titled = `${title} (#${number})`;
  if (landed.parents.length > 1) return change(titled, await reader.commit(repo, headSha), 'merge');
  const start = await startOfRebase({ reader, repo }, landed, commits);
  if (start === 'too_many')
    return { problem: `#${number} has more than ${MAX_REBASED} commits; squash them, or copy it by hand` };
  return start === undefined
    ? change(landed.message, landed, 'commit')
    : change(titled, landed, 'commits', start);
}

/** The commit below those of a rebase; `undefined` if it was none. */
async function startOfRebase(
  { reader, repo }: Pick<StepContext, 'reader' | 'repo'>,
  landed: GitCommit,
  commits: readonly Commit[],
): Promise<string | 'too_many' | undefined> {
  const last = commits.at(-1);
  if (commits.length < 2 || landed.message.trim() !== last?.message.trim()) return undefined;
  if (commits.length > MAX_REBASED) return 'too_many';
  const history = await reader.history(repo, undefined, landed.sha);
  const isRebase = commits
    .toReversed()
    .every(({ message }, index) => history[index]?.message.trim() === message.trim());
  return isRebase ? history[commits.length]?.sha : undefined;
}

/**
 * Names everybody who opened, wrote, co-wrote, committed or pushed the change, because they cannot countersign their own work, and the copy is
 * opened and pushed by this app. A countersign was for the merge, so its trailers stay behind.
 * @returns `undefined` if they are too many, as some of them could then countersign
 */
function messageOf(
  text: string,
  { author }: GitCommit,
  commits: readonly Commit[],
  { author: opener }: PullRequest,
  sha: string,
  { pushers, unattributed }: Contributors,
): string | undefined {
  const lines = withoutPushers(text)
    .split('\n')
    .filter((line) => !/^countersigned-by:/i.test(line));
  const kept = lines
    .filter((line) => !CREDIT.test(line))
    .join('\n')
    .trim();
  const credits = new Map<string, string>();
  const add = (email: string, line: string) => {
    const key = email.toLowerCase();
    if (key !== author.email.toLowerCase() && !credits.has(key)) credits.set(key, line);
  };
  for (const line of [...lines, ...commits.flatMap(({ message }) => message.split('\n'))]) {
    const [, email] = CREDIT.exec(line) ?? [];
    // One that is not readable here may be for GitHub.
    if (CREDIT.test(line)) add(email ?? line, line.trim());
  }
  const named = new Set<number>();
  const people = commits.flatMap((commit) => [
    { account: commit.author, email: commit.authorEmail },
    { account: commit.committer, email: commit.committerEmail },
  ]);
  for (const { account, email } of people) {
    if (account) named.add(account.id);
    if (email === null || (account && isWebFlow(account))) continue;
    add(email, creditOf(account?.login ?? email.split('@')[0] ?? email, email));
  }
  if (opener.type === 'User' && !named.has(opener.id)) {
    const email = `${opener.id}+${opener.login}@users.noreply.github.com`;
    add(email, creditOf(opener.login, email));
  }
  if (credits.size > MAX_CO_AUTHORS) return undefined;
  const others = pushers.filter((id) => id !== opener.id && !named.has(id));
  const trailers = [...credits.values(), ...pushedBy({ pushers: others, unattributed })];
  return [kept, [...trailers, `(cherry picked from commit ${sha})`].join('\n')].join('\n\n');
}

const CREDIT = /^co-authored-by:(?:[^<]*<([^<>]+)>)?/i;

function creditOf(name: string, email: string): string {
  return `Co-authored-by: ${name} <${email}>`;
}

function cannot(because: string, retryable = false) {
  return {
    kind: 'failed' as const,
    reason: reason('step.failed.error', `gh-backport cannot run: ${because}`),
    retryable,
  };
}

function short(sha: string): string {
  return sha.slice(0, 7);
}
