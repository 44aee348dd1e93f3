import type { Clock } from '../../core/clock.ts';
import type { Changed, Prefetched, Repo } from '../../ports/github.ts';

/** How long after its question an answer is recent, in milliseconds. */
const RECENT_MS = 1_000;

/**
 * The last answers to queries about pull requests of one installation, for steps that begin at almost the same
 * time. A change that GitHub reports ends that for all that was asked before, even if it is answered later.
 */
export interface RecentAnswers {
  /** @param about `checks`: the checks of the head must be recent too */
  find(repo: Repo, number: number, about: { headSha: string; checks: boolean }): Prefetched | undefined;
  /** Call it before asking. @returns what keeps the answer */
  ask(repo: Repo, number: number): (headSha: string, found: Prefetched) => void;
  changed(repo: Repo, what: Changed): void;
}

interface Asked {
  name: string;
  number: number;
  at: number;
  areChecksOld: boolean;
  /** Branches that were pushed to since. One of them may be the base, on which conflicts depend. */
  pushed: string[];
  answer?: { headSha: string; found: Prefetched };
}

export function createRecentAnswers(clock: Clock): RecentAnswers {
  let recent: Asked[] = [];
  const nameOf = ({ owner, name }: Repo) => `${owner}/${name}`;

  function dropOld(): void {
    const from = clock.now().getTime() - RECENT_MS;
    recent = recent.filter(({ at }) => at >= from);
  }

  return {
    find(repo, number, { headSha, checks }) {
      dropOld();
      const fits = (one: Asked) =>
        one.name === nameOf(repo) &&
        one.number === number &&
        one.answer?.headSha === headSha &&
        !one.pushed.some((branch) => branch === one.answer?.found.pullRequest?.baseRef) &&
        !(checks && one.areChecksOld);
      return recent.findLast(fits)?.answer?.found;
    },
    ask(repo, number) {
      dropOld();
      const asked: Asked = {
        name: nameOf(repo),
        number,
        at: clock.now().getTime(),
        areChecksOld: false,
        pushed: [],
      };
      recent.push(asked);
      return (headSha, found) => {
        asked.answer = { headSha, found };
      };
    },
    changed(repo, { pullRequest, branch }) {
      const isOfRepo = ({ name }: Asked) => name === nameOf(repo);
      if (branch !== undefined) for (const one of recent.filter(isOfRepo)) one.pushed.push(branch);
      else if (pullRequest !== undefined)
        recent = recent.filter((one) => !isOfRepo(one) || one.number !== pullRequest);
      else for (const one of recent.filter(isOfRepo)) one.areChecksOld = true;
    },
  };
}
