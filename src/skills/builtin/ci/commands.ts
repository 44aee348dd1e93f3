import type { CiResult } from '../../../domain/outcome/ci-result.ts';
import { clip } from '../../../messages/text/pretty.ts';
import {
  type CheckRunFacts,
  GitHubError,
  type GitHubReader,
  type Repo,
  type WorkflowJob,
} from '../../../ports/github.ts';

/** Of one head: whoever has more reads of them where they run. */
const MOST_RUNS = 10;
const MOST_COMMANDS = 100;
/** In characters. */
const LONGEST_NAME = 300;

/** What GitHub's runner does around the steps of a workflow. */
const AROUND = /^(Set up job|Complete job|Initialize containers|Stop containers|Post .*|Pre .*)$/;
/** A step that uses an action and has no name of its own: `Run actions/checkout@v5`. */
const ACTION = /^Run (docker:\/\/\S+|[\w.-]+\/[^\s@]+@\S+)$/;

/**
 * The commands that GitHub Actions ran for these checks, red and green, with how long each took; other CI tells nobody. Without the
 * permission to read them there are none: they are for reading, and no verdict rests on them.
 */
export async function readCommands(
  reader: Pick<GitHubReader, 'workflowJobs'>,
  repo: Repo,
  checkRuns: readonly CheckRunFacts[],
): Promise<CiResult['commands']> {
  const ids = new Set(checkRuns.flatMap(({ workflowRunId }) => workflowRunId ?? []));
  const jobs = await Promise.all([...ids].slice(0, MOST_RUNS).map((id) => jobsOf(reader, repo, id)));
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

/** In the order in which they ran, job by job; a job's name comes first where there are several. */
export function commandsIn(jobs: readonly WorkflowJob[]): CiResult['commands'] {
  const commands = jobs.flatMap(({ name: job, steps }) =>
    steps.flatMap(({ name, conclusion, startedAt, completedAt }) => {
      const ran = conclusion !== null && conclusion !== 'skipped' && startedAt && completedAt;
      if (!ran || AROUND.test(name) || ACTION.test(name)) return [];
      const command = name.replace(/^Run /, '');
      return {
        command: clip(jobs.length > 1 ? `${job}: ${command}` : command, LONGEST_NAME),
        passed: conclusion === 'success',
        duration_ms: Math.max(0, completedAt.getTime() - startedAt.getTime()),
      };
    }),
  );
  return commands.slice(0, MOST_COMMANDS);
}
