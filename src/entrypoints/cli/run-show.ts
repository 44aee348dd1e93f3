import { withheldOf } from '../../domain/effect/effect.ts';
import { memoryOf } from '../../domain/run/context.ts';
import type { RunState } from '../../domain/run/run.ts';
import { withheldText } from '../../messages/cli/dry-run.ts';
import { type HistoryLine, historyLines, historyText } from '../../messages/cli/history.ts';
import { memoryShow } from '../../messages/cli/memory.ts';
import { runJson, wouldWriteJson } from '../../messages/cli/run-json.ts';
import { runShow as runShowText } from '../../messages/cli/terminal.ts';
import type { Screen } from '../../messages/text/screen.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findRun } from './find-run.ts';

export interface RunShowOptions extends DatabaseOption {
  history?: boolean;
  state?: boolean;
}

export function runShow({ clock, tools }: Context, id: string, options: RunShowOptions): Promise<Output> {
  return tools.withDatabase(options.database, 'read', async ({ read }) => {
    const { state, approval } = await findRun(read, id);
    const effects = await read.effects.ofRun(state.run.id);
    const now = clock.now();
    const parts = [
      (screen: Screen) => runShowText(state, approval, now, screen),
      ...withheldText(withheldOf(effects)).map((text) => () => text),
    ];
    const json: Record<string, unknown> = {
      ...runJson(state, await tools.pages()),
      would_write: wouldWriteJson(effects),
    };
    if (options.state) {
      json.state = memoryOf(state);
      parts.push((screen) => memoryShow(memoryOf(state), screen));
    }
    if (options.history) {
      const lines = await historyOf(read, state);
      json.history = lines;
      parts.push((screen) => historyText(lines, screen));
    }
    return { text: (screen) => parts.map((part) => part(screen)).join('\n\n'), json };
  });
}

async function historyOf({ runs }: ReadTx, state: RunState): Promise<HistoryLine[]> {
  const { id } = state.run;
  return historyLines(state, await runs.sessionsOf(id), await runs.historyOf(id));
}
