import { runJson } from '../words/run-json.ts';
import { runShow as runShowText } from '../words/terminal.ts';
import type { Context, DatabaseOption, Said } from './context.ts';
import { findRun } from './find-run.ts';

export function runShow({ clock, tools }: Context, id: string, { database }: DatabaseOption): Promise<Said> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const { state, approval } = await findRun(read, id);
    return { text: runShowText(state, approval, clock.now()), json: runJson(state) };
  });
}
