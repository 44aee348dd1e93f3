import type { RunState } from '../run/run.ts';
import type { ReadTx } from '../storage/storage.ts';
import { type HistoryLine, historyLines, historyText } from '../words/history.ts';
import { runJson } from '../words/run-json.ts';
import { runShow as runShowText } from '../words/terminal.ts';
import type { Context, DatabaseOption, Said } from './context.ts';
import { findRun } from './find-run.ts';

export interface RunShowOptions extends DatabaseOption {
  history?: boolean;
}

export function runShow(
  { clock, tools }: Context,
  id: string,
  { database, history = false }: RunShowOptions,
): Promise<Said> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const { state, approval } = await findRun(read, id);
    const said = { text: runShowText(state, approval, clock.now()), json: runJson(state, tools.pages()) };
    if (!history) return said;
    const lines = await historyOf(read, state);
    return { text: `${said.text}\n\n${historyText(lines)}`, json: { ...said.json, history: lines } };
  });
}

async function historyOf({ runs }: ReadTx, state: RunState): Promise<HistoryLine[]> {
  const { id } = state.run;
  return historyLines(state, await runs.sessionsOf(id), await runs.historyOf(id));
}
