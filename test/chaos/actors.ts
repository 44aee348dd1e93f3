import type { Clock } from '../../src/core/clock.ts';
import type { SeenComment } from '../support/github/read.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';
import type { Deed } from './story.ts';

/** One pull request whose people act out a story, each as soon as they see what they wait for. */
export interface Life {
  repo: string;
  number: number;
  story: readonly Deed[];
  /** Every head so far. */
  heads: string[];
  openedAt: Date;
  /** Does what can be done by now. Resolves with whether the story is over. */
  goOn(): Promise<boolean>;
  /** The act that comes next. */
  waitsFor(): Deed | undefined;
}

export async function beginLife(
  github: GitHubStandIn,
  clock: Clock,
  { repo, name, story }: { repo: string; name: string; story: readonly Deed[] },
): Promise<Life> {
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
  async function tryTo(deed: Deed): Promise<boolean> {
    switch (deed.do) {
      case 'ci':
        await github.setStatus(repo, heads.at(-1) ?? '', { context: 'test', state: deed.state });
        return true;
      case 'read_question':
        return newest() !== undefined;
      case 'react':
        return reactTo(newest(), deed);
      case 'react_to_first':
        return reactTo(questionsOf(github, repo, number)[0], deed);
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
        if (restUntil <= since) restUntil = new Date(clock.now().getTime() + deed.ms);
        if (clock.now() < restUntil) return false;
        restUntil = since;
        return true;
    }
  }

  /** The approval comment for the present head that was written since the last change: people read what they answer. */
  function newest(): SeenComment | undefined {
    const about = `head=${heads.at(-1)} `;
    return questionsOf(github, repo, number).findLast(
      ({ body, createdAt }) => body.includes(about) && createdAt >= since,
    );
  }

  async function reactTo(
    question: SeenComment | undefined,
    { login, content: emoji }: Extract<Deed, { do: 'react' | 'react_to_first' }>,
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
      for (let deed = story[next]; deed; deed = story[++next]) {
        if (!(await tryTo(deed))) return false;
      }
      return true;
    },
    waitsFor: () => story[next],
  };
}

export function questionsOf(github: GitHubStandIn, repo: string, number: number): SeenComment[] {
  return github
    .comments(repo, number)
    .filter(
      ({ author, body }) => author === github.app.botLogin && body.includes('<!-- countersign:approval'),
    );
}
