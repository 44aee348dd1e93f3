import { CountersignError } from '../../core/errors.ts';
import { explain, explainText } from '../../domain/run/explain.ts';
import { noRunsOf, whyOfRun } from '../../messages/cli/cli.ts';
import { whyJson } from '../../messages/cli/run-json.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findRun } from './find-run.ts';
import { pullRequestOf } from './options.ts';

/** @param subject the id of a run, or a pull request as `owner/name#number`: then the runs that represent it */
export function runExplanation(
  { tools }: Context,
  subject: string,
  { database }: DatabaseOption,
): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    if (!subject.includes('#')) {
      const { state, approval } = await findRun(read, subject);
      const tree = explain(state, approval);
      return { text: explainText(tree), json: whyJson(tree) };
    }
    const { repository, number } = pullRequestOf(subject);
    const [newest] = await read.runs.list({ repository, pullRequest: number, limit: 1 });
    if (!newest) throw new CountersignError('cli.unknown_run', noRunsOf(subject));
    const current = await read.runs.current({ repositoryId: newest.repositoryId, pullRequest: number });
    // Runs of older heads say nothing about this one.
    const runs = current.filter(({ headSha }) => headSha === newest.headSha);
    const trees = await Promise.all(
      runs.map(async ({ id }) => {
        const { state, approval } = await findRun(read, id);
        return { run: state.run, tree: explain(state, approval) };
      }),
    );
    return {
      text: trees.map(({ run, tree }) => whyOfRun(run, explainText(tree))).join('\n\n'),
      json: trees.map(({ run, tree }) => ({
        run_id: run.id,
        chain: run.chain,
        status: run.status,
        why: whyJson(tree),
      })),
    };
  });
}
