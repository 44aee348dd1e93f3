import { explain, explainText } from '../../domain/run/explain.ts';
import { whyJson } from '../../messages/cli/run-json.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findRun } from './find-run.ts';

export function runExplanation(
  { tools }: Context,
  id: string,
  { database }: DatabaseOption,
): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const { state, approval } = await findRun(read, id);
    const tree = explain(state, approval);
    return { text: explainText(tree), json: whyJson(tree) };
  });
}
