import { setTimeout as sleep } from 'node:timers/promises';
import type { SeenCheckRun, SeenComment } from '../test/support/github/read.ts';
import type { GitHubStandIn } from '../test/support/github/stand-in.ts';
import { REPO } from './world.ts';

const POLL_EVERY_MS = 50;
const TIMEOUT_MS = 20_000;

/**
 * Polls until the function returns a value.
 * @throws Error that names what never came
 */
export async function until<T>(what: string, find: () => T | undefined): Promise<T> {
  const end = Date.now() + TIMEOUT_MS;
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited ${TIMEOUT_MS / 1_000} s for: ${what}`);
    await sleep(POLL_EVERY_MS);
  }
}

/** What a person sees of a pull request's head. */
export function viewer(github: GitHubStandIn) {
  const ownCheck = (sha: string): SeenCheckRun | undefined =>
    github
      .checkRuns(REPO, sha)
      .findLast((run) => run.app === github.app.slug && run.name === 'countersign / pr-review');
  const approval = (number: number, sha: string): SeenComment | undefined =>
    github
      .comments(REPO, number)
      .find(
        (comment) =>
          comment.author === github.app.botLogin && comment.body.includes(`countersign:approval head=${sha}`),
      );
  return {
    ownCheck,
    approval,
    check: (sha: string, what: string, holds: (check: SeenCheckRun) => boolean) =>
      until(what, () => {
        const check = ownCheck(sha);
        return check && holds(check) ? check : undefined;
      }),
    asked: (number: number, sha: string) => until('the approval comment', () => approval(number, sha)),
    merged: (number: number) =>
      until(`#${number} to be merged`, () => {
        const pull = github.pullRequest(REPO, number);
        return pull.merged ? pull : undefined;
      }),
  };
}
