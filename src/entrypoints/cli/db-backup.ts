import { resolve } from 'node:path';
import { backedUp } from '../../messages/cli/cli.ts';
import { copied } from '../../messages/cli/progress.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

export async function dbBackup(
  { cwd, tools, status }: Context,
  file: string,
  { database }: DatabaseOption,
): Promise<Output> {
  const done = await tools.backup(database, resolve(cwd, file), (done, of) => status(copied(done, of)));
  return { text: backedUp(done.database, file), json: { ...done, file } };
}
