import type { EffectOf } from '../../domain/effect/effect.ts';
import type { PullRequest } from '../../ports/github.ts';
import { code, codeBlock, htmlComment, inline } from '../text/markdown.ts';

/** What came of copying a change to one branch. */
export interface BackportResult {
  effect: EffectOf<'backport'>;
  kind: 'opened' | 'nothing' | 'conflict' | 'failed';
  /** Of what failed. */
  because: string;
  /** Of the pull request. */
  number: number | null;
}

/** GitHub accepts no more. */
const MAX_TITLE = 250;

/** The title and text of the pull request that copies another one. */
export function backportText(
  { number, title, mergeCommitSha }: PullRequest,
  onto: string,
): { title: string; body: string } {
  return {
    title: [...`[${onto}] ${title}`].slice(0, MAX_TITLE).join(''),
    body: `Copies #${number} (${inline(title)}, ${mergeCommitSha?.slice(0, 12)}) to ${code(onto)}.`,
  };
}

/** Says on the merged pull request what could not be copied, and how to do it by hand. */
export function backportComment(
  runId: string,
  stepId: string,
  undone: readonly BackportResult[],
): { marker: string; text: string } {
  const marker = htmlComment(`countersign:backport run=${runId} step=${stepId}`);
  const parts = undone.flatMap((result) => [said(result), codeBlock(byHand(result.effect), 'sh')]);
  return { marker, text: [marker, ...parts].join('\n\n') };
}

function said({ effect, kind, because }: BackportResult): string {
  return kind === 'conflict'
    ? `This change conflicts with ${code(effect.onto)}, so it was not copied there. By hand:`
    : `This change was not copied to ${code(effect.onto)}: ${inline(because)} By hand:`;
}

function byHand({ onto, branch, how, picked, parent }: EffectOf<'backport'>): string {
  const what = { commit: picked, merge: `-m 1 ${picked}`, commits: `${parent}..${picked}` }[how];
  return [
    'git fetch origin',
    `git switch --create ${branch} origin/${onto}`,
    `git cherry-pick -x ${what}`,
    '# resolve what conflicts, then: git cherry-pick --continue',
    `git push --set-upstream origin ${branch}`,
    `# and open a pull request into ${onto}`,
  ].join('\n');
}
