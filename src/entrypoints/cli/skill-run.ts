import { CountersignError } from '../../core/errors.ts';
import { timeSortedIds } from '../../core/ids.ts';
import { noPullRequest } from '../../messages/cli/policy.ts';
import { noDiff, ONE_SUBJECT, skillRunText } from '../../messages/cli/skill-run.ts';
import { filesInDiff } from '../../skills/adhoc/diff.ts';
import { LOCAL_PULL_REQUEST, localReader } from '../../skills/adhoc/local-reader.ts';
import { onceStep, type Subject } from '../../skills/adhoc/once-step.ts';
import { runBuiltInOnce, runPackageOnce } from '../../skills/adhoc/run-once.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import { readText } from './files.ts';
import { findInstallation } from './find-installation.ts';
import { readingGitHub } from './policy-steps.ts';
import { callableIn, localSkills, skillNamed } from './skill-files.ts';

export interface SkillRunOptions extends DatabaseOption {
  pr?: { repository: string; number: number };
  diff?: string;
  input?: Record<string, string>;
}

/** In milliseconds: longer than any skill should take. */
const TIMEOUT_MS = 1_800_000;

/** Runs a skill of the working folder on a pull request or a local change. Writes nothing. */
export async function skillRun(context: Context, name: string, options: SkillRunOptions): Promise<Output> {
  const { cwd, clock, tools } = context;
  if ((options.pr === undefined) === (options.diff === undefined)) throw new UsageError(ONE_SUBJECT);
  const known = await tools.skills();
  const here = localSkills(cwd, known);
  const found = known.builtIn.includes(name) ? undefined : skillNamed(name, here);
  const subject = options.diff === undefined ? await onGitHub(context, options) : fromDiff(cwd, options.diff);

  return tools.withSkillRunner(options.database, async ({ builtIn, ...packages }) => {
    const step = onceStep(name, subject, options.input ?? {}, {
      clock,
      ids: timeSortedIds(() => clock.now()),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const own = builtIn.find((handler) => handler.name === name);
    const running = own
      ? runBuiltInOnce(own, step)
      : found && runPackageOnce(found.skill, packages, step, callableIn(here));
    if (!running) throw new Error(`the built-in skill ${name} is not there`);
    const result = await readingGitHub(() => running, missing(options));
    return {
      text: skillRunText(name, result),
      json: { skill: name, id: found?.skill.id ?? null, ...result },
      failed: result.outcome?.passed !== true,
    };
  });
}

async function onGitHub(context: Context, { pr, database }: SkillRunOptions): Promise<Subject> {
  if (!pr) throw new UsageError(ONE_SUBJECT);
  const world = await context.tools.policy();
  return context.tools.withDatabase(database, 'read', async ({ read }) => {
    const { installationId, repository } = await findInstallation(context, read, pr.repository, pr.number);
    const reader = world.github.reader(installationId, 'person');
    const pullRequest = await readingGitHub(() => reader.pullRequest(repository, pr.number), missing({ pr }));
    const { owner, name } = repository;
    return { repo: { owner, name }, pullRequest, reader, installationId };
  });
}

function fromDiff(cwd: string, file: string): Subject {
  const files = filesInDiff(readText(cwd, file));
  if (!files) throw new CountersignError('cli.no_diff', noDiff(file));
  return {
    repo: { owner: 'local', name: 'local' },
    pullRequest: LOCAL_PULL_REQUEST,
    reader: localReader(cwd, files),
    installationId: 0,
  };
}

/** The error for a pull request that does not exist. */
function missing({ pr }: Pick<SkillRunOptions, 'pr'>): CountersignError | undefined {
  return pr && new CountersignError('cli.unknown_pull_request', noPullRequest(pr.repository, pr.number));
}
