import type { Clock } from '../../src/core/clock.ts';
import type { SeenComment } from '../support/github/read.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';
import type { Act } from './story.ts';

/** One pull request whose people act out a story, each as soon as they see what they wait for. */
export interface Actors {
  repo: string;
  number: number;
  story: readonly Act[];
  /** Every head so far. */
  heads: string[];
  openedAt: Date;
  /** Does what can be done by now. Resolves with whether the story is over. */
  goOn(): Promise<boolean>;
  /** The act that comes next. */
  waitsFor(): Act | undefined;
}

export async function openWithActors(
  github: GitHubStandIn,
  clock: Clock,
  { repo, name, story }: { repo: string; name: string; story: readonly Act[] },
): Promise<Actors> {
  const content = (version: number) => ({
    [`src/${name}.ts`]: `export const version: number = ${version};\n`,
  });
  const openedAt = clock.now();
  const { number, headSha } = await github.openPullRequest({
    repo,
    author: 'ada',
    branch: name,
    title: `Write ${name}`,
    files: content(1),
  });
  const heads = [headSha];
  let next = 0;
  let since = openedAt;
  let restUntil = openedAt;

  /** Whether it could be done. */
  async function attempt(act: Act): Promise<boolean> {
    switch (act.do) {
      case 'ci':
        await github.setStatus(repo, heads.at(-1) ?? '', { context: 'test', state: act.state });
        return true;
      case 'read_question':
        return newest() !== undefined;
      case 'react':
        return reactTo(newest(), act);
      case 'react_to_first':
        return reactTo(approvalCommentsOf(github, repo, number)[0], act);
      case 'push':
        heads.push(
          await github.push({ repo, branch: name, author: 'ada', files: content(heads.length + 1) }),
        );
        since = clock.now();
        return true;
      case 'close':
        await github.closePullRequest(repo, number, 'ada');
        return true;
      case 'reopen':
        await github.reopenPullRequest(repo, number, 'ada');
        since = clock.now();
        return true;
      case 'merge_by_hand':
        await github.mergePullRequest(repo, number, 'max');
        return true;
      case 'nothing_for':
        if (restUntil <= since) restUntil = new Date(clock.now().getTime() + act.ms);
        if (clock.now() < restUntil) return false;
        restUntil = since;
        return true;
    }
  }

  /** The approval comment for the present head that was written since the last change: people read what they answer. */
  function newest(): SeenComment | undefined {
    const about = `head=${heads.at(-1)} `;
    return approvalCommentsOf(github, repo, number).findLast(
      ({ body, createdAt }) => body.includes(about) && createdAt >= since,
    );
  }

  async function reactTo(
    question: SeenComment | undefined,
    { login, content: emoji }: Extract<Act, { do: 'react' | 'react_to_first' }>,
  ): Promise<boolean> {
    if (!question) return false;
    await github.react(repo, question.id, login, emoji);
    return true;
  }

  return {
    repo,
    number,
    story,
    heads,
    openedAt,
    async goOn() {
      for (let act = story[next]; act; act = story[++next]) {
        if (!(await attempt(act))) return false;
      }
      return true;
    },
    waitsFor: () => story[next],
  };
}

/** Those that were written to ask, whatever they say now: a comment of the past shrinks to a line (ADR 61). */
export function approvalCommentsOf(github: GitHubStandIn, repo: string, number: number): SeenComment[] {
  return github
    .comments(repo, number)
    .filter(
      ({ author, firstBody }) =>
        author === github.app.botLogin && firstBody.includes('<!-- countersign:question'),
    );
}
