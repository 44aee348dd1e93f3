import { type Answers, MERGE_METHODS, type Who } from './answers.ts';
import type { Seen } from './seen.ts';
import { isCheckOf } from './workflow.ts';

/** As many as the settings take. */
const MAX_CHECKS = 100;

/** The answers that fit what was seen. */
export function proposed(seen: Seen): Answers {
  const allowed = seen.github?.mergeMethods;
  return {
    who: proposedWho(seen),
    count: 1,
    method: MERGE_METHODS.find((method) => allowed?.includes(method)) ?? 'squash',
    checks: proposedChecks(seen).slice(0, MAX_CHECKS),
  };
}

/** One named person alone could not countersign their own pull requests, while maintainers may be several. */
function proposedWho({ owners }: Seen): Who {
  if (!owners || owners.teams.length + Math.floor(owners.users.length / 2) === 0)
    return { kind: 'maintainers' };
  return { kind: 'named', teams: owners.teams, users: owners.users };
}

/**
 * The checks that the branch requires; or else those that ran on it, without those that are known not to run for every
 * pull request, because a merge would wait for them in vain. Without GitHub, the jobs of workflows.
 */
function proposedChecks({ github, workflows }: Seen): string[] {
  if (github && github.required.length > 0) return github.required;
  if (!github?.checks || github.checks.length === 0) {
    const jobs = workflows.flatMap(({ forEveryPullRequest, jobs }) => (forEveryPullRequest ? jobs : []));
    return [...new Set(jobs.filter(({ isWhole }) => isWhole).map(({ name }) => name))].sort();
  }
  return github.checks.filter((check) => {
    const of = workflows.filter(({ jobs }) => jobs.some((job) => isCheckOf(check, job)));
    return of.length === 0 || of.some(({ forEveryPullRequest }) => forEveryPullRequest);
  });
}

/** All checks that can be chosen: what is proposed, and everything that was seen. */
export function choosable(seen: Seen): string[] {
  return [...new Set([...proposedChecks(seen), ...(seen.github?.checks ?? [])])].slice(0, MAX_CHECKS);
}
