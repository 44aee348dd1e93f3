import { CountersignError } from '../../core/errors.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import { explain, explainText } from '../../domain/run/explain.ts';
import type { RunState } from '../../domain/run/run.ts';
import { governing } from '../../engine/runs/on-pull-request.ts';
import { pullRequestNow, repositoryFacts } from '../../engine/runs/run-facts.ts';
import { recordedOf, whyNoRun, whyOthersDidNotRun } from '../../engine/runs/why-no-run.ts';
import { conditionsOf, noRunsOf, whyOfRun } from '../../messages/cli/cli.ts';
import { whyJson } from '../../messages/cli/run-json.ts';
import { paintMarks } from '../../messages/text/screen.ts';
import { GitHubError } from '../../ports/github.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findInstallation } from './find-installation.ts';
import { findRun } from './find-run.ts';
import { pullRequestOf } from './options.ts';

export interface RunExplanationOptions extends DatabaseOption {
  verbose?: boolean;
}

/** @param subject the id of a run, or a pull request as `owner/name#number`: then the runs that represent it */
export function runExplanation(
  context: Context,
  subject: string,
  { database, verbose = false }: RunExplanationOptions,
): Promise<Output> {
  const textOf = (state: RunState, tree: Explanation) =>
    [explainText(tree), ...(verbose ? conditionsOf(state.run.definition) : [])].join('\n\n');
  return context.tools.withDatabase(database, 'read', async ({ read }) => {
    if (!subject.includes('#')) {
      const { state, approval } = await findRun(read, subject);
      const tree = explain(state, approval);
      return { text: (screen) => paintMarks(textOf(state, tree), screen), json: whyJson(tree) };
    }
    const { repository, number } = pullRequestOf(subject);
    const [newest] = await read.runs.list({ repository, pullRequest: number, limit: 1 });
    const of = newest && { repositoryId: newest.repositoryId, pullRequest: number };
    const current = of ? await read.runs.current(of) : [];
    // Runs of older heads say nothing about this one.
    const runs = current.filter(({ headSha }) => headSha === newest?.headSha);
    const trees = await Promise.all(
      runs.map(async ({ id }) => {
        const { state, approval } = await findRun(read, id);
        return { state, tree: explain(state, approval) };
      }),
    );
    const others = await whyOthers(context, read, { repository, number }, runs);
    if (runs.length === 0 && !others) throw new CountersignError('cli.unknown_run', noRunsOf(subject));
    return {
      text: (screen) =>
        paintMarks(
          [
            ...trees.map(({ state, tree }) => whyOfRun(state.run, textOf(state, tree))),
            ...(others ? [explainText(others)] : []),
          ].join('\n\n'),
          screen,
        ),
      json: [
        ...trees.map(({ state: { run }, tree }) => ({
          run_id: run.id,
          chain: run.chain,
          status: run.status,
          why: whyJson(tree),
        })),
        ...(others ? [{ run_id: null, chain: null, status: null, why: whyJson(others) }] : []),
      ],
    };
  });
}

/**
 * Why chains without a run have none, as the reply to `/countersign why` says it. Without the App's settings or GitHub, only
 * what is recorded.
 */
async function whyOthers(
  context: Context,
  read: ReadTx,
  { repository: name, number }: { repository: string; number: number },
  runs: readonly { chain: string; repositoryId: number }[],
): Promise<Explanation | undefined> {
  const { tools, clock } = context;
  const ran = new Set(runs.map(({ chain }) => chain));
  const repositoryId = runs[0]?.repositoryId ?? (await read.pullRequests.ofRepository(name))?.repositoryId;
  const recorded =
    repositoryId === undefined
      ? new Map()
      : await recordedOf(read, { repositoryId, pullRequest: number }, clock.now());
  try {
    const { github, configuration: loader } = await tools.policy(read);
    const { installationId, repository } = await findInstallation(context, read, name, number);
    const at = { installation_id: installationId, repository };
    const pullRequest = await github.reader(installationId, 'person').pullRequest(repository, number);
    const { configuration, listed } = await governing({ github, configuration: loader }, at, pullRequest);
    const now = pullRequestNow(pullRequest, listed);
    const facts = repositoryFacts(at, pullRequest.defaultBranch);
    return runs.length === 0
      ? whyNoRun(now, configuration, facts, recorded)
      : whyOthersDidNotRun({ pullRequest: now, configuration, repository: facts }, ran, recorded);
  } catch (error) {
    if (error instanceof CountersignError || error instanceof GitHubError)
      return whyOthersDidNotRun(undefined, ran, recorded);
    throw error;
  }
}
