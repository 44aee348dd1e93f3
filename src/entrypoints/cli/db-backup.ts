import { resolve } from 'node:path';
import { backedUp } from '../../messages/cli/cli.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

export async function dbBackup(
  { cwd, tools }: Context,
  file: string,
  { database }: DatabaseOption,
): Promise<Output> {
  const done = await tools.backup(database, resolve(cwd, file));
  return { text: backedUp(done.database, file), json: { ...done, file } };
}
