import { memoryOf } from '../run/context.ts';
import { memoryShow } from '../words/memory.ts';
import { runJson } from '../words/run-json.ts';
import { runShow as runShowText } from '../words/terminal.ts';
import type { Context, DatabaseOption, Said } from './context.ts';
import { findRun } from './find-run.ts';

export interface RunShowOptions extends DatabaseOption {
  state?: boolean;
}

export function runShow({ clock, tools }: Context, id: string, options: RunShowOptions): Promise<Said> {
  return tools.withDatabase(options.database, 'read', async ({ read }) => {
    const { state, approval } = await findRun(read, id);
    const text = runShowText(state, approval, clock.now());
    if (!options.state) return { text, json: runJson(state) };
    const memory = memoryOf(state);
    return { text: `${text}\n\n${memoryShow(memory)}`, json: { ...runJson(state), state: memory } };
  });
}
