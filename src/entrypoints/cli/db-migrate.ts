import { migrated } from '../../messages/cli/cli.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

export async function dbMigrate({ tools }: Context, { database }: DatabaseOption): Promise<Output> {
  const done = await tools.migrate(database);
  return { text: migrated(done), json: done };
}
