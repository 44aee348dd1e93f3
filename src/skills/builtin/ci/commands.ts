import type { CiResult } from '../../../domain/outcome/ci-result.ts';
import { clip } from '../../../messages/text/pretty.ts';
import {
  type CheckRunFacts,
  GitHubError,
  type GitHubReader,
  type Repo,
  type WorkflowJob,
} from '../../../ports/github.ts';

/** Workflow runs read per head. With more, people can read the commands on GitHub. */
const MAX_RUNS = 10;
const MAX_COMMANDS = 100;
/** In characters. */
const LONGEST_NAME = 300;

/** Steps that GitHub's runner adds around those of a workflow. */
const RUNNER_STEP = /^(Set up job|Complete job|Initialize containers|Stop containers|Post .*|Pre .*)$/;
/** A step with an action and no name of its own: `Run actions/checkout@v5`. */
const ACTION = /^Run (docker:\/\/\S+|[\w.-]+\/[^\s@]+@\S+)$/;

/**
 * The commands that GitHub Actions ran for these checks, passed and failed, with their durations. Other CI
 * systems do not report commands. Without the permission to read them, the list is empty: it is for readers,
 * and no verdict relies on it.
 */
export async function readCommands(
  reader: Pick<GitHubReader, 'workflowJobs'>,
  repo: Repo,
  checkRuns: readonly CheckRunFacts[],
): Promise<CiResult['commands']> {
  const ids = new Set(checkRuns.flatMap(({ workflowRunId }) => workflowRunId ?? []));
  const jobs = await Promise.all([...ids].slice(0, MAX_RUNS).map((id) => jobsOf(reader, repo, id)));
  const counted = new Set(checkRuns.map(({ name }) => name));
  return commandsIn(jobs.flat().filter(({ name }) => counted.has(name)));
}

async function jobsOf(
  reader: Pick<GitHubReader, 'workflowJobs'>,
  repo: Repo,
  id: number,
): Promise<WorkflowJob[]> {
  try {
    return await reader.workflowJobs(repo, id);
  } catch (error) {
    if (error instanceof GitHubError && (error.kind === 'forbidden' || error.kind === 'not_found')) return [];
    throw error;
  }
}

/**
 * In the order of execution, job by job. If there are several jobs, each command begins with its job's name.
 */
export function commandsIn(jobs: readonly WorkflowJob[]): CiResult['commands'] {
  const commands = jobs.flatMap(({ name: job, steps }) =>
    steps.flatMap(({ name, conclusion, startedAt, completedAt }) => {
      const ran = conclusion !== null && conclusion !== 'skipped' && startedAt && completedAt;
      if (!ran || RUNNER_STEP.test(name) || ACTION.test(name)) return [];
      const command = name.replace(/^Run /, '');
      return {
        command: clip(jobs.length > 1 ? `${job}: ${command}` : command, LONGEST_NAME),
        passed: conclusion === 'success',
        duration_ms: Math.max(0, completedAt.getTime() - startedAt.getTime()),
      };
    }),
  );
  return commands.slice(0, MAX_COMMANDS);
}
