import type { Json } from '../../core/canonical.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import { readYaml } from '../chain/positions.ts';

export const WORKFLOWS_FOLDER = '.github/workflows';
/** How many workflows are read. On GitHub, each costs a request. */
export const MAX_WORKFLOWS = 20;

/** A workflow of GitHub Actions, as far as it says which checks a pull request gets. */
export interface Workflow {
  file: string;
  /** It runs for each pull request into the default branch, and not only for some files or labels. */
  forEveryPullRequest: boolean;
  jobs: Job[];
}

interface Job {
  /** What its check is called. Of a matrix or a called workflow, the name of each check only begins with it. */
  name: string;
  isWhole: boolean;
}

const MAX_JOBS = 100;
const MAX_NAME = 255;

/** @returns `undefined` for a file that cannot be read as YAML */
export function readWorkflow(
  file: string,
  text: string,
  defaultBranch: string | undefined,
): Workflow | undefined {
  const { value } = readYaml(text, file);
  if (value === undefined) return undefined;
  const jobs = memberOf(value, 'jobs');
  return {
    file,
    forEveryPullRequest: isForEvery(memberOf(value, 'on'), defaultBranch),
    jobs: isMapping(jobs) ? Object.entries(jobs).slice(0, MAX_JOBS).flatMap(jobOf) : [],
  };
}

/** https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request */
function isForEvery(on: Json | undefined, defaultBranch: string | undefined): boolean {
  if (on === 'pull_request') return true;
  if (Array.isArray(on)) return on.includes('pull_request');
  if (!isMapping(on) || !Object.hasOwn(on, 'pull_request')) return false;
  const filters = memberOf(on, 'pull_request');
  if (!isMapping(filters)) return true;
  const branches = memberOf(filters, 'branches');
  const isForBranch =
    branches === undefined ||
    defaultBranch === undefined ||
    [branches].flat().some((one) => one === defaultBranch || one === '**' || one === '*');
  return (
    isForBranch && ['paths', 'paths-ignore', 'branches-ignore', 'types'].every((key) => !(key in filters))
  );
}

function jobOf([id, job]: [string, Json]): Job[] {
  const given = memberOf(job, 'name');
  const name = typeof given === 'string' ? given : id;
  // An expression: what it gives is known only in a run.
  if (name.includes('${{') || name.length > MAX_NAME) return [];
  const isWhole =
    memberOf(job, 'uses') === undefined && memberOf(memberOf(job, 'strategy'), 'matrix') === undefined;
  return [{ name, isWhole }];
}

/** Whether the check can be one of the job's: `test`, `test (22)` or `test / unit`. */
export function isCheckOf(check: string, { name, isWhole }: Job): boolean {
  return check === name || (!isWhole && (check.startsWith(`${name} (`) || check.startsWith(`${name} / `)));
}
