import { z } from 'zod';
import { contentHash } from '../../core/canonical.ts';
import { listOrOne } from '../../domain/chain/shape.ts';
import type { EffectOf, EffectRow } from '../../domain/effect/effect.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { type BackportResult, backportComment, backportText } from '../../messages/comments/backport.ts';
import type { Commit, GitCommit, PullRequest } from '../../ports/github.ts';
import type { StepContext } from '../steps/step.ts';
import { keyOf, plainAction } from './action.ts';
import { invalidInput, pullRequestInput } from './inputs.ts';
import { noSubject } from './target.ts';

/** Each is a pull request that people must look at. */
const MAX_BRANCHES = 10;
/** The commits of a pull request that was merged by rebase are compared with what landed, on one page. */
const MAX_REBASED = 99;
const MAX_CO_AUTHORS = 50;

/** Without characters that mean something to a shell, because people copy the commands that name it. */
const branch = z
  .string()
  .max(200)
  .regex(/^(?!.*(?:\.\.|\/\/|\/\.|\.lock(?:\/|$)))[A-Za-z0-9](?:[A-Za-z0-9._/+-]*[A-Za-z0-9_+-])?$/, {
    error: 'a branch to backport to has only letters, digits and . _ / + -',
  });

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
      return invalidInput('gh-backport', `"${unfit}" is no branch that a change can be copied to`);
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
    if ('problem' in change) return cannot(change.problem);
    return {
      kind: 'does',
      summary: `copies #${number} to ${onto.join(', ')}`,
      details,
      effects: onto.map((name) => ({
        key: `${keyOf('backport', context)}:${name}`,
        effect: {
          kind: 'backport',
          installation_id: run.installationId,
          owner: repo.owner,
          repo: repo.name,
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
      ['opens pull requests into', of('opened')],
      ['finds nothing to copy to', of('nothing')],
      ['conflicts with', of('conflict')],
      ['fails for', of('failed')],
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
                  installation_id: run.installationId,
                  owner: context.repo.owner,
                  repo: context.repo.name,
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
  { reader, repo }: StepContext,
  pullRequest: PullRequest,
  sha: string,
): Promise<Change | { problem: string }> {
  const { number, title, headSha } = pullRequest;
  const landed = await reader.commit(repo, sha);
  const [parent] = landed.parents;
  if (parent === undefined) return { problem: `${short(sha)} has no parent to compare it with` };
  const { commits, truncated } = await reader.pullRequestCommits(repo, number);
  const titled = `${title} (#${number})`;
  if (landed.parents.length > 1) {
    const head = await reader.commit(repo, headSha);
    const message = messageOf(titled, head, commits, sha);
    return { picked: sha, parent, how: 'merge', author: head.author, message };
  }
  const start = truncated ? undefined : await startOfRebase({ reader, repo }, landed, commits);
  if (start === 'too_many')
    return { problem: `#${number} has more than ${MAX_REBASED} commits; squash them, or copy it by hand` };
  if (start === undefined) {
    const message = messageOf(landed.message, landed, commits, sha);
    return { picked: sha, parent, how: 'commit', author: landed.author, message };
  }
  const message = messageOf(titled, landed, commits, sha);
  return { picked: sha, parent: start, how: 'commits', author: landed.author, message };
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
 * Names everybody who wrote the change, because authors cannot countersign their own work. A countersign was for the merge, so
 * its trailers stay behind.
 */
function messageOf(text: string, { author }: GitCommit, commits: readonly Commit[], sha: string): string {
  const lines = text.split('\n').filter((line) => !/^countersigned-by:/i.test(line));
  const isCredit = (line: string) => /^co-authored-by:/i.test(line);
  const kept = lines
    .filter((line) => !isCredit(line))
    .join('\n')
    .trim();
  const credits = lines.filter(isCredit);
  const others = new Map(
    commits.flatMap(({ authorEmail: email, author: account }) =>
      email === null || email === author.email || credits.some((line) => line.includes(`<${email}>`))
        ? []
        : [[email, account?.login ?? email.split('@')[0] ?? email] as const],
    ),
  );
  const trailers = [...others]
    .slice(0, MAX_CO_AUTHORS)
    .map(([email, name]) => `Co-authored-by: ${name} <${email}>`);
  return [kept, [...credits, ...trailers, `(cherry picked from commit ${sha})`].join('\n')].join('\n\n');
}

function cannot(because: string) {
  return {
    kind: 'failed' as const,
    reason: reason('step.failed.error', `gh-backport cannot run: ${because}`),
    retryable: false,
  };
}

function short(sha: string): string {
  return sha.slice(0, 7);
}
